// f1: what the watcher keeps of an object, beside controller-runtime's metadata informer and the official client's informer over the same
// objects: live heap after garbage collection, and what the kernel counts as resident at the same settled moment. Each in a fresh process.
// What an object takes is what following a thousand takes off: code and buffers are no object's, and those are there by then.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { build } from '../src/cli/build.ts';
import { compare, type Goal } from './compare.ts';
import { alternate, type ContestOptions } from './contest.ts';
import { clientNode, type Follow, type Follower, metadataInformer, watcher } from './f1-followers.ts';
import { startMetadataServer } from './metadata-server.ts';
import type { Row } from './row.ts';

/** Two pages of a list. */
const handful = 1_000;
/** Resident memory is settled when a further collection frees less than this part of it. */
const settled = { part: 0.005, everyMs: 300, attempts: 40 };

/** Ours first. */
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

/** What a process holds, in bytes. */
type Held = { readonly liveHeap: number; readonly rss: number };

/** Measures so many watched objects of a kind that is somebody's child. */
export async function f1({
  counts = [10_000, 100_000],
  ...options
}: ContestOptions & { readonly counts?: readonly number[] }): Promise<readonly Row[]> {
  await build(process.cwd());
  const outcomes = await alternate(
    followers.map(({ name, follow }) => ({ name, measure: () => grown(follow, counts) })),
    options,
  );
  return counts.flatMap((count, index) => {
    const row = (
      about: { readonly what: string; readonly unit: string; readonly goals: readonly Goal[] },
      of: FigureOf,
    ) =>
      compare(
        { figure: 'f1', ...about, what: `${about.what}, ${count} objects` },
        outcomes,
        ({ each }: Grown) => of(each[index]) ?? Number.NaN,
      );
    return [
      row({ what: 'live heap of an object', unit: 'B', goals: liveHeapGoals }, (one) => one?.object.liveHeap),
      row({ what: 'RSS of an object', unit: 'B', goals: residentGoals }, (one) => one?.object.rss),
      row({ what: 'RSS of the whole process', unit: 'MB', goals: [] }, (one) => one && one.whole.rss / 1e6),
    ];
  });
}

type FigureOf = (one: Grown['each'][number] | undefined) => number | undefined;

type Grown = { readonly each: readonly { readonly whole: Held; readonly object: Held }[] };

/** What a follower holds of so many objects each, as a whole and for one object more than `few`. */
export async function grown(follow: Follow, counts: readonly number[], few = handful): Promise<Grown> {
  const none = await heldBy(follow, few);
  const each = [];
  for (const count of counts) {
    const whole = await heldBy(follow, count);
    const of = (before: number, after: number) => (after - before) / (count - few);
    each.push({ whole, object: { liveHeap: of(none.liveHeap, whole.liveHeap), rss: of(none.rss, whole.rss) } });
  }
  return { each };
}

/** Lets somebody follow so many objects in a process of its own, and returns what it holds when it has come to rest. */
async function heldBy(follow: Follow, count: number): Promise<Held> {
  await using parts = new AsyncDisposableStack();
  const server = await startMetadataServer(count);
  parts.defer(() => server.stop());
  const follower = await follow(parts, { url: server.url, count });
  let now = await collected(follower);
  for (let attempt = 0; attempt < settled.attempts; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, settled.everyMs));
    const before = now.rss;
    now = await collected(follower);
    if (now.rss > before * (1 - settled.part)) break;
  }
  return now;
}

const collection = z.object({ liveHeap: z.number() });

/** Lets it collect its garbage, and reads what is left. */
async function collected({ pid, lines }: Follower): Promise<Held> {
  const signal = AbortSignal.timeout(60_000);
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    const [line] = await once(lines, 'line', { signal });
    const said = collection.safeParse(JSON.parse(String(line)));
    if (said.success) return { liveHeap: said.data.liveHeap, rss: await residentBytes(pid) };
  }
}

/** VmRSS, as proc_pid_status(5) has it. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
