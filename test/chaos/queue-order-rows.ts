// Messages in another order than they were sent in, messages of yesterday, and one key in two functions' hands at once: what a queue
// that is FIFO within a group may still do, or what it never does and must not matter.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { meetings } from './judge.ts';
import { createPlainApi } from '../../tools/chaos/plain-api.ts';
import { createPlainSqs } from '../../tools/chaos/plain-sqs.ts';
import { parseList, portionsPath } from '../../tools/chaos/portions.ts';
import type { Row, Stage } from './row.ts';
import type { SeenSend } from '../../tools/chaos/sent-messages.ts';
import { sendsOf } from '../../tools/chaos/sent-messages.ts';

/** Longer than anything takes between two changes of one object. */
const mostHeldMilliseconds = 1_500;
const settleSeconds = 120;
/** How many messages are in others' hands at once: each takes two functions of a machine that has few cores. */
const handLanes = 2;
const handLookMilliseconds = 20;
const handed = z.looseObject({ batchItemFailures: z.array(z.unknown()) });

/** The rows of order. */
export const queueOrderRows: readonly Row[] = [
  {
    fault: 'reorder',
    how: `half of all sends held back up to ${mostHeldMilliseconds} ms; then every message again, shuffled, beside new changes`,
    run: reorder,
  },
  {
    fault: 'two functions, one key',
    how: 'a change’s message is also given to two more functions directly, at once',
    run: twoAtOnce,
  },
];

async function reorder({ system, editor, dice, changes }: Stage): Promise<number> {
  const seen: SeenSend[] = [];
  system.sqs.rule((asked) => {
    const sends = sendsOf(asked);
    seen.push(...sends.filter(({ entry }) => entry.MessageGroupId !== undefined));
    return sends.length > 0 && dice.number() < 0.5
      ? { type: 'delay', milliseconds: dice.below(mostHeldMilliseconds) }
      : undefined;
  });
  await editor.edit(Math.ceil(changes / 2));
  const sqs = createPlainSqs(system.direct.sqs);
  const again = shuffle(seen, dice);
  const replay = async () => {
    for (const [index, { queueUrl, entry }] of again.entries()) {
      const deduplicationId = `again-${index}-${entry.MessageDeduplicationId?.slice(0, 64)}`;
      await sqs.send(queueUrl, [{ body: entry.MessageBody, groupId: entry.MessageGroupId, deduplicationId }]);
    }
  };
  await Promise.all([replay(), editor.edit(Math.floor(changes / 2))]);
  sqs.close();
  return again.length;
}

/** Returns how often two were at one object's portion at once: here that is the fault, and no object may be the worse for it. */
async function twoAtOnce({ system, editor, judge, changes, note }: Stage): Promise<number> {
  const waiting: SeenSend[] = [];
  system.sqs.rule((asked) => {
    waiting.push(...sendsOf(asked).filter(({ message }) => message.lane === 'watch'));
    return undefined;
  });
  const ingredient = system.functions.find(({ name }) => name.endsWith('ingredient'));
  if (ingredient === undefined) throw new Error('no function of Ingredient');
  const escaped: unknown[] = [];
  let given = 0;
  let isEditing = true;
  const give = async ({ entry }: SeenSend) => {
    const event = { Records: [recordOf(entry.MessageBody, entry.MessageGroupId ?? '')] };
    const answers = await Promise.all([ingredient.invoke(event), ingredient.invoke(event)]);
    escaped.push(...answers.flatMap((answer) => handed.parse(answer).batchItemFailures));
    given += 1;
  };
  const lane = async () => {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) await give(next).catch((error: unknown) => escaped.push(String(error)));
      else if (isEditing) await wait(handLookMilliseconds);
      else return;
    }
  };
  const work = async () => {
    for (let made = 0; made < changes; made += 1) {
      // Nobody runs ahead of the functions: changes that become one message are one fault.
      while (waiting.length >= handLanes) await wait(handLookMilliseconds);
      await editor.edit(1);
    }
    isEditing = false;
  };
  await Promise.all([work(), ...Array.from({ length: handLanes }, lane)]);
  const late = await judge.untilConverged(settleSeconds);
  const met = meetings(system.world.visits());
  system.world.forget();
  const lacking = await missingFromStock(system);
  note(`${given} messages given to two more functions; ${met} meetings`);
  if (escaped.length > 0) throw new Error(`errors escaped: ${JSON.stringify(escaped)}`);
  if (late.length > 0) throw new Error(late.join('; '));
  if (Math.abs(lacking) > 1e-6) throw new Error(`the pantry lacks ${lacking} g that nobody has`);
  return met;
}

/** What is neither on the shelves nor with a portion that there is: goods that moved twice, or whose holder was forgotten. */
async function missingFromStock({ direct }: Stage['system']): Promise<number> {
  const [api, pantry] = [createPlainApi(direct.api), createPlainApi(direct.pantry)];
  const { items } = parseList((await api.call('GET', portionsPath)).body);
  const rice = items.filter(({ spec }) => spec.item === 'rice');
  const { body } = await pantry.call('GET', '/items/rice');
  api.close();
  pantry.close();
  const { stock } = z.looseObject({ stock: z.looseObject({ g: z.number().default(1000) }) }).parse(body);
  return 1000 - stock.g - rice.reduce((sum, { spec }) => sum + spec.amount, 0);
}

/** A record as Lambda hands it over. Its handle is nobody's: the queue has a message of its own, and keeps it. */
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

function shuffle<T>(all: readonly T[], { number }: Stage['dice']): readonly T[] {
  return all
    .map((one) => ({ one, at: number() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
