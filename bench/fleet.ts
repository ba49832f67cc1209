// The effect of one faulty cluster on the others: the p99 of the time from a change to its status in two clusters,
// while a third is unreachable, slow, has an expired token or a burst of changes, compared with runs without a fault.
// One set of functions serves all three.
import { setTimeout as wait } from 'node:timers/promises';
import { formatMessage, type Message } from '../src/sqs/message.ts';
import { type Fleet, openFleet } from '../test/fleet/fleet.ts';
import type { ClusterFault } from '../test/fleet/member.ts';
import { followPortions, type PortionLatency } from './portion-latency.ts';
import type { Row } from './row.ts';
import { quantile } from './spread.ts';

/** The number of concurrent batches, as in serverless.yml. */
const concurrency = 10;
const changes = 120;
/**
 * Each object is changed every eight seconds: a key that was sent less than a second ago waits, which is not measured
 * here.
 */
const normalLoad = { portions: 24, perSecond: 3 };
/** 10,000 changes a minute. */
const overload = { portions: 300, perSecond: 167 };
/**
 * The rate limit of the watchers. The functions share the two cores of this machine with three API servers and the
 * queues, and process some tens of keys a second; the default is for functions that process 500.
 */
const rateLimit = { perSecond: 5, burst: 5 };
const watcher = { RATE_LIMIT_PER_SECOND: `${rateLimit.perSecond}`, RATE_LIMIT_BURST: `${rateLimit.burst}` };
const startSeconds = 600;
/** The time from the start of a fault to its measurement, so that its first effects are over. */
const leadMilliseconds = 3_000;
/** The number of keys of each cluster that start the environments, and warm up Node's compiler. */
const warmUpKeys = 500;
const pollMilliseconds = 200;

const faults: readonly (readonly [ClusterFault, string])[] = [
  ['slow', 'takes 1.5 s for each response'],
  ['down', 'is unreachable'],
  ['expired', 'has an expired token'],
];

/** Measures. */
export async function measureFleet(): Promise<readonly Row[]> {
  const aborter = new AbortController();
  await using fleet = await openFleet({ concurrency }, AbortSignal.timeout(startSeconds * 1000));
  try {
    const members = [
      await fleet.add('one', watcher),
      await fleet.add('two', watcher),
      await fleet.add('third', watcher),
    ] as const;
    const follow = (member: (typeof members)[number], portions: number) =>
      followPortions(member.api, { portions, signal: aborter.signal });
    const [, , third] = members;
    const others = [await follow(members[0], normalLoad.portions), await follow(members[1], normalLoad.portions)];
    const troubled = await follow(third, overload.portions);

    const baseline: number[] = [];
    const measureBaseline = async () => {
      const [latencies] = await Promise.all([p99s(others), troubled.measure(changes, normalLoad)]);
      logLatencies('calm', latencies);
      return latencies;
    };
    await warmUp(fleet, members);
    await measureBaseline();
    const found: (readonly [what: string, latencies: readonly number[]])[] = [];
    const addRow = (what: string, latencies: readonly number[]) => {
      logLatencies(what, latencies);
      found.push([what, latencies]);
    };
    // Runs without a fault are measured between the others, so that other load of the machine is in their spread too.
    for (const [trouble, what] of faults) {
      baseline.push(...(await measureBaseline()));
      third.inject(trouble);
      const edits = troubled.measure(changes, normalLoad);
      await wait(leadMilliseconds);
      addRow(what, await p99s(others));
      third.heal();
      await edits;
      await troubled.settled();
    }
    baseline.push(...(await measureBaseline()));
    const measureOverload = async () => {
      const over = new AbortController();
      const since = performance.now();
      const flooding = troubled.flood({ perSecond: overload.perSecond, signal: over.signal });
      await wait(leadMilliseconds);
      const latencies = await p99s(others);
      over.abort();
      return { latencies, perMinute: Math.round(((await flooding) * 60_000) / (performance.now() - since)) };
    };
    const watched = await measureOverload();
    const rateLimitText = `with a rate limit of ${rateLimit.perSecond} a second and a burst of ${rateLimit.burst}`;
    addRow(`has ${watched.perMinute} changes a minute, ${rateLimitText}`, watched.latencies);
    await troubled.settled();
    baseline.push(...(await measureBaseline()));
    // The part of the effect that comes from the shared machine: measured once more without a watcher.
    await third.stopWatcher();
    const unwatched = await measureOverload();
    const control = rowOf(
      `has ${unwatched.perMinute} changes a minute without a watcher`,
      unwatched.latencies,
      baseline,
    );
    return [...found.map(([what, latencies]) => rowOf(what, latencies, baseline)), { ...control, goal: '-' }];
  } finally {
    aborter.abort();
  }
}

/**
 * Starts the maximum number of environments of the function, and lets each serve every cluster. A rise of load that
 * needs another environment waits for its cold start, whichever cluster causes it; that is not measured here.
 */
async function warmUp(fleet: Fleet, members: readonly { readonly name: string }[]): Promise<void> {
  const { length: before } = fleet.pids();
  const messages = members.flatMap(({ name: cluster }) =>
    Array.from({ length: warmUpKeys }, (_, index): Message => {
      const kind = { group: 'kitchen.example.com', resource: 'ingredients' };
      const key = { namespace: 'default', name: `portion-${index % normalLoad.portions}` };
      const cause = { type: 'change', observedAt: Date.now() } as const;
      return { controller: 'ingredient', cluster, ...kind, ...key, cause };
    }),
  );
  await Promise.all(messages.map((message) => fleet.send('ingredient.fifo', formatMessage(message))));
  while ((await fleet.depth('ingredient.fifo')) > 0) await wait(pollMilliseconds);
  process.stderr.write(`  environments: ${before}, warmed up: ${fleet.pids().length}\n`);
}

async function p99s(clusters: readonly PortionLatency[]): Promise<readonly number[]> {
  const latencies = await Promise.all(clusters.map((one) => one.measure(changes, normalLoad)));
  return latencies.map((each) => quantile(each, 0.99));
}

function rowOf(what: string, latencies: readonly number[], baseline: readonly number[]): Row {
  return {
    figure: 'fleet',
    what: `p99 of two clusters while a third ${what}`,
    ours: formatLatencies(latencies),
    peer: `in ${baseline.length / 2} runs without a fault ${formatLatencies([Math.min(...baseline), Math.max(...baseline)])}`,
    ratio: (Math.max(...latencies) / Math.max(...baseline)).toFixed(2),
    goal: '1 at most',
  };
}

const formatLatencies = (latencies: readonly number[]) => `${latencies.map((one) => one.toFixed(0)).join(' to ')} ms`;
const logLatencies = (what: string, latencies: readonly number[]) =>
  void process.stderr.write(`  ${what}: ${formatLatencies(latencies)}\n`);
