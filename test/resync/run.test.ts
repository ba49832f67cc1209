// The resync from tick to queues: what is polled, what goes out when, and what is counted. Against an SQS server and an API
// server's wire. Which object is what is resync-plan.test.ts; polls that go wrong or take several functions: resync-broken.test.ts.
import { describe, expect, it } from 'vitest';
import { parseMessage } from '../../src/queue/message.ts';
import { parseResyncMessage } from '../../src/queue/resync-message.ts';
import { stepTimer } from '../../src/queue/timer.ts';
import { aGadget, aMissedGadget, listing, polisherController } from './gadgets.ts';
import { many, names, resyncAround, run, runSeconds, serving } from './resync-harness.ts';

const { aResync, drain, send } = resyncAround();
const { signal } = new AbortController();

describe('a tick', () => {
  it('asks for one poll per cluster and controller, under the schedule’s own time', async () => {
    const resync = aResync({ clusters: { alpha: { type: 'leaving' }, beta: { type: 'leaving' } } });
    expect(await resync.tick()).toBe(2);
    const asked = (await drain('resync')).map(({ Body = '' }) => parseResyncMessage(Body));
    expect(asked).toHaveLength(2);
    expect(asked).toEqual(
      expect.arrayContaining(
        ['alpha', 'beta'].map((cluster) => ({ v: 1, kind: 'resync', run, cluster, controller: 'gadget' })),
      ),
    );
  });

  it('is counted; where there is no cluster to be watched yet, nobody counts as silent', async () => {
    const empty = aResync({ clusters: {} });
    expect(await empty.tick()).toBe(0);
    expect(Object.fromEntries(empty.counts)).toEqual({ ResyncTicks: 1, WatchersSilent: 0 });
    const one = aResync({ clusters: { alpha: { type: 'leaving' } } });
    await one.tick();
    expect(Object.fromEntries(one.counts)).toEqual({ ResyncTicks: 1 });
    await drain('resync');
  });

  it('fails, so that it is repeated, and does not count when a poll could not be asked for', async () => {
    const resync = aResync({ clusters: { alpha: { type: 'leaving' } }, refuse: true });
    await expect(resync.tick()).rejects.toThrow('throttled');
    expect(resync.counts.has('ResyncTicks')).toBe(false);
  });
});

describe('a poll', () => {
  it('of a kind with a second controller sends on to each what that one has missed', async () => {
    const polished = { type: 'Polished', observedGeneration: 1 };
    const byBoth = aGadget('by-both', { status: { observedGeneration: 1, conditions: [polished] } });
    const bySecond = aGadget('by-second', { status: { conditions: [polished] } });
    const { alpha } = await serving(listing([aGadget('by-first'), byBoth, bySecond]));
    const resync = aResync({ clusters: { alpha }, periodSeconds: 36_000_000, more: [polisherController] });
    expect(await resync.run({}, { controller: polisherController.name })).toEqual([]);
    const sent = resync.timed.map(({ controller, name }) => `${controller}: ${name}`);
    expect(sent.sort()).toEqual(['gadget-polisher: by-first', 'gadget: by-second']);
  });

  it('sends on at once what was missed, and counts it', async () => {
    const { alpha } = await serving(listing([aGadget('seen'), aMissedGadget('missed')]));
    const resync = aResync({ clusters: { alpha }, periodSeconds: 36_000_000 });
    expect(await resync.run({})).toEqual([]);
    expect(resync.timed).toEqual([
      {
        v: 1,
        controller: 'gadget',
        cluster: 'alpha',
        group: 'example.com',
        resource: 'gadgets',
        namespace: 'shop',
        name: 'missed',
        lane: 'resync',
        attempt: 0,
        deferrals: 0,
        seenAt: (runSeconds + 2) * 1000,
        dueAt: runSeconds + 2,
        run,
      },
    ]);
    expect(Object.fromEntries(resync.counts)).toMatchObject({ ResyncPages: 1, ResyncObjects: 2, Unobserved: 1 });
  });

  it('visits the rest once in a period, spread over the ticks', async () => {
    const { alpha } = await serving(listing(many(300, aGadget)));
    const visited: string[] = [];
    for (let tick = 0; tick < 6; tick += 1) {
      const nowSeconds = runSeconds + tick * 600;
      const resync = aResync({ clusters: { alpha }, periodSeconds: 3_600, nowSeconds });
      await resync.run({ run: new Date(nowSeconds * 1000).toISOString() });
      for (const { dueAt = 0, seenAt } of resync.timed) {
        expect(dueAt).toBeGreaterThanOrEqual(nowSeconds);
        expect(dueAt).toBeLessThan(nowSeconds + 600);
        expect(seenAt).toBe(dueAt * 1000);
      }
      expect(resync.timed.length).toBeGreaterThan(20);
      visited.push(...names(resync.timed));
    }
    expect(visited).toHaveLength(300);
    expect(new Set(visited).size).toBe(300);
  });

  it('keeps its pace however much was missed, and leaves to the next tick what a tick cannot hold', async () => {
    const { alpha } = await serving(listing(many(1_200, aMissedGadget)));
    const resync = aResync({ clusters: { alpha }, perSecond: 10, tickSeconds: 100, periodSeconds: 36_000_000 });
    expect(await resync.run({})).toEqual([]);
    const perSecond = Map.groupBy(resync.timed, ({ dueAt }) => dueAt);
    for (const inSecond of perSecond.values()) expect(inSecond.length).toBeLessThanOrEqual(10);
    expect(resync.timed).toHaveLength(1_000);
    expect(resync.counts.get('Unobserved')).toBe(1_200);
    expect(resync.counts.get('ResyncPages')).toBe(3);
  });

  it('does not call missed what its controller may just not have come to', async () => {
    const busy = Array.from({ length: 11 }, (_, n) => ({ body: 'x', groupId: `${n}`, deduplicationId: `busy ${n}` }));
    await send('gadget.fifo', busy, { signal });
    const { alpha } = await serving(listing([aMissedGadget('missed')]));
    const resync = aResync({ clusters: { alpha } });
    await resync.run({});
    expect(names(resync.timed)).toEqual(['missed']);
    expect(resync.counts.has('Unobserved')).toBe(false);
  });

  it('whose trigger came twice visits everything once: the controller’s queue takes one message of the two', async () => {
    const { alpha } = await serving(listing(many(20, aGadget)));
    const resync = aResync({ clusters: { alpha } });
    await resync.run({}, {});
    expect(resync.timed).toHaveLength(40);
    const forwarded = resync.timed.map((message) => stepTimer(message, { nowMs: (message.dueAt ?? 0) * 1000 }).entry);
    await send('gadget.fifo', forwarded, { signal });
    const taken = (await drain('gadget.fifo')).map(({ Body = '' }) => parseMessage(Body));
    expect([...names(taken)].sort()).toEqual([...new Set(names(resync.timed))].sort());
  });

  it('says whether anybody watches its cluster, unless it only goes on with a list', async () => {
    const { alpha } = await serving(listing(many(600, aGadget)));
    const [first, next] = [aResync({ clusters: { alpha } }), aResync({ clusters: { alpha } })];
    await first.run({});
    await next.run({ continue: '500' });
    expect([first.counts.get('WatchersSilent'), next.counts.get('WatchersSilent')]).toEqual([1, undefined]);
  });
});
