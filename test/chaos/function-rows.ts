// What goes wrong inside a function: it hangs, it takes all memory, it heeds no signal, its clock is wrong. unruly-preload.ts does it in
// the functions' own processes; what is promised is that only the object suffers for which it was done.
import { createPlainApi } from '../../tools/chaos/plain-api.ts';
import { createPlainSqs } from '../../tools/chaos/plain-sqs.ts';
import { parseList, portionsPath } from '../../tools/chaos/portions.ts';
import { editUntil, type Row, type Stage } from './row.ts';
import { sendsOf } from '../../tools/chaos/sent-messages.ts';
import { unrulyItems } from './unruliness.ts';
import { until } from './until.ts';

const unruly = 'unruly';
/** Generous: a machine under load is slow, and a loss does not mend itself. */
const goodSeconds = 300;
/** Ten deaths, and a cold start before each, on a machine that has other things to do. */
const buriedSeconds = 300;
const leastRefused = 3;

/** The rows of functions. */
export const functionRows: readonly Row[] = [
  {
    fault: 'function times out',
    how: 'a reconcile blocks its process until the time-out kills it, until all others are as they should be',
    slow: true,
    run: async (stage) => await besideUnruly(stage, unrulyItems.blocks, /Task timed out/),
  },
  {
    fault: 'signal ignored',
    how: 'a reconcile goes on past its deadline; its process ends before the message comes back',
    slow: true,
    run: async (stage) => await besideUnruly(stage, unrulyItems.ignores, /ended by itself: exit status 1/),
  },
  {
    fault: 'out of memory, 1 of 10',
    how: 'ten keys in one batch, one takes all memory at every receive, until it is the only dead letter',
    slow: true,
    run: outOfMemory,
  },
  {
    fault: 'functions’ clocks off',
    how: '10 min ahead, then 10 min behind, while 4 of 10 status writes get 500',
    slow: true,
    run: async (stage) => (await clocksOff(stage, 10)) + (await clocksOff(stage, -10)),
  },
];

/** Makes one object's reconciles unruly, waits for all others, and mends it. Returns how often a process was lost to it. */
async function besideUnruly(stage: Stage, item: string, loss: RegExp): Promise<number> {
  const { system, editor, judge, changes } = stage;
  const losses = countFrom(system, loss);
  await editor.put(unruly, item);
  await editor.edit(changes);
  const late = await judge.untilConverged(goodSeconds, { except: unruly });
  if (late.length > 0) throw new Error(`beside an unruly object: ${late.join('; ')}`);
  await until(() => losses() > 0, goodSeconds, 'no process was lost');
  await editor.put(unruly, 'rice');
  return losses();
}

async function outOfMemory({ system, editor, judge, changes, note }: Stage): Promise<number> {
  const deaths = countFrom(system, /ended by itself: SIGABRT/);
  const sqs = createPlainSqs(system.direct.sqs);
  const deadLetters = system.queueUrl.replace(/\.fifo$/, '-dlq.fifo');
  const before = await sqs.count(deadLetters);
  await editor.edit(changes);
  const names = [unruly, ...Array.from({ length: 9 }, (_, index) => `beside-${index}`)];
  // Keys that wait for SQS are a set: when it is back, they go in one batch.
  let largest = 0;
  let away = true;
  const refused = new Set<string>();
  system.sqs.rule((asked) => {
    const sends = sendsOf(asked).filter(({ message }) => names.includes(message.name));
    if (sends.length === 0) return undefined;
    if (!away) largest = Math.max(largest, sends.length);
    for (const { message } of away ? sends : []) refused.add(message.name);
    return away ? { type: 'reset' } : undefined;
  });
  for (const name of names) await editor.put(name, name === unruly ? unrulyItems.devours : 'rice');
  await until(() => refused.size === names.length, goodSeconds, 'not every key was tried');
  system.hasten(true);
  away = false;
  await until(() => deaths() > 0, goodSeconds, 'nobody ran out of memory');
  const late = await judge.untilConverged(goodSeconds, { except: unruly });
  if (late.length > 0) throw new Error(`beside an object that takes all memory: ${late.join('; ')}`);
  await until(async () => (await sqs.count(deadLetters)) > before, buriedSeconds, 'no dead letter');
  system.hasten(false);
  await editor.put(unruly, 'rice');
  const healed = await judge.untilConverged(goodSeconds);
  const buried = (await sqs.count(deadLetters)) - before;
  sqs.close();
  note(`${largest} of the ten keys in one batch; ${deaths()} deaths; ${buried} dead letter`);
  if (healed.length > 0) throw new Error(`after the object was mended: ${healed.join('; ')}`);
  if (buried !== 1) throw new Error(`${buried} dead letters instead of 1`);
  return deaths();
}

/** Returns how many statuses tell a wrong time. Throws when a wait was made of the wrong clock, or there are more waits than errors. */
async function clocksOff({ system, editor, judge, dice, changes, note }: Stage, minutes: number): Promise<number> {
  await system.shiftFunctionClocks(minutes);
  let refused = 0;
  let waits = 0;
  let shifted = 0;
  const isStatus = (url: string) => url.startsWith(portionsPath) && url.includes('/status');
  system.api.rule(({ method, url }) => {
    if (method !== 'PATCH' || !isStatus(url) || dice.number() >= 0.4) return undefined;
    refused += 1;
    return { type: 'answer', status: 500, body: '{}' };
  });
  system.sqs.rule((asked) => {
    for (const { message } of sendsOf(asked)) {
      if (message.lane !== 'retry' || asked.body.includes('MessageGroupId')) continue;
      waits += 1;
      const dueInSeconds = (message.dueAt ?? 0) - Date.now() / 1000;
      if (Math.abs(dueInSeconds) > (Math.abs(minutes) * 60) / 2) shifted += 1;
    }
    return undefined;
  });
  await editor.edit(Math.ceil(changes / 2));
  await editUntil({ editor }, () => refused >= leastRefused);
  system.api.rule();
  const late = await judge.untilConverged(goodSeconds);
  system.sqs.rule();
  const wrong = await wronglyDated(system, minutes);
  await system.shiftFunctionClocks(0);
  note(`clocks ${minutes} min off: ${refused} writes refused, ${waits} waits, ${wrong} statuses of a wrong time`);
  if (late.length > 0) throw new Error(`with clocks ${minutes} min off: ${late.join('; ')}`);
  if (shifted > 0) throw new Error(`${shifted} waits are due by a clock that is ${minutes} min off`);
  if (waits > refused) throw new Error(`${waits} waits for ${refused} errors`);
  return wrong;
}

/** Counts portions with a condition that changed at a time that is not now: proof that the clocks were wrong. */
async function wronglyDated(system: Stage['system'], minutes: number): Promise<number> {
  const api = createPlainApi(system.direct.api);
  const { items } = parseList((await api.call('GET', portionsPath)).body);
  api.close();
  const expected = Date.now() + minutes * 60_000;
  return items.filter(({ status }) =>
    (status?.conditions ?? []).some(({ lastTransitionTime }) => {
      const off = Date.parse(String(lastTransitionTime)) - expected;
      return Math.abs(off) < (Math.abs(minutes) * 60_000) / 2;
    }),
  ).length;
}

function countFrom({ failures }: Stage['system'], wanted: RegExp): () => number {
  const before = failures().length;
  return () =>
    failures()
      .slice(before)
      .filter((line) => wanted.test(line)).length;
}
