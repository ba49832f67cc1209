// What a bad cluster costs the others: the p99 of the time from a change to the status that speaks of it, in two clusters, while a
// third cannot be reached, is slow, has an expired token or floods, beside runs in which nothing is wrong. One set of functions
// serves all three.
import { setTimeout as wait } from 'node:timers/promises';
import { formatMessage, type Message } from '../../src/queue/message.ts';
import { type Fleet, openFleet } from '../fleet/fleet.ts';
import type { Trouble } from '../fleet/member.ts';
import { followPortions, type PortionLag } from '../../bench/portion-latency.ts';
import type { Row } from '../../bench/row.ts';
import { quantile } from '../../bench/spread.ts';

/** Batches at once, as serverless.yml allows. */
const concurrency = 10;
const changes = 120;
/** An object is touched every eight seconds: a key that was sent less than a second ago waits, and that is not measured here. */
const usual = { portions: 24, perSecond: 3 };
/** 10,000 a minute. */
const flood = { portions: 300, perSecond: 167 };
/**
 * The pace of the watchers. The functions of this machine share two cores with three API servers and the queues, and work off some
 * tens of keys a second; the default is for functions that work off 500.
 */
const pace = { perSecond: 5, burst: 5 };
const watcher = { FORWARD_PER_SECOND: `${pace.perSecond}`, FORWARD_BURST: `${pace.burst}` };
const startSeconds = 600;
/** How long a trouble lasts before it is measured: what is new about it is over. */
const aheadMilliseconds = 3_000;
/** Keys of each cluster that start the environments, and let Node compile what is run often. */
const keysAhead = 500;
const lookMilliseconds = 200;

const troubles: readonly (readonly [Trouble, string])[] = [
  ['slow', 'takes 1.5 s for each answer'],
  ['down', 'cannot be reached'],
  ['expired', 'has an expired token'],
];

/** Measures. */
export async function fleetLag(): Promise<readonly Row[]> {
  const stop = new AbortController();
  await using fleet = await openFleet({ concurrency }, AbortSignal.timeout(startSeconds * 1000));
  try {
    const members = [
      await fleet.add('one', watcher),
      await fleet.add('two', watcher),
      await fleet.add('third', watcher),
    ] as const;
    const follow = (member: (typeof members)[number], portions: number) =>
      followPortions(member.api, { portions, signal: stop.signal });
    const [, , third] = members;
    const others = [await follow(members[0], usual.portions), await follow(members[1], usual.portions)];
    const troubled = await follow(third, flood.portions);

    const calm: number[] = [];
    const measureCalm = async () => {
      const [lags] = await Promise.all([p99s(others), troubled.measure(changes, usual)]);
      say('calm', lags);
      return lags;
    };
    await warmUp(fleet, members);
    await measureCalm();
    const found: (readonly [what: string, lags: readonly number[]])[] = [];
    const note = (what: string, lags: readonly number[]) => {
      say(what, lags);
      found.push([what, lags]);
    };
    // Calm runs lie between the others, so that what else the machine does is in their spread.
    for (const [trouble, what] of troubles) {
      calm.push(...(await measureCalm()));
      third.trouble(trouble);
      const edits = troubled.measure(changes, usual);
      await wait(aheadMilliseconds);
      note(what, await p99s(others));
      third.heal();
      await edits;
      await troubled.settled();
    }
    calm.push(...(await measureCalm()));
    const measureFlood = async () => {
      const over = new AbortController();
      const since = performance.now();
      const flooding = troubled.flood({ perSecond: flood.perSecond, signal: over.signal });
      await wait(aheadMilliseconds);
      const lags = await p99s(others);
      over.abort();
      return { lags, perMinute: Math.round(((await flooding) * 60_000) / (performance.now() - since)) };
    };
    const watched = await measureFlood();
    const paced = `the watchers' pace being ${pace.perSecond} a second after ${pace.burst}`;
    note(`floods with ${watched.perMinute} changes a minute, ${paced}`, watched.lags);
    await troubled.settled();
    calm.push(...(await measureCalm()));
    // What a flood costs because it is on the same machine: once more, with nobody who forwards it.
    await third.stopWatcher();
    const unwatched = await measureFlood();
    const control = rowOf(`floods with ${unwatched.perMinute} that nobody watches`, unwatched.lags, calm);
    return [...found.map(([what, lags]) => rowOf(what, lags, calm)), { ...control, goal: '-' }];
  } finally {
    stop.abort();
  }
}

/**
 * Starts as many environments of the function as there may be, and lets each meet every cluster. A rise of load that needs another one waits
 * for its cold start whoever causes it, and that is not measured here.
 */
async function warmUp(fleet: Fleet, members: readonly { readonly name: string }[]): Promise<void> {
  const { length: before } = fleet.pids();
  const messages = members.flatMap(({ name: cluster }) =>
    Array.from({ length: keysAhead }, (_, index): Message => {
      const kind = { group: 'kitchen.example.com', resource: 'ingredients' };
      const key = { namespace: 'default', name: `portion-${index % usual.portions}` };
      const again = { lane: 'watch', attempt: 0, deferrals: 0, seenAt: Date.now() } as const;
      return { v: 1, controller: 'ingredient', cluster, ...kind, ...key, ...again };
    }),
  );
  await Promise.all(messages.map((message) => fleet.send('ingredient.fifo', formatMessage(message))));
  while ((await fleet.depth('ingredient.fifo')) > 0) await wait(lookMilliseconds);
  process.stderr.write(`  environments: ${before}, warmed up: ${fleet.pids().length}\n`);
}

async function p99s(clusters: readonly PortionLag[]): Promise<readonly number[]> {
  const lags = await Promise.all(clusters.map((one) => one.measure(changes, usual)));
  return lags.map((each) => quantile(each, 0.99));
}

function rowOf(what: string, lags: readonly number[], calm: readonly number[]): Row {
  return {
    figure: 'fleet',
    what: `p99 of two clusters while a third ${what}`,
    ours: said(lags),
    peer: `in ${calm.length / 2} calm runs ${said([Math.min(...calm), Math.max(...calm)])}`,
    ratio: (Math.max(...lags) / Math.max(...calm)).toFixed(2),
    goal: '1 at most',
  };
}

const said = (lags: readonly number[]) => `${lags.map((one) => one.toFixed(0)).join(' to ')} ms`;
const say = (what: string, lags: readonly number[]) => void process.stderr.write(`  ${what}: ${said(lags)}\n`);
