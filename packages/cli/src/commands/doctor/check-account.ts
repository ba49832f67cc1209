// The part of `outrigger doctor` that checks the AWS account: every queue has a function that works and is not paused,
// and the concurrency of the account covers the maximum of all functions together. Lambda throttles more than that, and
// a throttle counts as a receive.
import { type EventSourceMappingConfiguration, GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { functionLimits } from 'outrigger/internal/core/controller-options';
import { controllerQueue, queuesOf } from 'outrigger/internal/core/names';
import { functionNames, type NamedController } from '../../aws/wakes.ts';
import { disposable, formatError } from '../command.ts';
import type { Installation } from '../installation.ts';
import { isPaused, readMappings } from '../mappings.ts';
import { awsCommand } from '../place.ts';
import { checkFunctions } from './check-functions.ts';
import { checkSchedule } from './check-schedule.ts';
import { type Finding, failFinding, passFinding, warnFinding } from './finding.ts';

const callSeconds = 20;

/** Checks the functions, their event source mappings, the schedule, and the account's concurrency. */
export async function checkAccount(
  installation: Pick<Installation, 'urlPrefix' | 'region' | 'lambda' | 'at'>,
  controllers: readonly NamedController[],
  { deploy, signal }: { readonly deploy: string; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const { urlPrefix, lambda: config } = installation;
  const schedule = checkSchedule(installation, { deploy, signal });
  const unknown = (error: string) => warnFinding('account', 'its functions and limits cannot be read', error);
  const asked = await askLambda(config, signal, unknown, async (lambda, abortSignal) => {
    const { AccountLimit: limit } = await lambda.send(new GetAccountSettingsCommand({}), { abortSignal });
    const consumed = queuesOf(controllers).map(({ queue }) => queue);
    const queues = await readMappings(lambda, { urlPrefix, queues: consumed }, { signal: abortSignal });
    return [
      ...(await checkFunctions(lambda, { urlPrefix, names: functionNames(controllers), deploy }, abortSignal)),
      ...queues.flatMap(({ name, mapping }) => mappingFindings(name, mapping, { ...installation, deploy })),
      concurrencyFinding(
        queues.map(({ mapping }) => mapping?.ScalingConfig?.MaximumConcurrency ?? 0),
        limit?.UnreservedConcurrentExecutions,
      ),
    ];
  });
  return [...asked, ...(await schedule)];
}

/** Checks that no controller of this machine is paused. */
export async function checkPaused(
  place: Pick<Installation, 'urlPrefix' | 'lambda' | 'at'>,
  controllers: readonly { readonly name: string }[],
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const { urlPrefix, lambda: config } = place;
  const unknown = (error: string) => warnFinding('functions', 'which of them are paused is not known', error);
  return await askLambda(config, signal, unknown, async (lambda, abortSignal) => {
    const names = controllers.map(({ name }) => controllerQueue(name));
    const queues = await readMappings(lambda, { urlPrefix, queues: names }, { signal: abortSignal });
    return queues.flatMap(({ name, mapping }) =>
      mapping !== undefined && isPaused(mapping) ? [pausedFinding(name, mapping, place)] : [],
    );
  });
}

/** Calls Lambda within a time limit. A failure is the finding `unknown`. Rejects only with the signal’s reason. */
async function askLambda(
  config: Installation['lambda'],
  signal: AbortSignal,
  unknown: (error: string) => Finding,
  ask: (lambda: LambdaClient, signal: AbortSignal) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  using lambda = disposable(new LambdaClient(config));
  try {
    return await ask(lambda, AbortSignal.any([signal, AbortSignal.timeout(callSeconds * 1000)]));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return [unknown(formatError(error))];
  }
}

type Place = Pick<Installation, 'urlPrefix' | 'at'>;

const updateMapping = 'lambda update-event-source-mapping';

function pausedFinding(
  queue: string,
  { UUID = '' }: EventSourceMappingConfiguration,
  { urlPrefix, at }: Place,
): Finding {
  const resume = queue.endsWith('.fifo')
    ? `outrigger resume ${queue.replace('.fifo', '')}${at}`
    : awsCommand(urlPrefix, updateMapping, `--enabled --uuid ${UUID}`);
  const message = 'it is paused: messages stay in the queue for at most 14 days';
  return warnFinding(`function of ${queue}`, message, `to resume it: ${resume}`);
}

function mappingFindings(
  queue: string,
  mapping: EventSourceMappingConfiguration | undefined,
  { deploy, ...place }: Place & { readonly deploy: string },
): readonly Finding[] {
  const about = `function of ${queue}`;
  if (mapping === undefined) {
    const fix = `${deploy}; if the mapping was deleted: docs/run/recover.md`;
    return [failFinding(about, 'no function receives messages from this queue', fix)];
  }
  const { UUID = '', FunctionResponseTypes = [], ScalingConfig } = mapping;
  const set = (option: string) =>
    `${deploy}; if the mapping was changed: ${awsCommand(place.urlPrefix, updateMapping, `--uuid ${UUID} ${option}`)}`;
  if (isPaused(mapping)) return [pausedFinding(queue, mapping, place)];
  return [
    ...(FunctionResponseTypes.includes('ReportBatchItemFailures')
      ? []
      : [
          failFinding(
            about,
            'it does not report the failed messages of a batch',
            set('--function-response-types ReportBatchItemFailures'),
          ),
        ]),
    ...(ScalingConfig?.MaximumConcurrency === undefined
      ? [
          failFinding(
            about,
            'it has no maximumConcurrency, and can use the whole concurrency of the account',
            set(`--scaling-config MaximumConcurrency=${functionLimits.concurrency.default}`),
          ),
        ]
      : []),
  ];
}

function concurrencyFinding(maximums: readonly number[], limit: number | undefined): Finding {
  const sum = maximums.reduce((total, one) => total + one, 0);
  const message = `up to ${sum} functions run at once, the account has ${limit ?? 'an unknown number'} unreserved`;
  if (limit !== undefined && sum <= limit) return passFinding('concurrency', message);
  const fix =
    'raise the quota (Service Quotas, AWS Lambda, Concurrent executions), or lower the concurrency of controllers ' +
    '(their option, or --param NAME_CONCURRENCY) and deploy';
  return limit === undefined ? warnFinding('concurrency', message, fix) : failFinding('concurrency', message, fix);
}
