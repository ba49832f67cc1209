// The part of `outrigger doctor` that looks at the AWS account: that every queue has its function, not paused, and that the account
// can run as many at once as all of them together may want. More than that is throttled, and throttles count as receives.
import { type EventSourceMappingConfiguration, GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Registered } from '../../core/controller.ts';
import { controllerQueue, resyncQueue, timersQueue } from '../../core/names.ts';
import { isPaused, readMappings } from '../mappings.ts';
import { lineOf } from '../operate.ts';
import type { Place } from '../place.ts';
import { type Finding, ok, warning, wrong } from './finding.ts';

const callSeconds = 20;

/** Looks at the functions' event source mappings and the account's limit. */
export async function checkAccount(
  { urlPrefix, region }: Place,
  registry: readonly Registered[],
  { deploy, signal }: { readonly deploy: string; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const lambda = new LambdaClient({ maxAttempts: 2, ...(region === undefined ? {} : { region }) });
  const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(callSeconds * 1000)]);
  try {
    const { AccountLimit: limit } = await lambda.send(new GetAccountSettingsCommand({}), { abortSignal });
    const names = [...registry.map(({ name }) => controllerQueue(name)), timersQueue, resyncQueue];
    const queues = await readMappings(lambda, { urlPrefix, queues: names }, { signal: abortSignal });
    return [
      ...queues.flatMap(({ name, mapping }) => mappingFindings(name, mapping, deploy)),
      concurrency(
        queues.map(({ mapping }) => mapping?.ScalingConfig?.MaximumConcurrency ?? 0),
        limit?.UnreservedConcurrentExecutions,
      ),
    ];
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return [warning('account', 'its functions and limits cannot be read', lineOf(error))];
  } finally {
    lambda.destroy();
  }
}

function mappingFindings(
  queue: string,
  mapping: EventSourceMappingConfiguration | undefined,
  deploy: string,
): readonly Finding[] {
  const about = `function of ${queue}`;
  if (mapping === undefined) {
    const fix = `${deploy}; a mapping that was deleted since: "Queues are lost" in docs/operating.md`;
    return [wrong(about, 'no function takes messages from this queue', fix)];
  }
  const { UUID = '', FunctionResponseTypes = [], ScalingConfig } = mapping;
  const set = (option: string) =>
    `${deploy}; one that was changed since: aws lambda update-event-source-mapping --uuid ${UUID} ${option}`;
  if (isPaused(mapping)) {
    const resume = queue.endsWith('.fifo')
      ? `to go on: outrigger resume ${queue.replace('.fifo', '')}`
      : `to go on: aws lambda update-event-source-mapping --enabled --uuid ${UUID}`;
    return [warning(about, 'it is paused: messages wait in the queue, for 14 days at most', resume)];
  }
  return [
    ...(FunctionResponseTypes.includes('ReportBatchItemFailures')
      ? []
      : [
          wrong(
            about,
            'it does not report single failures of a batch',
            set('--function-response-types ReportBatchItemFailures'),
          ),
        ]),
    ...(ScalingConfig?.MaximumConcurrency === undefined
      ? [
          wrong(
            about,
            'it has no maximumConcurrency, and may take all that the account has',
            set('--scaling-config MaximumConcurrency=10'),
          ),
        ]
      : []),
  ];
}

function concurrency(most: readonly number[], limit: number | undefined): Finding {
  const sum = most.reduce((total, one) => total + one, 0);
  const says = `${sum} functions may run at once, the account has ${limit ?? 'an unknown number'} unreserved`;
  if (limit !== undefined && sum <= limit) return ok('concurrency', says);
  const fix =
    'raise the quota (Service Quotas, AWS Lambda, Concurrent executions), or lower maximumConcurrency and deploy';
  return limit === undefined ? warning('concurrency', says, fix) : wrong('concurrency', says, fix);
}
