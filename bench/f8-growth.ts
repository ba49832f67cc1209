// f8: f1, f2 and f7 with ten and a hundred times as many objects. Memory and resync grow in proportion; the time from
// an edit to its status does not, because only a key is sent.
import { setTimeout as wait } from 'node:timers/promises';
import { build } from '@outrigger/cli/commands/build';
import * as z from 'zod';
import { formatCheckpoint, parseCheckpoint } from '../src/checkpoint/document.ts';
import { startServerProcess } from '../test/support/server-process.ts';
import type { PlainApi } from '../tools/chaos/plain-api.ts';
import { formatSpread } from './compare.ts';
import { watcher } from './f1-followers.ts';
import { measureGrowth } from './f1-watcher-memory.ts';
import { goal, openResync } from './f7-resync.ts';
import { collectionOf, startMeasuringClient } from './measuring-client.ts';
import { ours } from './ours/ours.ts';
import type { Program } from './peers/contestant.ts';
import { digits, untilObjectsServed } from './populate.ts';
import type { Comparison, Row } from './row.ts';
import { openBenchSetup, putObjects } from './setup.ts';
import { quantile, spreadOf } from './spread.ts';
import { startContestant } from './start-contestant.ts';

const defaultCounts = [1_000, 10_000, 100_000];
const collection = { plural: 'pings', namespace: 'default' } as const;
const prefix = 'ping';
/** No object is edited twice within the second for which Outrigger delays a key. */
const edits = { names: 500, perSecond: 10, count: 100 };
/** Results vary by this factor from one run to the next. */
const tolerance = 1.25;
const checkpointPath = '/api/v1/namespaces/outrigger-system/configmaps/outrigger-watch-checkpoint';
const checkpointMap = z.object({ data: z.object({ checkpoint: z.string() }) });
const checkpointAttempts = 300;
const sqsProgram = new URL('../test/support/sqs-program.ts', import.meta.url);
const startMilliseconds = 30_000;
/**
 * fauxqs continues a long poll whose client has gone; a message that it returns there is invisible for three minutes.
 */
const abandonedPollMilliseconds = 21_000;
/** The memory of a watcher with this number of objects is subtracted. */
const baselineObjects = 10;
/**
 * Fixed costs, such as tables that grow in steps and a function's start, dominate the value for each object with fewer
 * objects than these.
 */
const minObjectsForShare = 5_000;

/** Measures; counts are in ascending order. */
export async function f8({
  counts = defaultCounts,
  runs,
  log,
}: {
  readonly counts?: readonly number[];
  readonly runs: number;
  readonly log: (line: string) => void;
}): Promise<readonly Row[]> {
  await build(process.cwd());
  const memory = await repeat(runs, async () => {
    log('  memory');
    return (await measureGrowth(watcher, counts, baselineObjects)).each.map(({ object }) => object);
  });
  const program = await ours('fauxqs').prepare();
  const latencies = await repeat(runs, () => oneByOne(counts, (count) => latenciesAt(program, count, log)));
  const resyncs = await repeat(runs, () =>
    oneByOne(counts, async (count) => {
      log(`  resync of ${count}`);
      await using cleanup = new AsyncDisposableStack();
      const { resync } = await openResync(cleanup, count);
      return await resync(goal.megabytes);
    }),
  );
  const row = (about: GrowthRow, values: readonly (readonly number[])[]) =>
    rowOf(
      about,
      counts.map((count, index) => ({ count, values: values.map((run) => run[index] ?? Number.NaN) })),
    );
  const [heap, rss] = [each(memory, ({ liveHeap }) => liveHeap), each(memory, (one) => one.rss)];
  const quantiles = (part: number) => each(latencies, (all) => quantile(all, part));
  const perThousand = resyncs.map((run) =>
    run.map(({ seconds }, index) => (seconds * 1e6) / (counts[index] ?? Number.NaN)),
  );
  return [
    row({ what: 'watcher: live heap of an object', unit: 'B', tolerance, minObjects: minObjectsForShare }, heap),
    row({ what: 'watcher: RSS of an object', unit: 'B', tolerance, minObjects: minObjectsForShare }, rss),
    row({ what: 'edit to status at 10/s, p50', unit: 'ms', tolerance }, quantiles(0.5)),
    row({ what: 'edit to status at 10/s, p99', unit: 'ms', tolerance }, quantiles(0.99)),
    row({ what: 'resync: time of 1,000 objects', unit: 'ms', tolerance, minObjects: minObjectsForShare }, perThousand),
    // The absolute limit is part of f7.
    row(
      { what: 'resync: resident memory', unit: 'MB' },
      each(resyncs, ({ megabytes }) => megabytes),
    ),
  ];
}

/** The description of a row. */
type GrowthRow = {
  readonly what: string;
  readonly unit: string;
  /** The maximum ratio of the value with the most objects to that with the fewest. */
  readonly tolerance?: number;
  /** The number of objects from which the value is meaningful. */
  readonly minObjects?: number;
};
type Point = { readonly count: number; readonly values: readonly number[] };

/** A row whose columns are the counts. */
function rowOf({ what, unit, tolerance: most, minObjects = 0 }: GrowthRow, points: readonly Point[]): Row {
  const comparisons = points.map(
    ({ count, values }): Comparison => ({ name: `${count} objects`, unit, spread: spreadOf(values) }),
  );
  const from = points.findIndex(({ count }) => count >= minObjects);
  const growth = (comparisons.at(-1)?.spread?.median ?? Number.NaN) / (comparisons[from]?.spread?.median ?? Number.NaN);
  return {
    figure: 'f8',
    what: `${what}, with ${comparisons[0]?.name}`,
    ours: formatSpread(comparisons[0]),
    comparisons,
    peer: comparisons.slice(1).map(formatSpread).join('; '),
    ratio: growth.toPrecision(2),
    growth: growth.toPrecision(2),
    goal: most === undefined ? '-' : `<= ${most} x from ${points[from]?.count} to ${points.at(-1)?.count}`,
    ...(most === undefined || from < 0 || from === points.length - 1 ? {} : { met: growth <= most }),
  };
}

const each = <T>(runs: readonly (readonly T[])[], figureOf: (one: T) => number) => runs.map((run) => run.map(figureOf));

/** Runs the measurements one after the other, because they share the machine. */
async function oneByOne<T>(counts: readonly number[], measure: (count: number) => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (const count of counts) all.push(await measure(count));
  return all;
}

const repeat = <T>(runs: number, measure: () => Promise<T>) =>
  oneByOne(
    Array.from({ length: runs }, (_, run) => run),
    measure,
  );

/**
 * The latencies from edits to statuses among this number of objects that converged long ago: the watcher's checkpoint
 * is after them.
 */
async function latenciesAt(program: Program, count: number, log: (line: string) => void): Promise<readonly number[]> {
  log(`  edit to status, ${count} objects`);
  await using cleanup = new AsyncDisposableStack();
  const setup = await openBenchSetup(cleanup);
  const aborter = new AbortController();
  cleanup.defer(() => aborter.abort());
  // The checkpoint belongs to these queues.
  const queues = await startServerProcess(sqsProgram, AbortSignal.timeout(startMilliseconds));
  cleanup.defer(() => queues.close());
  const withQueues = { ...program, env: { ...program.env, QUEUE_ENDPOINT: queues.url } };
  const run = { job: 'ping', setting: 'default' } as const;
  const environment = { kubeconfig: setup.plane.kubeconfig(), outsideUrl: setup.outsideUrl };
  const firstRun = await startContestant(withQueues, { ...run, ...environment });
  const checkpoint = await writtenCheckpoint(setup.api).finally(() => firstRun[Symbol.asyncDispose]());
  const abandonedPolls = wait(abandonedPollMilliseconds);
  await putObjects(setup, collection, { count, prefix, observed: true });
  await untilObjectsServed(setup.api, collectionOf(collection), count);
  await moveCheckpoint(setup.api, checkpoint);
  await abandonedPolls;

  const running = cleanup.use(await startContestant(withQueues, { ...run, ...environment }));
  const client = await startMeasuringClient(setup.api, collection, aborter.signal);
  const names = Array.from({ length: Math.min(edits.names, count) }, (_, index) => `${prefix}-${digits(index, 6)}`);
  const measure = async () => {
    // The first edits warm up the contestant.
    await client.edit(names, edits);
    await wait(1_000);
    return await client.edit(names.toReversed(), edits);
  };
  return await Promise.race([measure(), running.died]);
}

async function writtenCheckpoint(api: PlainApi): Promise<string> {
  for (let attempt = 0; attempt < checkpointAttempts; attempt += 1) {
    const found = checkpointMap.safeParse((await api.call('GET', checkpointPath)).body);
    if (found.success && found.data.data.checkpoint !== '') return found.data.data.checkpoint;
    await wait(100);
  }
  throw new Error('f8: the watcher wrote no checkpoint');
}

/** Moves the checkpoint to the present version of the collection. */
async function moveCheckpoint(api: PlainApi, text: string): Promise<void> {
  const { body } = await api.call('GET', `${collectionOf(collection)}?limit=1`);
  const { metadata } = z.object({ metadata: z.object({ resourceVersion: z.string() }) }).parse(body);
  const parsed = parseCheckpoint(text);
  if (parsed.type !== 'read') throw new Error(`f8: the checkpoint is ${parsed.type}`);
  const { resourceVersion: version } = metadata;
  const entries = new Map([...parsed.document.entries].map(([name, entry]) => [name, { ...entry, version }]));
  const checkpoint = formatCheckpoint({ ...parsed.document, entries });
  const merge = { 'content-type': 'application/merge-patch+json' };
  const { status } = await api.call('PATCH', checkpointPath, { data: { checkpoint } }, merge);
  if (status !== 200) throw new Error(`f8: PATCH ${checkpointPath}: ${status}`);
}
