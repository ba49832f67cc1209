// Reordered messages, old messages, and one key in two functions at once: a FIFO queue may do some of it within its
// guarantees, and the rest must not matter either.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { countOverlaps } from './checker.ts';
import { createPlainApi } from './plain-api.ts';
import { createPlainSqs } from './plain-sqs.ts';
import { parseList, portionsPath } from './portions.ts';
import type { ChaosFixture, Row } from './row.ts';
import type { SentMessage } from './sent-messages.ts';
import { sentMessagesOf } from './sent-messages.ts';

/** Longer than any time between two changes of one object. */
const maxDelayMilliseconds = 1_500;
const quiesceSeconds = 120;
/**
 * The number of messages that are given to further functions at once: each takes two functions of a machine with few
 * cores.
 */
const retryGroups = 2;
const pollMilliseconds = 20;
const batchResponse = z.looseObject({ batchItemFailures: z.array(z.unknown()) });

/** The rows of order. */
export const queueOrderRows: readonly Row[] = [
  {
    fault: 'messages reordered',
    how: `half of all sends delayed by up to ${maxDelayMilliseconds} ms; then every message again, shuffled, during new changes`,
    run: reorder,
  },
  {
    fault: 'one key in three functions',
    how: 'the message of a change is also passed directly to two more functions at once',
    run: concurrentReconciles,
  },
];

async function reorder({ system, editor, random, changes }: ChaosFixture): Promise<number> {
  const messages: SentMessage[] = [];
  system.sqs.rule((request) => {
    const sends = sentMessagesOf(request);
    messages.push(...sends.filter(({ entry }) => entry.MessageGroupId !== undefined));
    return sends.length > 0 && random.number() < 0.5
      ? { type: 'delay', milliseconds: random.below(maxDelayMilliseconds) }
      : undefined;
  });
  await editor.edit(Math.ceil(changes / 2));
  const sqs = createPlainSqs(system.direct.sqs);
  const repeated = shuffle(messages, random);
  const replay = async () => {
    for (const [index, { queueUrl, entry }] of repeated.entries()) {
      const deduplicationId = `again-${index}-${entry.MessageDeduplicationId?.slice(0, 64)}`;
      await sqs.send(queueUrl, [{ body: entry.MessageBody, groupId: entry.MessageGroupId, deduplicationId }]);
    }
  };
  await Promise.all([replay(), editor.edit(Math.floor(changes / 2))]);
  sqs.close();
  return repeated.length;
}

/**
 * Returns how many pantry requests of one object were concurrent. Here this is the fault, and no object may be affected
 * by it.
 */
async function concurrentReconciles({ system, editor, checker, changes, addNote }: ChaosFixture): Promise<number> {
  const waiting: SentMessage[] = [];
  system.sqs.rule((request) => {
    waiting.push(...sentMessagesOf(request).filter(({ message }) => message.cause.type === 'change'));
    return undefined;
  });
  const ingredient = system.functions.find(({ name }) => name.endsWith('ingredient'));
  if (ingredient === undefined) throw new Error('no function of Ingredient');
  // Objects that were lost with a restored etcd left their portions behind: they are not of this row.
  const missingBefore = await missingFromStock(system);
  const errors: unknown[] = [];
  let passedOn = 0;
  let isEditing = true;
  const passOn = async ({ entry }: SentMessage) => {
    const event = { Records: [recordOf(entry.MessageBody, entry.MessageGroupId ?? '')] };
    const responses = await Promise.all([ingredient.invoke(event), ingredient.invoke(event)]);
    errors.push(...responses.flatMap((response) => batchResponse.parse(response).batchItemFailures));
    passedOn += 1;
  };
  const worker = async () => {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) await passOn(next).catch((error: unknown) => errors.push(String(error)));
      else if (isEditing) await wait(pollMilliseconds);
      else return;
    }
  };
  const work = async () => {
    for (let done = 0; done < changes; done += 1) {
      // Changes must not run ahead of the functions: changes that are merged into one message are one fault.
      while (waiting.length >= retryGroups) await wait(pollMilliseconds);
      await editor.edit(1);
    }
    isEditing = false;
  };
  await Promise.all([work(), ...Array.from({ length: retryGroups }, worker)]);
  const unconverged = await checker.untilConverged(quiesceSeconds);
  const overlaps = countOverlaps(system.pantry.requests());
  system.pantry.clearRequests();
  const missing = (await missingFromStock(system)) - missingBefore;
  addNote(`${passedOn} messages passed to two more functions; ${overlaps} overlaps`);
  if (Math.abs(missingBefore) > 1e-6) addNote(`objects that a restored etcd lost have ${missingBefore.toFixed(1)} g`);
  if (errors.length > 0) throw new Error(`unexpected errors: ${JSON.stringify(errors)}`);
  if (unconverged.length > 0) throw new Error(unconverged.join('; '));
  if (Math.abs(missing) > 1e-6) throw new Error(`the pantry misses ${missing} g more than before that no portion has`);
  return overlaps;
}

/**
 * The amount that is neither in stock nor in an existing portion: goods that were moved twice, or whose holder was
 * lost.
 */
async function missingFromStock({ direct }: ChaosFixture['system']): Promise<number> {
  const [api, pantry] = [createPlainApi(direct.api), createPlainApi(direct.pantry)];
  const { items } = parseList((await api.call('GET', portionsPath)).body);
  const rice = items.filter(({ spec }) => spec.item === 'rice');
  const { body } = await pantry.call('GET', '/items/rice');
  api.close();
  pantry.close();
  const { stock } = z.looseObject({ stock: z.looseObject({ g: z.number().default(1000) }) }).parse(body);
  return 1000 - stock.g - rice.reduce((sum, { spec }) => sum + spec.amount, 0);
}

/** A record as Lambda passes it. Its receipt handle is invalid: the queue keeps its own message. */
function recordOf(body: string, groupId: string): object {
  const now = String(Date.now());
  return {
    messageId: 'given-directly',
    receiptHandle: 'none',
    body,
    attributes: {
      MessageGroupId: groupId,
      ApproximateReceiveCount: '1',
      ApproximateFirstReceiveTimestamp: now,
      SentTimestamp: now,
    },
    messageAttributes: {},
  };
}

function shuffle<T>(all: readonly T[], { number }: ChaosFixture['random']): readonly T[] {
  return all
    .map((one) => ({ one, at: number() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
