// The resync from a run to the queues: the lists, the messages and their due times, and the metrics. Against an SQS
// server and an HTTP server for the API. The decision about one object is in plan.test.ts, failing lists and lists in
// several functions in run-failures.test.ts.
import { describe, expect, it } from 'vitest';
import { parseResyncMessage } from '../../src/resync/message.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { dueAtOf, parseMessage } from '../../src/sqs/message.ts';
import { nextTimerStep } from '../../src/timers/timer-message.ts';
import { aGadget, aMissedGadget, listing, polisherController } from './gadgets.ts';
import { many, names, resyncFixture, run, runSeconds, serving } from './resync-harness.ts';

const { aResync, drain, fillQueue, hold, resyncOf, send } = resyncFixture();
const { signal } = new AbortController();

describe('startRun', () => {
  it('startRun sends one message per cluster and controller, with the scheduled time, and reads the depth of a queue once', async () => {
    const resync = aResync({ clusters: { alpha: { type: 'decommissioning' }, beta: { type: 'decommissioning' } } });
    expect(await resync.startRun()).toBe(2);
    expect(resync.depthReads()).toBe(1);
    const messages = (await drain('resync')).map(({ Body = '' }) => parseResyncMessage(Body));
    expect(messages).toHaveLength(2);
    expect(messages).toEqual(
      expect.arrayContaining(
        ['alpha', 'beta'].map((cluster) => ({
          v: 1,
          type: 'resync',
          run,
          cluster,
          controller: 'gadget',
          queueIdle: true,
        })),
      ),
    );
  });

  it('startRun sends another cluster last in other runs, because the last lists of a run that is too long are abandoned', async () => {
    const clusters = ['alpha', 'beta', 'gamma'];
    const resync = aResync({ clusters: Object.fromEntries(clusters.map((name) => [name, { type: 'unknown' }])) });
    const last = new Set<string>();
    for (let runs = 0; runs < 8; runs += 1) {
      await resync.startRun(new Date((runSeconds + 600 * runs) * 1000).toISOString());
      last.add(parseResyncMessage(resync.resyncEntries.at(-1)?.body ?? '').cluster);
    }
    expect([...last].sort()).toEqual(clusters);
  });

  it('a list trusts the depth of its run, unless a change could be newer and count as missed', async () => {
    await fillQueue();
    const { alpha } = await serving(listing([aMissedGadget('missed')]));
    const soon = aResync({ clusters: { alpha }, nowSeconds: runSeconds + 240 });
    await soon.run({ queueIdle: true });
    expect([soon.depthReads(), soon.counts.get('MissedChanges')]).toEqual([0, 1]);
    const late = aResync({ clusters: { alpha }, nowSeconds: runSeconds + 241 });
    await late.run({ queueIdle: true });
    expect([late.depthReads(), late.counts.get('MissedChanges')]).toEqual([1, undefined]);
  });

  it('startRun counts the run, and resets WatcherDown if there is no cluster', async () => {
    // Of empty dead-letter queues nothing is written.
    const empty = aResync({ clusters: {}, countsDeadLetters: true });
    expect(await empty.startRun()).toBe(0);
    expect(Object.fromEntries(empty.counts)).toEqual({ ResyncRuns: 1, WatcherDown: 0 });
    const one = aResync({ clusters: { alpha: { type: 'decommissioning' } } });
    await one.startRun();
    expect(Object.fromEntries(one.counts)).toEqual({ ResyncRuns: 1 });
    await drain('resync');
  });

  it('startRun counts the messages on every dead-letter queue that can be read, although SQS moved them there', async () => {
    const entry = (id: string) => ({ body: id, groupId: id, deduplicationId: id });
    await send('gadget-dlq.fifo', [entry('a'), entry('b')], { signal });
    for (const queue of ['timers-dlq', 'resync-dlq']) await send(queue, [{ body: queue }], { signal });
    // Its queues do not exist.
    const resync = aResync({ more: [polisherController], countsDeadLetters: true });
    const release = await hold('gadget-dlq.fifo');
    await resync.startRun();
    await release();
    expect(resync.counts.get('DeadLetterQueueDepth')).toBe(4);
    expect(resync.lines.filter(({ message }) => message === 'queue depth unknown')).toHaveLength(1);
  });

  it('startRun rejects and counts no run if a message was not sent', async () => {
    const resync = aResync({ clusters: { alpha: { type: 'decommissioning' } }, rejectAll: true });
    await expect(resync.startRun()).rejects.toThrow('throttled');
    expect(resync.counts.has('ResyncRuns')).toBe(false);
  });
});

it('the resync sends to each controller of a kind the keys that this controller has missed', async () => {
  const polished = { type: 'Polished', observedGeneration: 1 };
  const byBoth = aGadget('by-both', { status: { observedGeneration: 1, conditions: [polished] } });
  const bySecond = aGadget('by-second', { status: { conditions: [polished] } });
  const resync = await resyncOf([aGadget('by-first'), byBoth, bySecond], {
    periodSeconds: 36_000_000,
    more: [polisherController],
  });
  expect(await resync.run({}, { controller: polisherController.name })).toEqual([]);
  const sent = resync.timed.map(({ controller, name }) => `${controller}: ${name}`);
  expect(sent.sort()).toEqual(['gadget-polisher: by-first', 'gadget: by-second']);
  // The watchers are checked with the first controller alone.
  expect(resync.counts.get('WatcherDown')).toBe(1);
});

// Control T34.
it('the resync sends the key of a missed change at once, and counts it', async () => {
  const resync = await resyncOf([aGadget('seen'), aMissedGadget('missed')], { periodSeconds: 36_000_000 });
  expect(await resync.run({})).toEqual([]);
  expect(resync.timed).toEqual([
    {
      controller: 'gadget',
      cluster: 'alpha',
      group: 'example.com',
      resource: 'gadgets',
      namespace: 'shop',
      name: 'missed',
      cause: { type: 'resync', run, dueAt: runSeconds + 2, observedAt: (runSeconds + 2) * 1000 },
    },
  ]);
  expect(Object.fromEntries(resync.counts)).toMatchObject({ ResyncPages: 1, ResyncObjects: 2, MissedChanges: 1 });
});

it.each([
  -10_800, 10_800,
])('the age of a change is measured by the API server’s clock, %i s from ours', async (skew) => {
  const serverSeconds = runSeconds + skew;
  const at = (seconds: number) => ({ creationTimestamp: new Date((serverSeconds + seconds) * 1000).toISOString() });
  const missed = ['recent', 'old', 'future'].map((name, index) =>
    aGadget(name, { metadata: { generation: 2, ...at([-60, -600, 7_200][index] ?? 0) } }),
  );
  const { alpha } = await serving(listing(missed), { nowSeconds: serverSeconds });
  const resync = aResync({ clusters: { alpha }, periodSeconds: 36_000_000 });
  expect(await resync.run({})).toEqual([]);
  expect(names(resync.timed).toSorted()).toEqual(['future', 'old']);
  expect(resync.counts.get('MissedChanges')).toBe(2);
});

it('the resync keeps its rate limit for missed changes, and leaves the rest to the next run', async () => {
  const resync = await resyncOf(many(1_200, aMissedGadget), {
    perSecond: 10,
    runIntervalSeconds: 100,
    periodSeconds: 36_000_000,
  });
  expect(await resync.run({})).toEqual([]);
  const perSecond = Map.groupBy(resync.timed, dueAtOf);
  for (const inSecond of perSecond.values()) expect(inSecond.length).toBeLessThanOrEqual(10);
  expect(resync.timed).toHaveLength(1_000);
  expect(resync.counts.get('MissedChanges')).toBe(1_200);
  expect(resync.counts.get('ResyncPages')).toBe(3);
});

it.each([
  ['no', 'a key waits that no function receives, as in a pause', 1, false],
  ['the', 'ten keys are there and a function has one', 10, true],
  ['no', 'eleven keys are there and a function has one', 11, false],
])('the resync counts %s missed changes while %s', async (_no, _while, keys, isIdle) => {
  await fillQueue(keys);
  const release = keys === 1 ? undefined : await hold('gadget.fifo');
  const resync = await resyncOf([aMissedGadget('missed')]);
  await resync.run({});
  await release?.();
  expect([names(resync.timed), resync.counts.has('MissedChanges')]).toEqual([['missed'], isIdle]);
});

it('the resync counts no missed changes while the queue is busy, and sends a key less often as its change ages', async () => {
  await fillQueue();
  const missed = [changed('new', 10), changed('waiting', 41), changed('turn', 41)];
  const resync = await resyncOf(missed, { periodSeconds: 36_000_000 });
  await resync.run({});
  expect(names(resync.timed)).toEqual(['new', 'turn']);
  expect(resync.counts.has('MissedChanges')).toBe(false);
  await drain('gadget.fifo');
  await resync.run({});
  expect(names(resync.timed).slice(2)).toEqual(['new', 'waiting', 'turn']);
});

it('a cluster has the trouble not-reconciled while a change of it is unobserved after three more runs, and its queue is idle', async () => {
  // The change is on the first of two pages.
  const resync = await resyncOf([aMissedGadget('at-work'), changed('new', 33), ...many(500, aGadget)]);
  const troubles = () => resync.counts.get('ClusterTrouble alpha not-reconciled');
  await fillQueue();
  await resync.run({});
  await drain('gadget.fifo');
  expect(troubles()).toBeUndefined();
  await resync.run({});
  expect([troubles(), names(resync.timed).includes('at-work')]).toEqual([1, true]);
  const recent = await resyncOf([changed('new', 33)]);
  await recent.run({});
  expect([recent.counts.get('MissedChanges'), recent.counts.has('ClusterTrouble alpha not-reconciled')]).toEqual([
    1,
    false,
  ]);
});

it('a resync run that is triggered twice adds each key once to the FIFO queue', async () => {
  const resync = await resyncOf(many(20, aGadget));
  await resync.run({}, {});
  expect(resync.timed).toHaveLength(40);
  const forwarded = resync.timed.map(
    (message) => nextTimerStep(message, { nowMs: (dueAtOf(message) ?? 0) * 1000, ids: createFunctionIds() }).entry,
  );
  await send('gadget.fifo', forwarded, { signal });
  const received = (await drain('gadget.fifo')).map(({ Body = '' }) => parseMessage(Body));
  expect([...names(received)].sort()).toEqual([...new Set(names(resync.timed))].sort());
});

it('the resync checks the watchers of a cluster, unless it continues a list', async () => {
  const { alpha } = await serving(listing(many(600, aGadget)));
  const [first, next] = [aResync({ clusters: { alpha } }), aResync({ clusters: { alpha } })];
  await first.run({});
  await next.run({ continue: '500' });
  expect([first.counts.get('WatcherDown'), next.counts.get('WatcherDown')]).toEqual([1, undefined]);
});

/** Makes a gadget whose second generation is unobserved, and so many minutes old. */
function changed(name: string, minutesAgo: number) {
  const creationTimestamp = new Date((runSeconds - minutesAgo * 60) * 1000).toISOString();
  return aGadget(name, { metadata: { generation: 2, creationTimestamp } });
}
