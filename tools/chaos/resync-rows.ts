// A resync of very many keys while users make changes. Its rate is limited, so changes must stay fast. The keys are put
// into the timers as the resync's runs do it: each run adds the keys that are due until the next run. The row measures
// the users' latencies.
import { setTimeout as wait } from 'node:timers/promises';
import { createBulkObjects } from './bulk-objects.ts';
import { type Latencies, p99, watchLatencies } from './latencies.ts';
import { createPlainSqs, type PlainMessage } from './plain-sqs.ts';
import type { ChaosFixture, Row } from './row.ts';
import { sentMessagesOf } from './sent-messages.ts';
import { until } from './until.ts';

const editsPerSecond = 10;
const steadyObjects = 20;
/**
 * A p99 of this many changes is accurate enough, and this many objects represent all of them: more would only take
 * longer.
 */
const maxBaselineChanges = 300;
const maxBulkObjects = 300;
/** The time between two runs of the resync. */
const runSeconds = 60;
const quiesceSeconds = 300;
/** Below this value a latency is noise of the machine. */
const noiseMilliseconds = 1_000;
const steady = 'steady-';

/** The rows of resyncs. */
export const resyncRows: readonly Row[] = [
  {
    fault: 'resync during edits',
    how: ({ resyncKeys, resyncPerSecond }) =>
      `a resync of ${resyncKeys} keys, ${resyncPerSecond} due each second, put into the timers a minute ahead, during ${editsPerSecond} edits a second; the p99 from edit to status must not more than double; fired: keys reconciled by the last edit`,
    slow: true,
    // It compares latencies, which needs a machine without other load.
    long: true,
    measures: true,
    run: resyncDuringEdits,
  },
];

/** Returns how many keys of the resync were forwarded by the timers during the edits. */
async function resyncDuringEdits(fixture: ChaosFixture): Promise<number> {
  const { system, checker, changes, bulkObjects, addNote } = fixture;
  const bodies = new Map<string, string>();
  let forwarded = 0;
  system.sqs.rule((request) => {
    for (const { message, entry } of sentMessagesOf(request)) {
      if (message.cause.type === 'change') bodies.set(message.name, entry.MessageBody);
      if (message.cause.type === 'resync' && entry.MessageGroupId !== undefined) forwarded += 1;
    }
    return undefined;
  });
  const { names, remove } = await createBulkObjects(fixture, Math.min(bulkObjects, maxBulkObjects));
  const unconverged = await checker.untilConverged(quiesceSeconds);
  if (unconverged.length > 0) throw new Error(unconverged.join('; '));
  const sqs = createPlainSqs(system.direct.sqs);
  const timers = system.queueUrl.replace(/ingredient\.fifo$/, 'timers');
  const latencies = await watchLatencies(system.direct.api, steady);
  try {
    // The first changes create the objects and start functions; they are not measured.
    await makeChanges(fixture, latencies, steadyObjects);
    const baselineP99 = async () => p99(await makeChanges(fixture, latencies, Math.min(changes, maxBaselineChanges)));
    const before = await baselineP99();
    const messageBodies = names.flatMap((name) => bodies.get(name) ?? []);
    forwarded = 0;
    const since = performance.now();
    const editsDone = new AbortController();
    const [latenciesDuring] = await Promise.all([
      makeChanges(fixture, latencies, changes).finally(() => editsDone.abort()),
      putResyncRuns(fixture, { send: (keys) => sqs.send(timers, keys), bodies: messageBodies }, editsDone.signal),
    ]);
    const p99During = p99(latenciesDuring);
    const seconds = (performance.now() - since) / 1000;
    const resyncKeysForwarded = forwarded;
    // On a shared machine the load varies, so the baseline is measured before and after.
    await sqs.purge(timers);
    const after = await baselineP99();
    addNote(
      `p99 from edit to status: ${before.toFixed(0)} ms; during ${resyncKeysForwarded} resync keys, with ${changes} edits in ${seconds.toFixed(0)} s, ${p99During.toFixed(0)} ms; then ${after.toFixed(0)} ms`,
    );
    if (p99During > 2 * Math.max(before, after, noiseMilliseconds)) throw new Error('p99 more than doubled');
    return resyncKeysForwarded;
  } finally {
    // The remaining keys would arrive for hours, in other rows.
    await sqs.purge(timers);
    await latencies.close();
    sqs.close();
    await remove();
  }
}

/** Makes this number of changes at a constant rate; resolves with their latencies when each has its status. */
async function makeChanges(
  { editor }: Pick<ChaosFixture, 'editor'>,
  latencies: Latencies,
  changes: number,
): Promise<readonly number[]> {
  latencies.take();
  const begin = performance.now();
  for (let made = 0; made < changes; made += 1) {
    await wait(Math.max(0, begin + (made * 1000) / editsPerSecond - performance.now()));
    await editor.put(`${steady}${made % steadyObjects}`, 'rice');
  }
  await until(
    () => latencies.pendingCount() === 0,
    quiesceSeconds,
    `${latencies.pendingCount()} changes have no status`,
  );
  return latencies.take();
}

/**
 * Puts the keys that are due until the next run into the timers, run after run, until all keys are there or the signal
 * aborts.
 */
async function putResyncRuns(
  { resyncKeys, resyncPerSecond }: Pick<ChaosFixture, 'resyncKeys' | 'resyncPerSecond'>,
  { send, bodies }: { send(keys: readonly PlainMessage[]): Promise<void>; readonly bodies: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const keysPerRun = Math.ceil(runSeconds * resyncPerSecond);
  for (let from = 0; from < resyncKeys && !signal.aborted; from += keysPerRun) {
    const keys = Array.from({ length: Math.min(keysPerRun, resyncKeys - from) }, (_, index) => ({
      body: resyncBody(bodies, from + index),
      delaySeconds: Math.floor(index / resyncPerSecond),
    }));
    await send(keys);
    await wait(runSeconds * 1000, undefined, { signal }).catch(() => undefined);
  }
}

/** The message body of a resync key: the body of a change's message without the data of the change. */
function resyncBody(bodies: readonly string[], index: number): string {
  const { merged: _, ...key }: Record<string, unknown> = JSON.parse(bodies[index % bodies.length] ?? '{}');
  const cause = { type: 'resync', run: `chaos-${Math.floor(index / bodies.length)}` };
  return JSON.stringify({ ...key, cause });
}
