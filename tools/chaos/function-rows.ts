// Faults inside a function: it blocks, exhausts its memory, ignores its abort signal, or has a wrong clock.
// function-fault-preload.ts injects them into the functions' own processes. Only the object with the fault may be
// affected.

import { faultItems } from './function-faults.ts';
import { createPlainApi } from './plain-api.ts';
import { createPlainSqs } from './plain-sqs.ts';
import { parseList, portionsPath } from './portions.ts';
import { type ChaosFixture, editUntil, type Row } from './row.ts';
import { sentMessagesOf } from './sent-messages.ts';
import { until } from './until.ts';

const faultyName = 'faulty';
/** Generous, because a machine under load is slow and a lost change never converges. */
const convergeSeconds = 300;
/** Ten kills with a cold start before each, on a machine that has other work. */
const minRejected = 3;

/** The rows of functions. */
export const functionRows: readonly Row[] = [
  {
    fault: 'function times out',
    how: 'a reconcile blocks its process until the timeout kills it; the row ends when all other objects have converged',
    slow: true,
    run: async (fixture) => await runWithFault(fixture, faultItems.blocks, /Task timed out/),
  },
  {
    fault: 'abort signal ignored',
    how: 'a reconcile continues after its deadline; its process ends before the message is received again',
    slow: true,
    run: async (fixture) => await runWithFault(fixture, faultItems.ignoresAbort, /ended by itself: exit status 1/),
  },
  {
    fault: 'out of memory, 1 of 10',
    how: 'ten keys in one batch; one exhausts the memory at every receive, until its item is changed; no dead letter',
    slow: true,
    run: outOfMemory,
  },
  {
    fault: 'functions’ clocks wrong',
    how: '10 min ahead, then 10 min behind, while 4 of 10 status writes get 500',
    slow: true,
    run: async (fixture) => {
      const ahead = await runWithWrongClocks(fixture, 10);
      const behind = await runWithWrongClocks(fixture, -10);
      return ahead.wrongStatuses + behind.wrongStatuses;
    },
  },
];

/**
 * Gives one object the fault, waits for all others, and removes the fault. Returns how many processes ended because of
 * it.
 */
async function runWithFault(fixture: ChaosFixture, item: string, loss: RegExp): Promise<number> {
  const { system, editor, checker, changes } = fixture;
  const lossCount = countFrom(system, loss);
  await editor.put(faultyName, item);
  await editor.edit(changes);
  const unconverged = await checker.untilConverged(convergeSeconds, { except: faultyName });
  if (unconverged.length > 0) throw new Error(`not converged, besides the faulty object: ${unconverged.join('; ')}`);
  await until(() => lossCount() > 0, convergeSeconds, 'no process was lost');
  await editor.put(faultyName, 'rice');
  return lossCount();
}

async function outOfMemory({ system, editor, checker, changes, addNote }: ChaosFixture): Promise<number> {
  const killCount = countFrom(system, /ended by itself: SIGABRT/);
  const sqs = createPlainSqs(system.direct.sqs);
  const deadLetters = system.queueUrl.replace(/\.fifo$/, '-dlq.fifo');
  const before = await sqs.count(deadLetters);
  await editor.edit(changes);
  const names = [faultyName, ...Array.from({ length: 9 }, (_, index) => `other-${index}`)];
  // Keys that wait during the SQS outage are a set: afterwards they are sent in one batch.
  let largest = 0;
  let isUnavailable = true;
  const rejected = new Set<string>();
  system.sqs.rule((request) => {
    const sends = sentMessagesOf(request).filter(({ message }) => names.includes(message.name));
    if (sends.length === 0) return undefined;
    if (!isUnavailable) largest = Math.max(largest, sends.length);
    for (const { message } of isUnavailable ? sends : []) rejected.add(message.name);
    return isUnavailable ? { type: 'reset' } : undefined;
  });
  for (const name of names) await editor.put(name, name === faultyName ? faultItems.exhaustsMemory : 'rice');
  await until(() => rejected.size === names.length, convergeSeconds, 'not every key was tried');
  system.retryCrashedAtOnce(true);
  isUnavailable = false;
  await until(() => killCount() > 0, convergeSeconds, 'no function ran out of memory');
  const unconverged = await checker.untilConverged(convergeSeconds, { except: faultyName });
  if (unconverged.length > 0)
    throw new Error(`not converged, besides the object that exhausts the memory: ${unconverged.join('; ')}`);
  await until(() => killCount() > 10, convergeSeconds, 'the object was not retried');
  await editor.put(faultyName, 'rice');
  const unconvergedAfterwards = await checker.untilConverged(convergeSeconds);
  system.retryCrashedAtOnce(false);
  const deadLetterCount = (await sqs.count(deadLetters)) - before;
  sqs.close();
  addNote(`${largest} of the ten keys in one batch; ${killCount()} kills`);
  if (unconvergedAfterwards.length > 0)
    throw new Error(`not converged after the fault was removed: ${unconvergedAfterwards.join('; ')}`);
  if (deadLetterCount !== 0) throw new Error(`${deadLetterCount} dead letters`);
  return killCount();
}

/**
 * Lets the functions whose name ends with `only` (default: all) run with a wrong clock while status writes fail. Returns
 * how many writes failed, and how many statuses have a wrong time. Throws when a delay was computed with the wrong clock, or when there are
 * more delays than errors.
 */
export async function runWithWrongClocks(
  { system, editor, checker, random, changes, addNote }: ChaosFixture,
  minutes: number,
  only?: string,
): Promise<{ readonly rejected: number; readonly wrongStatuses: number }> {
  await system.shiftFunctionClocks(minutes, only);
  let rejected = 0;
  /** A send whose response was late is repeated, and is one delayed retry. */
  const retries = new Set<string>();
  let shifted = 0;
  const isStatus = (url: string) => url.startsWith(portionsPath) && url.includes('/status');
  system.api.rule(({ method, url }) => {
    if (method !== 'PATCH' || !isStatus(url) || random.number() >= 0.4) return undefined;
    rejected += 1;
    return { type: 'respond', status: 500, body: '{}' };
  });
  system.sqs.rule((request) => {
    for (const { message } of sentMessagesOf(request)) {
      if (message.cause.type !== 'retry' || request.body.includes('MessageGroupId')) continue;
      // A postponed key costs no attempt: the API server was slow, and no write was rejected.
      if ((message.cause.attempt ?? 0) > 0) retries.add(JSON.stringify([message.name, message.cause]));
      const dueInSeconds = (message.cause.dueAt ?? 0) - Date.now() / 1000;
      if (Math.abs(dueInSeconds) > (Math.abs(minutes) * 60) / 2) shifted += 1;
    }
    return undefined;
  });
  await editor.edit(Math.ceil(changes / 2));
  await editUntil({ editor }, () => rejected >= minRejected);
  system.api.rule();
  const unconverged = await checker.untilConverged(convergeSeconds);
  system.sqs.rule();
  const wrongStatuses = await countWrongTimes(system, minutes);
  await system.shiftFunctionClocks(0);
  addNote(
    `clocks ${minutes} min wrong: ${rejected} writes rejected, ${retries.size} delayed retries, ${wrongStatuses} statuses with a wrong time`,
  );
  if (unconverged.length > 0) throw new Error(`with clocks ${minutes} min wrong: ${unconverged.join('; ')}`);
  if (shifted > 0) throw new Error(`${shifted} delayed retries use a clock that is ${minutes} min wrong`);
  if (retries.size > rejected) throw new Error(`${[...retries].join(' ')} for ${rejected} errors`);
  return { rejected, wrongStatuses };
}

/**
 * Counts portions with a condition whose transition time is wrong by about `minutes`: proof that the clocks were wrong.
 */
async function countWrongTimes(system: ChaosFixture['system'], minutes: number): Promise<number> {
  const api = createPlainApi(system.direct.api);
  const { items } = parseList((await api.call('GET', portionsPath)).body);
  api.close();
  const expected = Date.now() + minutes * 60_000;
  return items.filter(({ status }) =>
    (status?.conditions ?? []).some(({ lastTransitionTime }) => {
      const difference = Date.parse(String(lastTransitionTime)) - expected;
      return Math.abs(difference) < (Math.abs(minutes) * 60_000) / 2;
    }),
  ).length;
}

function countFrom({ failures }: ChaosFixture['system'], wanted: RegExp): () => number {
  const before = failures().length;
  return () =>
    failures()
      .slice(before)
      .filter((line) => wanted.test(line)).length;
}
