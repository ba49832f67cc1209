// The part of `outrigger doctor` that looks at queues: that each is there, as it is deployed, and that nothing lies on dead letters.
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { callWithin } from '../../queue/call-within.ts';
import { isMissingQueue } from '../../queue/failed-call.ts';
import { queueUrl } from '../../queue/names.ts';
import { lineOf } from '../operate.ts';
import type { Place } from '../place.ts';
import { type ExpectedQueue, parseRedrivePolicy } from './expected-queues.ts';
import { type Finding, ok, warning, wrong } from './finding.ts';
import { createQueueCommand, setQueueCommand } from './queue-commands.ts';

const callSeconds = 10;

/**
 * Looks at every queue.
 * @param deploy what deploys them, for whoever has to mend one
 */
export async function checkQueues(
  place: Place,
  expected: readonly ExpectedQueue[],
  { deploy, signal }: { readonly deploy: string; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const byHand = (how: string): string => (place.on === 'AWS' ? `${deploy}; ${how}` : deploy);
  const letters = new Set(expected.flatMap(({ deadLetters }) => (deadLetters === undefined ? [] : [deadLetters.name])));
  const found = await Promise.all(
    // Queues for dead letters first, as they have to be there before the others.
    expected.toSorted(byNeed).map(async (queue) => {
      try {
        const mend = (part: ExpectedQueue) =>
          byHand(`one that was changed since: ${setQueueCommand(place.urlPrefix, part)}`);
        return await checkQueue(place, queue, { mend, signal, holdsLetters: letters.has(queue.name) });
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const about = `queue ${queue.name}`;
        return isMissingQueue(error)
          ? [
              wrong(
                about,
                'it is not there',
                byHand(`one that was deleted since: ${createQueueCommand(place.urlPrefix, queue)}`),
              ),
            ]
          : [wrong(about, 'its attributes cannot be read', lineOf(error))];
      }
    }),
  );
  const bad = found.flat();
  const well = found.filter((findings) => findings.length === 0).length;
  return well === 0
    ? bad
    : [ok('queues', `${well} of ${expected.length} are there, as they are deployed, and well`), ...bad];
}

function byNeed(one: ExpectedQueue, other: ExpectedQueue): number {
  return Number(one.deadLetters !== undefined) - Number(other.deadLetters !== undefined);
}

async function checkQueue(
  { sqs, urlPrefix }: Place,
  { name, attributes, deadLetters }: ExpectedQueue,
  {
    mend,
    signal,
    holdsLetters,
  }: { readonly mend: (part: ExpectedQueue) => string; readonly signal: AbortSignal; readonly holdsLetters: boolean },
): Promise<readonly Finding[]> {
  const about = `queue ${name}`;
  const request = new GetQueueAttributesCommand({ QueueUrl: queueUrl(urlPrefix, name), AttributeNames: ['All'] });
  const { Attributes: live = {} } = await callWithin(callSeconds, signal, (abortSignal) =>
    sqs.send(request, { abortSignal }),
  );
  const given: Readonly<Record<string, string | undefined>> = live;
  const findings: Finding[] = [];
  for (const [attribute, value] of Object.entries(attributes)) {
    const is = given[attribute] ?? 'not set';
    if (is === value) continue;
    const fix = mend({ name, attributes: { [attribute]: value } });
    findings.push(wrong(about, `${attribute} is ${is}, the deployment says ${value}`, fix));
  }
  if (deadLetters !== undefined) {
    const wanted = `${urlPrefix.split('/').at(-1)}${deadLetters.name}`;
    const policy = parseRedrivePolicy(given.RedrivePolicy);
    const is =
      policy === undefined
        ? 'nowhere'
        : `to ${policy.deadLetterTargetArn.split(':').at(-1)} after ${policy.maxReceiveCount}`;
    const says = `to ${wanted} after ${deadLetters.maxReceiveCount}`;
    const fix = mend({ name, attributes: {}, deadLetters });
    if (is !== says) findings.push(wrong(about, `its dead letters go ${is}, the deployment says ${says}`, fix));
  }
  const count = Number(given.ApproximateNumberOfMessages ?? 0);
  if (holdsLetters && count > 0) {
    findings.push(
      warning(about, `${count} dead letters`, 'outrigger dlq list says why; mend that, then outrigger dlq redrive'),
    );
  }
  return findings;
}
