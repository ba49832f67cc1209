// Many objects: in pages, in batches, at a pace, and within a function's time or continued. Time is a number that each page moves
// on. Against an SQS server and an API server's wire; what a poll makes of one object is resync-plan.test.ts.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/kube/client/object.ts';
import type { Message } from '../../src/queue/message.ts';
import { parseResyncMessage, type ResyncMessage } from '../../src/queue/resync-message.ts';
import { aGadget, aMissedGadget, listing } from './gadgets.ts';
import { many, names, resyncAround, run, runSeconds, serving } from './resync-harness.ts';

const { aResync, batchSizes, drain } = resyncAround();

/** As serverless.yml has it. */
const functionSeconds = 120;
const tenHours = 36_000;
const perSecond = 100;

/** The most that are due in one second. */
const largestSecond = (messages: readonly Message[]) =>
  Math.max(0, ...[...Map.groupBy(messages, ({ dueAt }) => dueAt).values()].map(({ length }) => length));

describe('a poll of 10,000 objects', () => {
  it('X18: takes them in pages of 500 and sends in tens, all within one function', async () => {
    const { alpha, server } = await serving(listing(many(10_000, aMissedGadget)));
    const resync = aResync({ clusters: { alpha }, periodSeconds: tenHours, perSecond });
    expect(await resync.run({})).toEqual([]);
    const lists = server.arrived.filter(({ path }) => path.endsWith('/gadgets'));
    expect(lists.map(({ query }) => [query.limit, query.continue])).toEqual(
      Array.from({ length: 20 }, (_, page) => ['500', page === 0 ? undefined : `${page * 500}`]),
    );
    expect(new Set(names(resync.timed)).size).toBe(10_000);
    expect(resync.timed).toHaveLength(10_000);
    expect(batchSizes()).toEqual(Array.from({ length: 1_000 }, () => 10));
    expect(await drain('resync')).toEqual([]);
  });

  it('X18: is paced however many were missed: no second gets more than its share, and none is empty before the last', async () => {
    const { alpha } = await serving(listing(many(10_000, aMissedGadget)));
    const resync = aResync({ clusters: { alpha }, periodSeconds: tenHours, perSecond });
    await resync.run({});
    const seconds = resync.timed.map(({ dueAt = 0 }) => dueAt);
    expect(Math.max(...seconds) - Math.min(...seconds)).toBe(10_000 / perSecond - 1);
    expect(largestSecond(resync.timed)).toBe(perSecond);
  });

  it('X18: drips without bursts: each is due once in a period, and no second of it gets many', async () => {
    const objects = many(10_000, aGadget);
    const { alpha } = await serving(listing(objects));
    const [periodSeconds, tickSeconds] = [3_600, 600];
    const dripped: Message[] = [];
    for (let tick = 0; tick < periodSeconds / tickSeconds; tick += 1) {
      const nowSeconds = runSeconds + tick * tickSeconds;
      const resync = aResync({ clusters: { alpha }, periodSeconds, tickSeconds, nowSeconds, perSecond });
      await resync.run({ run: new Date(nowSeconds * 1000).toISOString() });
      const share = (10_000 * tickSeconds) / periodSeconds;
      expect(Math.abs(resync.timed.length - share)).toBeLessThan(share / 5);
      for (const { dueAt = 0 } of resync.timed) {
        expect(Math.floor((dueAt - nowSeconds) / tickSeconds)).toBe(0);
      }
      dripped.push(...resync.timed);
    }
    expect(new Set(names(dripped)).size).toBe(10_000);
    expect(dripped).toHaveLength(10_000);
    // 2.8 a second on average.
    expect(largestSecond(dripped)).toBeLessThan(15);
  });
});

describe('a list that takes longer than a function may run', () => {
  it.each([
    { objects: 10_000, pageSeconds: 9 },
    { objects: 100_000, pageSeconds: 2 },
  ])('X18: of $objects objects goes on by messages, and every function ends in time', async ({
    objects,
    pageSeconds,
  }) => {
    const { runs, sent, leastLeftMs } = await pollInParts(many(objects, aGadget), pageSeconds);
    expect(runs).toBeGreaterThan(1);
    expect(leastLeftMs).toBeGreaterThan(0);
    expect(new Set(names(sent)).size).toBe(sent.length);
    expect(largestSecond(sent)).toBeLessThanOrEqual(perSecond);
    // A tick is a sixth of the period.
    expect(Math.abs(sent.length - objects / 6)).toBeLessThan(objects / 60);
  });

  it('X18: asks for each page once, in however many functions, and they keep one pace', async () => {
    const { asked, sent } = await pollInParts(many(10_000, aMissedGadget), 9);
    expect(sent).toHaveLength(10_000);
    expect(largestSecond(sent)).toBe(perSecond);
    expect(asked).toEqual(Array.from({ length: 20 }, (_, page) => (page === 0 ? undefined : `${page * 500}`)));
  });
});

/** Polls in as many functions as it takes, each page of which takes so long. */
async function pollInParts(objects: readonly KubeObject[], pageSeconds: number) {
  let elapsed = 0;
  const list = listing(objects);
  const { alpha, server } = await serving((request, response) => {
    if (request.path.endsWith('/gadgets')) elapsed += pageSeconds;
    list(request, response);
  });
  const sent: Message[] = [];
  let runs = 0;
  let leastLeftMs = Number.POSITIVE_INFINITY;
  for (
    let next: ResyncMessage | undefined = { v: 1, kind: 'resync', run, cluster: 'alpha', controller: 'gadget' };
    next;
  ) {
    const startedAt = elapsed;
    const leftMs = () => (functionSeconds - (elapsed - startedAt)) * 1000;
    const nowSeconds = () => runSeconds + 2 + elapsed;
    const resync = aResync({ clusters: { alpha }, periodSeconds: 3_600, perSecond, leftMs, nowSeconds });
    expect(await resync.run(next)).toEqual([]);
    runs += 1;
    leastLeftMs = Math.min(leastLeftMs, leftMs());
    sent.push(...resync.timed);
    const [continuation] = await drain('resync');
    next = continuation?.Body === undefined ? undefined : parseResyncMessage(continuation.Body);
  }
  const lists = server.arrived.filter(({ path }) => path.endsWith('/gadgets'));
  return { runs, sent, leastLeftMs, asked: lists.map(({ query }) => query.continue) };
}
