// Lists of many objects: pages, batches, the rate limit, and lists that take longer than a function. Time is a number
// that each page advances. Against an SQS server and an HTTP server for the API. The decision about one object is in
// plan.test.ts.
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { parseResyncMessage, type ResyncMessage } from '../../src/resync/message.ts';
import { dueAtOf, type Message } from '../../src/sqs/message.ts';
import { aGadget, aMissedGadget, listing } from './gadgets.ts';
import { many, names, resyncFixture, run, runSeconds, serving } from './resync-harness.ts';

const { aResync, batchSizes, drain, resyncOf } = resyncFixture();

/** A function that lists about three pages of nine seconds. */
const functionSeconds = 60;
const tenHours = 36_000;
const perSecond = 100;

/** The most messages that are due in one second. */
const largestSecond = (messages: readonly Message[]) =>
  Math.max(0, ...[...Map.groupBy(messages, dueAtOf).values()].map(({ length }) => length));
/** The continue tokens of so many pages, each requested once. */
const tokensOf = (pages: number) =>
  Array.from({ length: pages }, (_, page) => (page === 0 ? undefined : `${page * 500}`));

it('X18: listKind reads 2,000 objects in pages of 500 and sends batches of ten, in one function, at the rate limit and with no second empty', async () => {
  const { server, ...resync } = await resyncOf(many(2_000, aMissedGadget), { periodSeconds: tenHours, perSecond });
  expect(await resync.run({})).toEqual([]);
  const lists = server.arrived.filter(({ path }) => path.endsWith('/gadgets'));
  expect(lists.map(({ query }) => [query.limit, query.continue])).toEqual(tokensOf(4).map((token) => ['500', token]));
  expect(new Set(names(resync.timed)).size).toBe(2_000);
  expect(resync.timed).toHaveLength(2_000);
  expect(batchSizes()).toEqual(Array.from({ length: 200 }, () => 10));
  expect(await drain('resync')).toEqual([]);
  const seconds = resync.timed.map((message) => dueAtOf(message) ?? 0);
  expect(Math.max(...seconds) - Math.min(...seconds)).toBe(2_000 / perSecond - 1);
  expect(largestSecond(resync.timed)).toBe(perSecond);
});

it('X18: listKind spreads periodic reconciles: each object is due once in a period, without bursts', async () => {
  const count = 3_000;
  const { alpha } = await serving(listing(many(count, aGadget)));
  const [periodSeconds, runIntervalSeconds] = [3_600, 600];
  const scheduled: Message[] = [];
  for (let runNumber = 0; runNumber < periodSeconds / runIntervalSeconds; runNumber += 1) {
    const nowSeconds = runSeconds + runNumber * runIntervalSeconds;
    const options = { periodSeconds, runIntervalSeconds, nowSeconds, perSecond, acceptTimers: true };
    const resync = aResync({ clusters: { alpha }, ...options });
    await resync.run({ run: new Date(nowSeconds * 1000).toISOString() });
    const share = (count * runIntervalSeconds) / periodSeconds;
    expect(Math.abs(resync.timed.length - share)).toBeLessThan(share / 5);
    for (const message of resync.timed) {
      const dueAt = dueAtOf(message) ?? 0;
      expect(Math.floor((dueAt - nowSeconds) / runIntervalSeconds)).toBe(0);
      expect(message.cause).not.toHaveProperty('observedAt');
    }
    scheduled.push(...resync.timed);
  }
  expect(new Set(names(scheduled)).size).toBe(count);
  expect(scheduled).toHaveLength(count);
  // 0.8 a second on average.
  expect(largestSecond(scheduled)).toBeLessThan(8);
});

it('a list that continues another keeps to the rest of its rate, and a further one to the rest of both and to its depth of the queue', async () => {
  const resync = await resyncOf(many(501, aGadget), { perSecond: 10, remainingMs: 9_000, acceptTimers: true });
  await resync.run({ scheduledUntil: runSeconds + 2, scheduledPerSecond: 7 });
  expect([resync.timed.length, largestSecond(resync.timed)]).toEqual([500, 3]);
  const next = parseResyncMessage(resync.resyncEntries[0]?.body ?? '');
  expect(next).toMatchObject({ scheduledPerSecond: 7 + 3, queueIdle: true });
});

it.each([
  ['of missed changes sends and counts each', { make: aMissedGadget, pageSeconds: 9, isMissed: true }],
  ['of observed objects sends the share of its run', { make: aGadget, pageSeconds: 10, isMissed: false }],
  ['whose pages take ever longer', { make: aMissedGadget, pageSeconds: [12, 15, 17, 20, 25, 29], isMissed: true }],
])('X18: a list in several functions %s, in time, at one rate limit, and requests each page once', async (_, row) => {
  const objects = 4_500;
  const { runs, sent, missed, leastRemainingMs, tokens } = await listInParts(many(objects, row.make), row.pageSeconds);
  expect(runs).toBeGreaterThan(1);
  // The signal of the list aborts two seconds before its function ends.
  expect(leastRemainingMs).toBeGreaterThan(2_000);
  expect(tokens).toEqual(tokensOf(9));
  expect(new Set(names(sent)).size).toBe(sent.length);
  expect(largestSecond(sent)).toBeLessThanOrEqual(perSecond);
  if (row.isMissed) expect([sent.length, missed, largestSecond(sent)]).toEqual([objects, objects, perSecond]);
  // The run interval is a sixth of the period.
  else expect(Math.abs(sent.length - objects / 6)).toBeLessThan(objects / 60);
});

/** Lists in as many functions as are necessary. Each page takes `pageSeconds`, of several the next and then the last. */
async function listInParts(objects: readonly KubeObject[], pageSeconds: number | readonly number[]) {
  const durations = [pageSeconds].flat();
  let elapsed = 0;
  const list = listing(objects);
  const { alpha, server } = await serving((request, response) => {
    if (request.path.endsWith('/gadgets')) elapsed += (durations.length > 1 ? durations.shift() : durations[0]) ?? 0;
    list(request, response);
  });
  const sent: Message[] = [];
  let runs = 0;
  let missed = 0;
  let leastRemainingMs = Number.POSITIVE_INFINITY;
  for (
    let next: ResyncMessage | undefined = { v: 1, type: 'resync', run, cluster: 'alpha', controller: 'gadget' };
    next;
  ) {
    const startedAt = elapsed;
    const remainingMs = () => (functionSeconds - (elapsed - startedAt)) * 1000;
    const nowSeconds = () => runSeconds + 2 + elapsed;
    const options = { periodSeconds: 3_600, perSecond, remainingMs, nowSeconds, acceptTimers: true };
    const resync = aResync({ clusters: { alpha }, ...options });
    expect(await resync.run(next)).toEqual([]);
    runs += 1;
    missed += resync.counts.get('MissedChanges') ?? 0;
    leastRemainingMs = Math.min(leastRemainingMs, remainingMs());
    sent.push(...resync.timed);
    const [continuation] = await drain('resync');
    next = continuation?.Body === undefined ? undefined : parseResyncMessage(continuation.Body);
  }
  const lists = server.arrived.filter(({ path }) => path.endsWith('/gadgets'));
  return { runs, sent, missed, leastRemainingMs, tokens: lists.map(({ query }) => query.continue) };
}
