// f8: what becomes of f1, f2 and f7 with ten times and a hundred times as many objects. Memory and the resync grow with them, and by no more
// for each object; from an edit to its status it takes as long as ever, because a key is all that travels.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { build } from '../../src/cli/build.ts';
import type { PlainApi } from '../../tools/chaos/plain-api.ts';
import { startServerProcess } from '../support/server-process.ts';
import { openArena, stampObjects } from './arena.ts';
import { said } from '../../bench/compare.ts';
import { watcher } from '../../bench/f1-followers.ts';
import { grown } from '../../bench/f1-watcher-memory.ts';
import { goal, openResync } from '../../bench/f7-resync.ts';
import { collectionOf, startJudge } from '../../bench/measuring-client.ts';
import { ours } from '../../bench/ours/ours.ts';
import type { Program } from './peers/contestant.ts';
import { digits, served } from '../../bench/populate.ts';
import type { Beside, Row } from '../../bench/row.ts';
import { startContestant } from '../../bench/start-contestant.ts';
import { quantile, spreadOf } from '../../bench/spread.ts';

const usualCounts = [1_000, 10_000, 100_000];
const judged = { plural: 'pings', namespace: 'default' } as const;
const prefix = 'ping';
/** None is edited twice within the second for which ours lets a key wait. */
const edits = { names: 500, perSecond: 10, count: 100 };
/** What is measured differs by as much from one run to the next. */
const tolerance = 1.25;
const cursorPath = '/api/v1/namespaces/outrigger-system/configmaps/outrigger-cursor';
const cursorMap = z.object({ data: z.object({ cursor: z.string() }) });
const cursorShape = z.looseObject({ entries: z.record(z.string(), z.looseObject({ version: z.string() })) });
const cursorAttempts = 300;
const sqsProgram = new URL('../support/sqs-program.ts', import.meta.url);
const startMilliseconds = 30_000;
/** fauxqs answers a poll whose caller has gone, for as long as it was to last; what it answers with is away for three minutes. */
const deadPollMilliseconds = 21_000;
/** What a watcher of so many objects holds is not theirs. */
const aFew = 10;
/** What there is once, tables that grow in steps and a function's start, is shared by fewer objects than these, and says nothing of one. */
const fewestToShare = 5_000;

/** Measures; counts grow. */
export async function f8({
  counts = usualCounts,
  runs,
  say,
}: {
  readonly counts?: readonly number[];
  readonly runs: number;
  readonly say: (line: string) => void;
}): Promise<readonly Row[]> {
  await build(process.cwd());
  const memory = await repeated(runs, async () => {
    say('  memory');
    return (await grown(watcher, counts, aFew)).each.map(({ object }) => object);
  });
  const program = await ours('fauxqs').prepare();
  const latencies = await repeated(runs, () => inTurn(counts, (count) => latenciesAt(program, count, say)));
  const resyncs = await repeated(runs, () =>
    inTurn(counts, async (count) => {
      say(`  resync of ${count}`);
      await using parts = new AsyncDisposableStack();
      const { resync } = await openResync(parts, count);
      return await resync(goal.megabytes);
    }),
  );
  const row = (about: About, values: readonly (readonly number[])[]) =>
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
    row({ what: 'watcher: live heap of an object', unit: 'B', tolerance, fewest: fewestToShare }, heap),
    row({ what: 'watcher: RSS of an object', unit: 'B', tolerance, fewest: fewestToShare }, rss),
    row({ what: 'edit to status at 10/s, p50', unit: 'ms', tolerance }, quantiles(0.5)),
    row({ what: 'edit to status at 10/s, p99', unit: 'ms', tolerance }, quantiles(0.99)),
    row({ what: 'resync: time of 1,000 objects', unit: 'ms', tolerance, fewest: fewestToShare }, perThousand),
    // How much it may be in all is f7's to say.
    row(
      { what: 'resync: resident memory', unit: 'MB' },
      each(resyncs, ({ megabytes }) => megabytes),
    ),
  ];
}

/** What a row is about. */
type About = {
  readonly what: string;
  readonly unit: string;
  /** How many times that of the fewest objects that of the most may be. */
  readonly tolerance?: number;
  /** With so many objects it begins to say something. */
  readonly fewest?: number;
};
type Point = { readonly count: number; readonly values: readonly number[] };

/** A row whose columns are the counts. */
function rowOf({ what, unit, tolerance: most, fewest = 0 }: About, points: readonly Point[]): Row {
  const beside = points.map(
    ({ count, values }): Beside => ({ name: `${count} objects`, unit, spread: spreadOf(values) }),
  );
  const from = points.findIndex(({ count }) => count >= fewest);
  const growth = (beside.at(-1)?.spread?.median ?? Number.NaN) / (beside[from]?.spread?.median ?? Number.NaN);
  return {
    ...{ figure: 'f8', what: `${what}, with ${beside[0]?.name}`, ours: said(beside[0]), beside },
    ...{ peer: beside.slice(1).map(said).join('; '), ratio: growth.toPrecision(2), growth: growth.toPrecision(2) },
    goal: most === undefined ? '-' : `<= ${most} x from ${points[from]?.count} to ${points.at(-1)?.count}`,
    ...(most === undefined || from < 0 || from === points.length - 1 ? {} : { met: growth <= most }),
  };
}

const each = <T>(runs: readonly (readonly T[])[], figureOf: (one: T) => number) => runs.map((run) => run.map(figureOf));

/** One after the other: they would share what is measured. */
async function inTurn<T>(counts: readonly number[], measure: (count: number) => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (const count of counts) all.push(await measure(count));
  return all;
}

const repeated = <T>(runs: number, measure: () => Promise<T>) =>
  inTurn(
    Array.from({ length: runs }, (_, run) => run),
    measure,
  );

/** From edits to statuses among so many objects that have been as they should be for long: the watcher's cursor is behind them. */
async function latenciesAt(program: Program, count: number, say: (line: string) => void): Promise<readonly number[]> {
  say(`  edit to status, ${count} objects`);
  await using parts = new AsyncDisposableStack();
  const arena = await openArena(parts);
  const stop = new AbortController();
  parts.defer(() => stop.abort());
  // The cursor is of these queues.
  const queues = await startServerProcess(sqsProgram, AbortSignal.timeout(startMilliseconds));
  parts.defer(() => queues.close());
  const withQueues = { ...program, env: { ...program.env, QUEUE_ENDPOINT: queues.url } };
  const run = { job: 'ping', setting: 'default' } as const;
  const place = { kubeconfig: arena.plane.kubeconfig(), outsideUrl: arena.outsideUrl };
  const before = await startContestant(withQueues, { ...run, ...place });
  const cursor = await writtenCursor(arena.api).finally(() => before[Symbol.asyncDispose]());
  const deadPolls = wait(deadPollMilliseconds);
  await stampObjects(arena, judged, { count, prefix, observed: true });
  await served(arena.api, collectionOf(judged), count);
  await moveCursor(arena.api, cursor);
  await deadPolls;

  const running = parts.use(await startContestant(withQueues, { ...run, ...place }));
  const judge = await startJudge(arena.api, judged, stop.signal);
  const names = Array.from({ length: Math.min(edits.names, count) }, (_, index) => `${prefix}-${digits(index, 6)}`);
  const measure = async () => {
    // The first edits are for those who start.
    await judge.edit(names, edits);
    await wait(1_000);
    return await judge.edit(names.toReversed(), edits);
  };
  return await Promise.race([measure(), running.died]);
}

async function writtenCursor(api: PlainApi): Promise<string> {
  for (let attempt = 0; attempt < cursorAttempts; attempt += 1) {
    const found = cursorMap.safeParse((await api.call('GET', cursorPath)).body);
    if (found.success && found.data.data.cursor !== '') return found.data.data.cursor;
    await wait(100);
  }
  throw new Error('f8: the watcher writes no cursor');
}

/** Puts the cursor where the collection is now. */
async function moveCursor(api: PlainApi, text: string): Promise<void> {
  const { body } = await api.call('GET', `${collectionOf(judged)}?limit=1`);
  const { metadata } = z.object({ metadata: z.object({ resourceVersion: z.string() }) }).parse(body);
  const document = cursorShape.parse(JSON.parse(text));
  const entries = Object.fromEntries(
    Object.entries(document.entries).map(([name, entry]) => [name, { ...entry, version: metadata.resourceVersion }]),
  );
  const cursor = JSON.stringify({ ...document, entries });
  const merge = { 'content-type': 'application/merge-patch+json' };
  const { status } = await api.call('PATCH', cursorPath, { data: { cursor } }, merge);
  if (status !== 200) throw new Error(`f8: PATCH ${cursorPath}: ${status}`);
}
