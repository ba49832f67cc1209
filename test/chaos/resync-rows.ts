// A resync of very many keys while users work: it comes paced, so nobody who changes something may notice it much. The keys are put
// into the timers as a resync's runs put them there, each what is due until the next; what is measured is what users see.
import { setTimeout as wait } from 'node:timers/promises';
import { createCrowd } from '../../tools/chaos/bulk-objects.ts';
import { type Lags, p99, watchLags } from './lags.ts';
import { createPlainSqs, type PlainMessage } from '../../tools/chaos/plain-sqs.ts';
import type { Row, Stage } from './row.ts';
import { sendsOf } from '../../tools/chaos/sent-messages.ts';
import { until } from './until.ts';

const editsPerSecond = 10;
const steadyObjects = 20;
/** Whose p99 is known well enough, and who stand for all that are there: more would only take longer. */
const mostCalmChanges = 300;
const mostCrowd = 300;
/** From one run of the resync to the next. */
const tickSeconds = 60;
const settleSeconds = 300;
/** Below this a lag is the machine's own noise. */
const leastP99Milliseconds = 1_000;
const steady = 'steady-';

/** The rows of resyncs. */
export const resyncRows: readonly Row[] = [
  {
    fault: 'resync beside edits',
    how: ({ resyncKeys, resyncPerSecond }) =>
      `a resync of ${resyncKeys} keys, ${resyncPerSecond} due a second, put on the timers a minute ahead; beside it ${editsPerSecond} edits a second: p99 of edit to status at most doubles; fired: keys that came by the last edit`,
    slow: true,
    // It compares lags, which nobody may do where others use the machine.
    long: true,
    measures: true,
    run: resyncBesideEdits,
  },
];

/** Returns how many keys of the resync came out of the timers while users worked. */
async function resyncBesideEdits(stage: Stage): Promise<number> {
  const { system, judge, changes, crowd, note } = stage;
  const bodies = new Map<string, string>();
  let forwarded = 0;
  system.sqs.rule((asked) => {
    for (const { message, entry } of sendsOf(asked)) {
      if (message.lane === 'watch') bodies.set(message.name, entry.MessageBody);
      if (message.lane === 'resync' && entry.MessageGroupId !== undefined) forwarded += 1;
    }
    return undefined;
  });
  const { names, remove } = await createCrowd(stage, Math.min(crowd, mostCrowd));
  const late = await judge.untilConverged(settleSeconds);
  if (late.length > 0) throw new Error(late.join('; '));
  const sqs = createPlainSqs(system.direct.sqs);
  const timers = system.queueUrl.replace(/ingredient\.fifo$/, 'timers');
  const lags = await watchLags(system.direct.api, steady);
  try {
    // The first changes create the objects and start functions; nobody measures those.
    await work(stage, lags, steadyObjects);
    const calmWork = async () => p99(await work(stage, lags, Math.min(changes, mostCalmChanges)));
    const before = await calmWork();
    const known = names.flatMap((name) => bodies.get(name) ?? []);
    forwarded = 0;
    const since = performance.now();
    const over = new AbortController();
    const [lagsBeside] = await Promise.all([
      work(stage, lags, changes).finally(() => over.abort()),
      drip(stage, { put: (keys) => sqs.send(timers, keys), bodies: known }, over.signal),
    ]);
    const busy = p99(lagsBeside);
    const seconds = (performance.now() - since) / 1000;
    const brought = forwarded;
    // A machine that others use as well is slower at one time than at another: what is calm is seen on both sides.
    await sqs.purge(timers);
    const after = await calmWork();
    note(
      `p99 of edit to status: ${before.toFixed(0)} ms; beside ${brought} resync keys, with ${changes} edits in ${seconds.toFixed(0)} s, ${busy.toFixed(0)} ms; then ${after.toFixed(0)} ms`,
    );
    if (busy > 2 * Math.max(before, after, leastP99Milliseconds)) throw new Error('p99 more than doubled');
    return brought;
  } finally {
    // The rest would come over hours' worth of rows.
    await sqs.purge(timers);
    await lags.close();
    sqs.close();
    await remove();
  }
}

/** Makes so many changes at a steady pace; resolves with their lags when each has its status. */
async function work({ editor }: Pick<Stage, 'editor'>, lags: Lags, changes: number): Promise<readonly number[]> {
  lags.taken();
  const begin = performance.now();
  for (let made = 0; made < changes; made += 1) {
    await wait(Math.max(0, begin + (made * 1000) / editsPerSecond - performance.now()));
    await editor.put(`${steady}${made % steadyObjects}`, 'rice');
  }
  await until(() => lags.open() === 0, settleSeconds, `${lags.open()} changes have no status`);
  return lags.taken();
}

/** Puts what is due in the next tick into the timers, tick after tick, until all keys are there or nobody wants more. */
async function drip(
  { resyncKeys, resyncPerSecond }: Pick<Stage, 'resyncKeys' | 'resyncPerSecond'>,
  { put, bodies }: { put(keys: readonly PlainMessage[]): Promise<void>; readonly bodies: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const inTick = Math.ceil(tickSeconds * resyncPerSecond);
  for (let from = 0; from < resyncKeys && !signal.aborted; from += inTick) {
    const keys = Array.from({ length: Math.min(inTick, resyncKeys - from) }, (_, index) => ({
      body: keyOf(bodies, from + index),
      delaySeconds: Math.floor(index / resyncPerSecond),
    }));
    await put(keys);
    await wait(tickSeconds * 1000, undefined, { signal }).catch(() => undefined);
  }
}

/** The body of a key of a resync: that of a change's message without what it knew of the change. */
function keyOf(bodies: readonly string[], index: number): string {
  const {
    uid: _,
    resourceVersion: __,
    ...key
  }: Record<string, unknown> = JSON.parse(bodies[index % bodies.length] ?? '{}');
  return JSON.stringify({ ...key, lane: 'resync', run: `chaos-${Math.floor(index / bodies.length)}` });
}
