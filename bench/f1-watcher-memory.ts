// f1: the watcher's memory for each object, compared with controller-runtime's metadata informer and the official
// client's informer of the same objects: live heap after garbage collection, and resident memory at the same settled
// moment. Each runs in a fresh process. The memory of a process that watches a thousand objects is subtracted: code and
// buffers, which do not belong to objects, exist by then.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { build } from '@outrigger/cli/commands/build';
import * as z from 'zod';
import { compare, type Goal } from './compare.ts';
import { type ContestOptions, measureInTurn } from './contest.ts';
import { clientNode, type Follow, type Follower, metadataInformer, watcher } from './f1-followers.ts';
import { startMetadataServer } from './metadata-server.ts';
import type { Row } from './row.ts';

/** Two pages of a list. */
const baselineObjects = 1_000;
/** Resident memory is settled when another collection frees less than this share of it. */
const settledWhen = { part: 0.005, everyMs: 300, attempts: 40 };

/** Outrigger first. */
const followers = [
  { name: 'Outrigger', follow: watcher },
  { name: 'controller-runtime’s metadata informer', follow: metadataInformer('default') },
  { name: 'controller-runtime’s metadata informer without managedFields', follow: metadataInformer('stripped') },
  { name: 'client-node’s informer', follow: clientNode },
] as const;

const liveHeapGoals: readonly Goal[] = [{ most: 500 }];
const residentGoals: readonly Goal[] = [
  { than: 'controller-runtime’s metadata informer', times: 1 / 5 },
  { than: 'client-node’s informer', times: 1 / 20 },
];

/** The memory of a process, in bytes. */
export type Memory = { readonly liveHeap: number; readonly rss: number };

/** Measures this number of watched objects of a child kind. */
export async function f1({
  counts = [10_000, 100_000],
  ...options
}: ContestOptions & { readonly counts?: readonly number[] }): Promise<readonly Row[]> {
  await build(process.cwd());
  const outcomes = await measureInTurn(
    followers.map(({ name, follow }) => ({ name, measure: () => measureGrowth(follow, counts) })),
    options,
  );
  return counts.flatMap((count, index) => {
    const row = (
      about: { readonly what: string; readonly unit: string; readonly goals: readonly Goal[] },
      perObject: FigureOf,
    ) =>
      compare(
        { figure: 'f1', ...about, what: `${about.what}, ${count} objects` },
        outcomes,
        ({ each }: Growth) => perObject(each[index]) ?? Number.NaN,
      );
    return [
      row({ what: 'live heap of an object', unit: 'B', goals: liveHeapGoals }, (one) => one?.object.liveHeap),
      row({ what: 'RSS of an object', unit: 'B', goals: residentGoals }, (one) => one?.object.rss),
      row({ what: 'RSS of the whole process', unit: 'MB', goals: [] }, (one) => one && one.whole.rss / 1e6),
    ];
  });
}

type FigureOf = (one: Growth['each'][number] | undefined) => number | undefined;

type Growth = { readonly each: readonly { readonly whole: Memory; readonly object: Memory }[] };

/** Measures a follower's memory with each number of objects, as a whole and for each object beyond `few`. */
export async function measureGrowth(follow: Follow, counts: readonly number[], few = baselineObjects): Promise<Growth> {
  const none = await memoryWith(follow, few);
  const each = [];
  for (const count of counts) {
    const whole = await memoryWith(follow, count);
    const perObject = (before: number, after: number) => (after - before) / (count - few);
    each.push({
      whole,
      object: { liveHeap: perObject(none.liveHeap, whole.liveHeap), rss: perObject(none.rss, whole.rss) },
    });
  }
  return { each };
}

/** Lets a program watch this number of objects in a process of its own, and returns its settled memory. */
async function memoryWith(follow: Follow, count: number): Promise<Memory> {
  await using cleanup = new AsyncDisposableStack();
  const server = await startMetadataServer(count);
  cleanup.defer(() => server.stop());
  return await settledMemory(await follow(cleanup, { url: server.url, count }));
}

/** Returns the memory of an idle process, when further collections free nothing more. */
export async function settledMemory(follower: Follower): Promise<Memory> {
  let now = await collectGarbage(follower);
  for (let attempt = 0; attempt < settledWhen.attempts; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, settledWhen.everyMs));
    const before = now.rss;
    now = await collectGarbage(follower);
    if (now.rss > before * (1 - settledWhen.part)) break;
  }
  return now;
}

const collection = z.object({ liveHeap: z.number() });

/** Makes the process collect its garbage, and reads its memory. */
async function collectGarbage({ pid, lines }: Follower): Promise<Memory> {
  const signal = AbortSignal.timeout(60_000);
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    const [line] = await once(lines, 'line', { signal });
    const said = collection.safeParse(JSON.parse(String(line)));
    if (said.success) return { liveHeap: said.data.liveHeap, rss: await residentBytes(pid) };
  }
}

/** VmRSS of proc_pid_status(5), or VmHWM, the most that it was. */
export async function residentBytes(pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}
