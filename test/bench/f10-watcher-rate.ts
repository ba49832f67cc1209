// f10: how many events a second the deployed watcher carries from a socket to SQS on one processor until its lag grows, and what a
// thousand of them cost, beside controller-runtime's metadata informer, which carries the same frames into its cache and no further.
// API server and queue are processes of their own, and make and take as little as can be.
import path from 'node:path';
import * as z from 'zod';
import { build } from '../../src/cli/build.ts';
import { cpuSeconds, type HeldProcess, type Spoken, startHeld, startSpoken } from '../../bench/child-process.ts';
import { compare } from '../../bench/compare.ts';
import { alternate, type ContestOptions } from '../../bench/contest.ts';
import { deployedWatcher } from '../../bench/deployed-watcher.ts';
import type { Emit } from '../../bench/frames/event-server.ts';
import { goPrograms } from '../../bench/peers/go-programs.ts';
import { readProfile } from '../../bench/profile.ts';
import type { Row } from '../../bench/row.ts';

/** So many that none changes twice within a second at the highest pace: a key that was just sent waits. */
const objects = 20_000;
const paces = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000, 12_000, 14_000, 16_000, 18_000, 20_000];
const seconds = 8;
/** More than half a second of events behind after so many seconds is falling behind. */
const behindSeconds = 0.5;
/** What everybody keeps up with: where cost is compared. */
const calm = { perSecond: 1_000, seconds: 10 };
const patienceMs = 120_000;
const goal = { perSecond: 5_000 };
const ours = 'Outrigger';
const keysAlone = 'Outrigger without sending';
const peer = 'controller-runtime’s metadata informer';

/** Who follows the frames: how many it has carried, and which process pays. */
type Follower = Pick<HeldProcess, 'pid' | 'died'> & { carried(): Promise<number>; requests?(): Promise<number> };

/** Measures pace and cost of both; or, into a folder, a CPU profile of ours alone. */
export async function f10({
  profile,
  ...options
}: ContestOptions & { readonly profile?: string }): Promise<readonly Row[]> {
  if (profile !== undefined) {
    await measured((parts, url) => startOurs(parts, url, [`--cpu-prof`, `--cpu-prof-dir=${profile}`]));
    const costs = (await readProfile(profile)).slice(0, 12);
    return costs.map(({ place, part }) => ({
      ...{ figure: 'f10', what: place, ours: `${(part * 100).toFixed(1)} % of the watcher’s time`, goal: '-' },
    }));
  }
  const outcomes = await alternate<Carried>(
    [
      { name: ours, measure: () => measured(startOurs) },
      { name: keysAlone, measure: () => measured(startKeysOnly, []) },
      { name: peer, measure: () => measured(startPeer) },
    ],
    options,
  );
  const without = (absent: string) => outcomes.filter(({ name }) => name !== absent);
  const cpu = { figure: 'f10', unit: 'ms' };
  return [
    compare(
      { figure: 'f10', what: 'events until lag grows, one processor', unit: '/s', goals: [{ least: goal.perSecond }] },
      without(keysAlone),
      ({ pace }) => pace,
    ),
    compare(
      { ...cpu, what: `CPU of 1,000 events at ${calm.perSecond}/s`, goals: [{ than: peer, times: 1 }] },
      without(keysAlone),
      ({ cost }) => cost * 1000,
    ),
    compare(
      {
        ...cpu,
        what: 'the same with sending cut out: frames to keys, which is as far as the informer goes',
        goals: [],
      },
      without(ours),
      ({ cost }) => cost * 1000,
    ),
    compare(
      {
        ...cpu,
        what: `keys in a request to SQS at ${calm.perSecond}/s, of the 10 that it takes`,
        unit: 'keys',
        goals: [],
      },
      outcomes.slice(0, 1),
      ({ keysPerRequest }) => keysPerRequest,
    ),
  ];
}

/** What a run of f10 tells. */
type Carried = { readonly pace: number; readonly cost: number; readonly keysPerRequest: number };

type Start = (parts: AsyncDisposableStack, apiServer: string) => Promise<Follower>;

/** The highest pace that a follower kept up with, in events a second, and the CPU seconds of a thousand events. */
async function measured(start: Start, tried: readonly number[] = paces): Promise<Carried> {
  await using parts = new AsyncDisposableStack();
  const frames = await startSpoken<Emit, z.infer<typeof told>>(
    parts,
    'frames/frame-server.ts',
    [String(objects)],
    (message) => told.parse(message),
  );
  const follower = await start(parts, frames.first.url ?? '');
  const emitted = async (emit: Emit) => {
    const before = await follower.carried();
    const from = performance.now();
    const { sent = 0 } = await frames.ask(emit);
    const took = (performance.now() - from) / 1000;
    const behind = before + sent - (await follower.carried());
    // Beyond what the server of the frames can make nobody is tried.
    const isPaceKept = took < emit.seconds + behindSeconds;
    return { sent, behind, isPaceKept, allCarried: () => untilCarried(follower, before + sent) };
  };
  // Once for nothing: what runs for the first time is compiled.
  await (await emitted(calm)).allCarried();
  const requests = async () => (await follower.requests?.()) ?? 0;
  const before = { cpu: await cpuSeconds(follower.pid), requests: await requests() };
  const { sent, allCarried } = await emitted(calm);
  await allCarried();
  const cost = ((await cpuSeconds(follower.pid)) - before.cpu) / (sent / 1000);
  const keysPerRequest = sent / ((await requests()) - before.requests);
  let pace = 0;
  for (const perSecond of tried) {
    const one = await emitted({ perSecond, seconds });
    // Who is far behind sends one key for several changes, and is never done with all.
    if (one.behind > perSecond * behindSeconds || !one.isPaceKept) break;
    await one.allCarried();
    pace = perSecond;
  }
  return { pace, cost, keysPerRequest };
}

const told = z.object({ url: z.string().optional(), sent: z.number().optional() });
const counted = z.object({ url: z.string().optional(), keys: z.number().optional(), requests: z.number().optional() });

/** The deployed watcher, and the queue that it fills. */
async function startOurs(
  parts: AsyncDisposableStack,
  apiServer: string,
  nodeArguments: readonly string[] = [],
): Promise<Follower> {
  await build(process.cwd());
  const queue: Spoken<object, z.infer<typeof counted>> & { readonly first: z.infer<typeof counted> } =
    await startSpoken(parts, 'frames/counting-queue.ts', [], (message) => counted.parse(message));
  // What is listed at the start is no part of the figure, and nobody else's turn is to be kept.
  const { file, nodeOptions, environment } = await deployedWatcher(parts, {
    apiServer,
    queue: queue.first.url ?? '',
  });
  const watcher = onOneProcessor(parts, process.execPath, [...nodeArguments, ...nodeOptions, file], environment);
  const follower = {
    ...watcher,
    carried: async () => (await queue.ask({})).keys ?? 0,
    requests: async () => (await queue.ask({})).requests ?? 0,
  };
  await untilCarried(follower, objects);
  return follower;
}

/** The watcher without its queue, which prints how many keys it has made. */
async function startKeysOnly(parts: AsyncDisposableStack, apiServer: string): Promise<Follower> {
  const program = path.join(import.meta.dirname, 'frames/keys-only-watcher.ts');
  const watcher = onOneProcessor(parts, process.execPath, [program, apiServer], {});
  const carried = lastOf(watcher, (line) => z.object({ keys: z.number() }).parse(line).keys);
  const follower = { ...watcher, carried: async () => carried() ?? 0 };
  await untilCarried(follower, objects);
  return follower;
}

const followed = z.object({ objects: z.number(), events: z.number(), synced: z.boolean() });

/** The peer, which prints what it has. */
async function startPeer(parts: AsyncDisposableStack, apiServer: string): Promise<Follower> {
  const { 'metadata-informer': metadataInformer } = await goPrograms();
  const informer = onOneProcessor(parts, metadataInformer, [apiServer, 'samples.example.com/v1', 'Foo'], {
    GOMAXPROCS: '1',
  });
  const last = lastOf(informer, (line) => followed.parse(line));
  const held = async () => (last()?.synced === true ? (last()?.objects ?? 0) : 0);
  await untilCarried({ ...informer, carried: held }, objects);
  return { ...informer, carried: async () => last()?.events ?? 0 };
}

/** What a program has last printed. */
function lastOf<Line>({ lines }: HeldProcess, parse: (line: unknown) => Line): () => Line | undefined {
  let last: Line | undefined;
  lines.on('line', (line) => {
    last = parse(JSON.parse(line));
  });
  return () => last;
}

/** Starts a program that gets one processor, with Linux' taskset. */
function onOneProcessor(
  parts: AsyncDisposableStack,
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): HeldProcess {
  const child = startHeld('taskset', ['--cpu-list', '0', program, ...args], {
    env: { PATH: process.env.PATH, ...environment },
  });
  parts.defer(() => child.end('SIGTERM'));
  return child;
}

async function untilCarried(follower: Follower, wanted: number): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const carried = await Promise.race([follower.carried(), follower.died]);
    if (carried >= wanted) return;
    if (performance.now() > until) throw new Error(`f10: ${carried} of ${wanted} after ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
