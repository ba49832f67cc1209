// The part of `outrigger doctor` that checks queues: each exists with its deployed attributes, and the dead-letter
// queues are empty.
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { maxReceiveCountOf, visibilitySecondsOf } from 'outrigger/internal/core/controller-options';
import { timersQueue } from 'outrigger/internal/core/names';
import { callWithin, isMissingQueue } from 'outrigger/internal/sqs/call';
import { queueUrl } from 'outrigger/internal/sqs/sqs-client';
import { disposable, formatError } from '../command.ts';
import type { Installation } from '../installation.ts';
import { type ExpectedQueue, parseRedrivePolicy } from './expected-queues.ts';
import { type Finding, failFinding, passFinding, warnFinding } from './finding.ts';
import { createQueueCommand, type GivenToQueues, queuePolicy, sendersOf, setQueueCommand } from './queue-commands.ts';

const callSeconds = 10;

/**
 * Checks every queue.
 * @param deploy the command that deploys the queues, for the fix of a finding
 */
export async function checkQueues(
  installation: Installation,
  expected: readonly ExpectedQueue[],
  { deploy, signal }: { readonly deploy: string; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const withManualFix = (command: string): string => (installation.on === 'AWS' ? `${deploy}; ${command}` : deploy);
  const deadLetterQueues = new Set(
    expected.flatMap(({ deadLetters }) => (deadLetters === undefined ? [] : [deadLetters.name])),
  );
  const reading = new Map(expected.map(({ name }) => [name, attributesOf(installation, name, signal)] as const));
  const given = await givenToQueues(reading);
  const found = await Promise.all(
    // Dead-letter queues come first: the redrive policies of the others need them.
    expected.toSorted(deadLetterQueuesFirst).map(async (queue) => {
      try {
        const fixOf = (part: ExpectedQueue) =>
          withManualFix(`if it was changed: ${setQueueCommand(installation.urlPrefix, part)}`);
        const live = (await reading.get(queue.name)) ?? {};
        const isDeadLetterQueue = deadLetterQueues.has(queue.name);
        return await checkQueue(installation, queue, { live, given, fixOf, signal, isDeadLetterQueue });
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const about = `queue ${queue.name}`;
        return isMissingQueue(error)
          ? [
              failFinding(
                about,
                'it does not exist',
                withManualFix(`if it was deleted: ${createQueueCommand(installation, queue, given)}`),
              ),
            ]
          : [failFinding(about, 'its attributes cannot be read', formatError(error))];
      }
    }),
  );
  const bad = found.flat();
  const well = found.filter((findings) => findings.length === 0).length;
  return well === 0 ? bad : [passFinding('queues', `${well} of ${expected.length} have no finding`), ...bad];
}

/**
 * Returns the queue as the stage has it, which may give a function another timeout than its declaration (--param
 * NAME_TIMEOUT_SECONDS), or the error if its function cannot be read.
 */
async function withTimeoutOfStage(
  { lambda: config, urlPrefix }: Installation,
  queue: ExpectedQueue,
  signal: AbortSignal,
): Promise<ExpectedQueue | { readonly error: string }> {
  using lambda = disposable(new LambdaClient(config));
  const FunctionName = `${urlPrefix.split('/').at(-1)}${queue.name.replace(/\.fifo$/, '')}`;
  try {
    const { Timeout: seconds } = await callWithin(callSeconds, signal, (abortSignal) =>
      lambda.send(new GetFunctionConfigurationCommand({ FunctionName }), { abortSignal }),
    );
    return seconds === undefined ? queue : withTimeout(queue, seconds);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { error: formatError(error) };
  }
}

function withTimeout({ name, attributes, deadLetters }: ExpectedQueue, seconds: number): ExpectedQueue {
  const VisibilityTimeout = String(visibilitySecondsOf(seconds));
  const redrive = deadLetters && { deadLetters: { ...deadLetters, maxReceiveCount: maxReceiveCountOf(seconds) } };
  return { name, attributes: { ...attributes, VisibilityTimeout }, ...redrive };
}

type Attributes = Readonly<Record<string, string | undefined>>;

/** Finds what the options of the deployment gave its queues: a queue that is gone or was changed had it, too. */
async function givenToQueues(reading: ReadonlyMap<string, Promise<Attributes>>): Promise<GivenToQueues> {
  const read = await Promise.allSettled([reading.get(timersQueue), ...reading.values()]);
  const live = read.flatMap((one) => (one.status === 'fulfilled' && one.value !== undefined ? [one.value] : []));
  const senders = live.map(({ Policy }) => sendersOf(Policy)).find((statements) => statements.length > 0);
  return { encryption: live[0] ?? {}, senders: senders ?? [] };
}

async function attributesOf({ sqs, urlPrefix }: Installation, name: string, signal: AbortSignal): Promise<Attributes> {
  const request = new GetQueueAttributesCommand({ QueueUrl: queueUrl(urlPrefix, name), AttributeNames: ['All'] });
  const { Attributes = {} } = await callWithin(callSeconds, signal, (abortSignal) =>
    sqs.send(request, { abortSignal }),
  );
  return Attributes;
}

function deadLetterQueuesFirst(one: ExpectedQueue, other: ExpectedQueue): number {
  return Number(one.deadLetters !== undefined) - Number(other.deadLetters !== undefined);
}

async function checkQueue(
  installation: Installation,
  declared: ExpectedQueue,
  {
    live,
    given,
    fixOf,
    signal,
    isDeadLetterQueue,
  }: {
    readonly live: Attributes;
    readonly given: GivenToQueues;
    readonly fixOf: (part: ExpectedQueue) => string;
    readonly signal: AbortSignal;
    readonly isDeadLetterQueue: boolean;
  },
): Promise<readonly Finding[]> {
  const { on, urlPrefix, at } = installation;
  const { name } = declared;
  const about = `queue ${name}`;
  const isOfController = declared.attributes.FifoQueue === 'true' && declared.deadLetters !== undefined;
  const hasOtherTimeout = isOfController && live.VisibilityTimeout !== declared.attributes.VisibilityTimeout;
  const ofStage = hasOtherTimeout ? await withTimeoutOfStage(installation, declared, signal) : declared;
  const findings: Finding[] = [];
  // The visibility timeout may be right then. A command that lowers it would give a key to two functions at once.
  if ('error' in ofStage)
    findings.push(
      warnFinding(about, 'the timeout of its function cannot be read, so its own is unchecked', ofStage.error),
    );
  const { attributes, deadLetters } =
    'error' in ofStage ? withTimeout(declared, Number(live.VisibilityTimeout) / visibilitySecondsOf(1)) : ofStage;
  for (const [attribute, value] of Object.entries(attributes)) {
    const actual = live[attribute] ?? 'not set';
    if (actual === value) continue;
    const fix = fixOf({ name, attributes: { [attribute]: value } });
    findings.push(failFinding(about, `${attribute} is ${actual}, the deployment has ${value}`, fix));
  }
  if (deadLetters !== undefined) {
    const wanted = `${urlPrefix.split('/').at(-1)}${deadLetters.name}`;
    const policy = parseRedrivePolicy(live.RedrivePolicy);
    const actual =
      policy === undefined
        ? 'nowhere'
        : `to ${policy.deadLetterTargetArn.split(':').at(-1)} after ${policy.maxReceiveCount}`;
    const expectedTarget = `to ${wanted} after ${deadLetters.maxReceiveCount}`;
    const fix = fixOf({ name, attributes: {}, deadLetters });
    if (actual !== expectedTarget) {
      const message = `its dead letters go ${actual}, the deployment has ${expectedTarget}`;
      findings.push(failFinding(about, message, fix));
    }
  }
  if (on === 'AWS') {
    const { Policy = '' } = live;
    const isOpen = !Policy.includes('aws:SecureTransport');
    const isClosed = declared.takesEvents === true && !Policy.includes('events.amazonaws.com');
    const isKeyless = declared.takesKeys === true && given.senders.length > 0 && sendersOf(Policy).length === 0;
    const fix = fixOf({ name, attributes: { Policy: queuePolicy(urlPrefix, declared, given) } });
    if (isOpen) findings.push(warnFinding(about, 'its policy does not deny plain HTTP', fix));
    else if (isClosed) findings.push(warnFinding(about, 'its policy lets no rule of EventBridge send to it', fix));
    else if (isKeyless) findings.push(failFinding(about, 'its policy does not let WATCHER_ROLES send to it', fix));
  }
  const count = Number(live.ApproximateNumberOfMessages ?? 0);
  if (isDeadLetterQueue && count > 0) {
    findings.push(
      warnFinding(
        about,
        count === 1 ? '1 dead letter' : `${count} dead letters`,
        `outrigger dlq list${at} shows the reasons; fix the cause, then outrigger dlq redrive${at}`,
      ),
    );
  }
  return findings;
}
