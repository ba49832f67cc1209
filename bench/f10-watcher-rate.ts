// f10: how many events a second the deployed watcher forwards from a socket to SQS on one processor without falling
// behind, and the CPU time of a thousand events, compared with controller-runtime's metadata informer, which only
// stores the same events in its cache. API server and queue are separate processes that use as little CPU as possible.
import path from 'node:path';
import { build } from '@outrigger/cli/commands/build';
import * as z from 'zod';
import {
  cpuSeconds,
  type GuardedProcess,
  type MessageProcess,
  startGuarded,
  startMessageProcess,
} from './child-process.ts';
import { compare } from './compare.ts';
import { type ContestOptions, measureInTurn } from './contest.ts';
import { deployedWatcher } from './deployed-watcher.ts';
import type { Emit } from './frames/event-server.ts';
import { goPrograms } from './peers/go-programs.ts';
import { readProfile } from './profile.ts';
import type { Row } from './row.ts';

/** So many that none changes twice within a second at the highest rate: a key that was just sent waits. */
const objects = 20_000;
const rates = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000, 12_000, 14_000, 16_000, 18_000, 20_000];
const seconds = 8;
/** More than half a second of events behind after this time counts as falling behind. */
const behindSeconds = 0.5;
/** A rate that every program keeps up with, at which the costs are compared. */
const baseline = { perSecond: 1_000, seconds: 10 };
const timeoutMs = 120_000;
const goal = { perSecond: 5_000 };
const ours = 'Outrigger';
const withoutSending = 'Outrigger without sending';
const peer = 'controller-runtime’s metadata informer';

/** A program that watches the events: how many it has processed, and its process. */
type Follower = Pick<GuardedProcess, 'pid' | 'died'> & {
  processedCount(): Promise<number>;
  requests?(): Promise<number>;
};

/** Measures rate and cost of both; or, with a folder, writes a CPU profile of Outrigger only. */
export async function f10({
  profile,
  ...options
}: ContestOptions & { readonly profile?: string }): Promise<readonly Row[]> {
  if (profile !== undefined) {
    await measureRate((cleanup, url) => startOurs(cleanup, url, [`--cpu-prof`, `--cpu-prof-dir=${profile}`]));
    const costs = (await readProfile(profile)).slice(0, 12);
    return costs.map(({ place, part }) => ({
      figure: 'f10',
      what: place,
      ours: `${(part * 100).toFixed(1)} % of the watcher’s time`,
      goal: '-',
    }));
  }
  const outcomes = await measureInTurn<RateResult>(
    [
      { name: ours, measure: () => measureRate(startOurs) },
      { name: withoutSending, measure: () => measureRate(startKeysOnly, []) },
      { name: peer, measure: () => measureRate(startPeer) },
    ],
    options,
  );
  const without = (absent: string) => outcomes.filter(({ name }) => name !== absent);
  const cpu = { figure: 'f10', unit: 'ms' };
  return [
    compare(
      { figure: 'f10', what: 'events until lag grows, one processor', unit: '/s', goals: [{ least: goal.perSecond }] },
      without(withoutSending),
      ({ rate }) => rate,
    ),
    compare(
      { ...cpu, what: `CPU of 1,000 events at ${baseline.perSecond}/s`, goals: [{ than: peer, times: 1 }] },
      without(withoutSending),
      ({ cost }) => cost * 1000,
    ),
    compare(
      {
        ...cpu,
        what: 'the same without sending: from events to keys, as far as the informer goes',
        goals: [],
      },
      without(ours),
      ({ cost }) => cost * 1000,
    ),
    compare(
      {
        ...cpu,
        what: `keys in a request to SQS at ${baseline.perSecond}/s, of at most 10`,
        unit: 'keys',
        goals: [],
      },
      outcomes.slice(0, 1),
      ({ keysPerRequest }) => keysPerRequest,
    ),
  ];
}

/** The result of a run of f10. */
type RateResult = { readonly rate: number; readonly cost: number; readonly keysPerRequest: number };

type Start = (cleanup: AsyncDisposableStack, apiServer: string) => Promise<Follower>;

/**
 * Measures the highest rate that a program kept up with, in events a second, and the CPU seconds of a thousand events.
 */
async function measureRate(start: Start, ratesToTry: readonly number[] = rates): Promise<RateResult> {
  await using cleanup = new AsyncDisposableStack();
  const frames = await startMessageProcess<Emit, z.infer<typeof emitResult>>(
    cleanup,
    'frames/event-server.ts',
    [String(objects)],
    (message) => emitResult.parse(message),
  );
  const follower = await start(cleanup, frames.first.url ?? '');
  const emitted = async (emit: Emit) => {
    const before = await follower.processedCount();
    const from = performance.now();
    const { sent = 0 } = await frames.request(emit);
    const elapsed = (performance.now() - from) / 1000;
    const behind = before + sent - (await follower.processedCount());
    // Rates beyond what the event server can produce are not tried.
    const isPaceKept = elapsed < emit.seconds + behindSeconds;
    return { sent, behind, isPaceKept, allProcessed: () => untilProcessed(follower, before + sent) };
  };
  // A first run is not measured, because code is compiled in it.
  await (await emitted(baseline)).allProcessed();
  const requests = async () => (await follower.requests?.()) ?? 0;
  const before = { cpu: await cpuSeconds(follower.pid), requests: await requests() };
  const { sent, allProcessed } = await emitted(baseline);
  await allProcessed();
  const cost = ((await cpuSeconds(follower.pid)) - before.cpu) / (sent / 1000);
  const keysPerRequest = sent / ((await requests()) - before.requests);
  let rate = 0;
  for (const perSecond of ratesToTry) {
    const one = await emitted({ perSecond, seconds });
    // A program that is far behind sends one key for several changes, and never reaches the count.
    if (one.behind > perSecond * behindSeconds || !one.isPaceKept) break;
    await one.allProcessed();
    rate = perSecond;
  }
  return { rate, cost, keysPerRequest };
}

const emitResult = z.object({ url: z.string().optional(), sent: z.number().optional() });
const counted = z.object({ url: z.string().optional(), keys: z.number().optional(), requests: z.number().optional() });

/** The deployed watcher, and the queue that it sends to. */
async function startOurs(
  cleanup: AsyncDisposableStack,
  apiServer: string,
  nodeArguments: readonly string[] = [],
): Promise<Follower> {
  await build(process.cwd());
  const queue: MessageProcess<object, z.infer<typeof counted>> & { readonly first: z.infer<typeof counted> } =
    await startMessageProcess(cleanup, 'frames/counting-queue.ts', [], (message) => counted.parse(message));
  // The initial list is not part of the measurement, so its rate is not limited.
  const { file, nodeOptions, environment } = await deployedWatcher(cleanup, {
    apiServer,
    queue: queue.first.url ?? '',
  });
  const watcher = onOneProcessor(cleanup, process.execPath, [...nodeArguments, ...nodeOptions, file], environment);
  const follower = {
    ...watcher,
    processedCount: async () => (await queue.request({})).keys ?? 0,
    requests: async () => (await queue.request({})).requests ?? 0,
  };
  await untilProcessed(follower, objects);
  return follower;
}

/** The watcher without its queue, which prints how many keys it has created. */
async function startKeysOnly(cleanup: AsyncDisposableStack, apiServer: string): Promise<Follower> {
  const program = path.join(import.meta.dirname, 'frames/keys-only-watcher.ts');
  const watcher = onOneProcessor(cleanup, process.execPath, [program, apiServer], {});
  const processedCount = lastOf(watcher, (line) => z.object({ keys: z.number() }).parse(line).keys);
  const follower = { ...watcher, processedCount: async () => processedCount() ?? 0 };
  await untilProcessed(follower, objects);
  return follower;
}

const informerCounts = z.object({ objects: z.number(), events: z.number(), synced: z.boolean() });

/** The peer, which prints its counts. */
async function startPeer(cleanup: AsyncDisposableStack, apiServer: string): Promise<Follower> {
  const { 'metadata-informer': metadataInformer } = await goPrograms();
  const informer = onOneProcessor(cleanup, metadataInformer, [apiServer, 'samples.example.com/v1', 'Foo'], {
    GOMAXPROCS: '1',
  });
  const last = lastOf(informer, (line) => informerCounts.parse(line));
  const storedCount = async () => (last()?.synced === true ? (last()?.objects ?? 0) : 0);
  await untilProcessed({ ...informer, processedCount: storedCount }, objects);
  return { ...informer, processedCount: async () => last()?.events ?? 0 };
}

/** Returns the last line that a program has printed. */
function lastOf<Line>({ lines }: GuardedProcess, parse: (line: unknown) => Line): () => Line | undefined {
  let last: Line | undefined;
  lines.on('line', (line) => {
    last = parse(JSON.parse(line));
  });
  return () => last;
}

/** Starts a program on one processor, with Linux' taskset. */
function onOneProcessor(
  cleanup: AsyncDisposableStack,
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): GuardedProcess {
  const child = startGuarded('taskset', ['--cpu-list', '0', program, ...args], {
    env: { PATH: process.env.PATH, NODE_OPTIONS: process.env.NODE_OPTIONS, ...environment },
  });
  cleanup.defer(() => child.end('SIGTERM'));
  return child;
}

async function untilProcessed(follower: Follower, expected: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const processedCount = await Promise.race([follower.processedCount(), follower.died]);
    if (processedCount >= expected) return;
    if (performance.now() > until)
      throw new Error(`f10: ${processedCount} of ${expected} events after ${timeoutMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
