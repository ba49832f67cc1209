// Which keys the work queue releases when, and how it merges them. No SQS queue and no timers; the clock is a number.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReconcileKey } from '../../src/core/key.ts';
import { createAckTracker } from '../../src/forwarding/acknowledgements.ts';
import { createWorkQueue, type QueuedKey } from '../../src/forwarding/work-queue.ts';

const dedupeWindow = { dedupeWindowMs: 1000 };
const target = (name: string): ReconcileKey => ({
  controller: 'dish',
  cluster: 'c',
  group: 'g',
  resource: 'dishes',
  name,
});
const source = (version: number, uid = 'u') => ({ uid, resourceVersion: String(version) });
const only = (taken: readonly QueuedKey[]): QueuedKey => {
  expect(taken).toHaveLength(1);
  const [first] = taken;
  if (first === undefined) throw new Error('no key was taken');
  return first;
};

describe('WorkQueue keeps one entry for each key', () => {
  it('items of a queued key are merged into one entry, with the newest source and the oldest time', () => {
    const queue = createWorkQueue(dedupeWindow);
    expect(queue.add({ target: target('a'), source: source(1), observedAt: 100 }, 100)).toBe(true);
    expect(queue.add({ target: target('a'), source: source(2), observedAt: 200 }, 200)).toBe(false);
    expect(queue.add({ target: target('a'), source: source(7, 'child'), observedAt: 300 }, 300)).toBe(false);
    expect(queue.size()).toBe(1);
    expect(only(queue.take(10, 300))).toMatchObject({ sources: [source(2), source(7, 'child')], observedAt: 100 });
  });

  it('the source that was added last is the last one of the entry', () => {
    const queue = createWorkQueue(dedupeWindow);
    for (const one of [source(1), source(2, 'child'), source(3)]) {
      queue.add({ target: target('a'), source: one, observedAt: 0 }, 0);
    }
    expect(only(queue.take(10, 0)).sources).toEqual([source(2, 'child'), source(3)]);
  });

  it('a key with a thousand changed children keeps 16 sources, among them the newest', () => {
    const queue = createWorkQueue(dedupeWindow);
    for (let child = 1; child <= 1000; child += 1) {
      queue.add({ target: target('a'), source: source(child, `child-${child}`), observedAt: child }, child);
    }
    const { sources } = only(queue.take(10, 1000));
    expect(sources).toHaveLength(16);
    expect(sources.at(-1)).toEqual(source(1000, 'child-1000'));
  });

  it('K12: of more changed children than a key has room for, those that may be strays are kept, and the newest', () => {
    const queue = createWorkQueue(dedupeWindow);
    const stray = { ...source(1, 'stray'), isStray: true };
    queue.add({ target: target('a'), source: stray, observedAt: 0 }, 0);
    for (let child = 2; child <= 100; child += 1)
      queue.add({ target: target('a'), source: source(child, `child-${child}`), observedAt: 0 }, 0);
    const { sources } = only(queue.take(10, 1000));
    expect([sources.length, sources[0], sources.at(-1)]).toEqual([16, stray, source(100, 'child-100')]);
  });

  it('a key in flight is not taken, and is taken once more for an item that was added since', () => {
    const queue = createWorkQueue(dedupeWindow);
    queue.add({ target: target('a'), source: source(1), observedAt: 0 }, 0);
    const first = only(queue.take(10, 0));
    queue.add({ target: target('a'), source: source(2), observedAt: 10 }, 10);
    expect(queue.take(10, 10)).toEqual([]);
    queue.done(first, 'accepted', 20);
    expect(queue.take(10, 1019)).toEqual([]);
    expect(only(queue.take(10, 1020))).toMatchObject({ sources: [source(2)], observedAt: 10 });
  });
});

describe('WorkQueue delays keys', () => {
  it('each rejected key is delayed until its own retry time, and keeps its sources', () => {
    const queue = createWorkQueue(dedupeWindow);
    for (const name of ['a', 'b']) queue.add({ target: target(name), source: source(1), observedAt: 1 }, 1);
    for (const queued of queue.take(10, 1)) queue.done(queued, { retryAt: queued.target.name === 'a' ? 100 : 900 }, 2);
    expect([queue.nextAt(2), queue.take(10, 99)]).toEqual([100, []]);
    const kept = { sources: [source(1)], observedAt: 1, failures: 1 };
    expect(only(queue.take(10, 100))).toMatchObject({ ...kept, target: { name: 'a' } });
    expect([queue.nextAt(100), queue.take(10, 899)]).toEqual([900, []]);
    expect(only(queue.take(10, 900))).toMatchObject({ ...kept, target: { name: 'b' } });
  });

  it('a key is not delayed longer after the clock was set back', () => {
    const queue = createWorkQueue(dedupeWindow);
    queue.add({ target: target('a'), source: source(1), observedAt: 0 }, 3_600_000);
    queue.done(only(queue.take(10, 3_600_000)), 'accepted', 3_600_000);
    queue.add({ target: target('a'), source: source(2), observedAt: 0 }, 1_000);
    expect(queue.take(10, 1_000)).toHaveLength(1);
  });

  it('after WorkQueue.flush no key is delayed', () => {
    const queue = createWorkQueue(dedupeWindow);
    queue.add({ target: target('a'), source: source(1), observedAt: 0 }, 0);
    queue.done(only(queue.take(10, 0)), 'accepted', 0);
    queue.add({ target: target('a'), source: source(2), observedAt: 1 }, 1);
    queue.flush();
    queue.done(only(queue.take(10, 1)), { retryAt: 99_999 }, 2);
    const retried = only(queue.take(10, 2));
    queue.add({ target: target('a'), source: source(3), observedAt: 2 }, 2);
    queue.done(retried, 'accepted', 3);
    expect([queue.take(10, 3).length, queue.size()]).toEqual([1, 1]);
  });

  it('WorkQueue.take returns at most the limit, first in, first out', () => {
    const queue = createWorkQueue(dedupeWindow);
    for (const name of ['a', 'b', 'c']) queue.add({ target: target(name), observedAt: 0 }, 0);
    expect(queue.take(2, 0).map(({ target: { name } }) => name)).toEqual(['a', 'b']);
    expect(queue.take(2, 0).map(({ target: { name } }) => name)).toEqual(['c']);
  });
});

it('every item is accepted by a source as new, no key is in flight twice, the low watermark is never too high', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant('add' as const), key: fc.integer({ min: 0, max: 3 }) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('take' as const), limit: fc.integer({ min: 1, max: 4 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('done' as const),
        index: fc.nat(),
        accepted: fc.boolean(),
        delay: fc.integer({ min: 0, max: 5_000 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 3_000 }) }),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'bookmark' as const }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let now = 1_000;
      let version = 0;
      const acks = createAckTracker();
      const queue = createWorkQueue(dedupeWindow);
      /** For each key, the versions that were added and that no accepted message covers. */
      const uncovered = new Map<string, number[]>();
      const acceptedAt = new Map<string, number>();
      const inFlight: QueuedKey[] = [];

      const check = () => {
        const oldest = Math.min(Number.POSITIVE_INFINITY, ...[...uncovered.values()].flat());
        expect(Number(acks.lowWatermark() ?? 0)).toBeLessThan(oldest);
      };
      const take = (limit: number) => {
        for (const queued of queue.take(limit, now)) {
          const { name } = queued.target;
          expect(inFlight.map(({ target: other }) => other.name)).not.toContain(name);
          expect(now - (acceptedAt.get(name) ?? -1_000)).toBeGreaterThanOrEqual(1_000);
          inFlight.push(queued);
        }
      };
      const finish = (index: number, accepted: boolean, delay: number) => {
        const [queued] = inFlight.splice(index % Math.max(1, inFlight.length), 1);
        if (queued === undefined) return;
        const { name } = queued.target;
        queue.done(queued, accepted ? 'accepted' : { retryAt: now + delay }, now);
        if (!accepted) return;
        acceptedAt.set(name, now);
        const covered = Number(queued.sources.at(-1)?.resourceVersion);
        uncovered.set(
          name,
          (uncovered.get(name) ?? []).filter((one) => one > covered),
        );
      };
      for (const one of steps) {
        if (one.type === 'add') {
          version += 1;
          const name = `key-${one.key}`;
          queue.add({ target: target(name), source: source(version), observedAt: now, acks }, now);
          acks.advance(String(version));
          uncovered.set(name, [...(uncovered.get(name) ?? []), version]);
        } else if (one.type === 'take') take(one.limit);
        else if (one.type === 'done') finish(one.index, one.accepted, one.delay);
        else if (one.type === 'advance') now += one.ms;
        else acks.advance(String(version));
        check();
      }
      for (let rounds = 0; rounds < 20 && queue.size() > 0; rounds += 1) {
        while (inFlight.length > 0) finish(0, true, 0);
        now = Math.max(now, queue.nextAt(now) ?? now);
        take(10);
        check();
      }
      expect([...uncovered.values()].flat()).toEqual([]);
      expect(queue.size()).toBe(0);
      expect(acks.lowWatermark() ?? '0').toBe(version === 0 ? '0' : String(version));
    }),
    { numRuns: 300 },
  );
});

// Control T145.
it('the children of one namespace delay a cluster-scoped owner of children in another by one key, also if they name it', () => {
  const queue = createWorkQueue();
  const add = (name: string, namespace?: string) => {
    const object = ['', 'configmaps', namespace ?? '', name] as const;
    const changed = { ...source(1, `${namespace}/${name}`), ...(namespace === undefined ? {} : { object }) };
    queue.add({ target: target(name), source: changed, observedAt: 0 }, 0);
  };
  for (const name of ['a', 'b', 'c', 'd', 'e', 'shop', 'own']) add(name, 'crowded');
  add('shop', 'quiet');
  add('own');
  expect(queue.take(10, 0).map((one) => one.target.name)).toEqual(['a', 'shop', 'own', 'b', 'c', 'd', 'e']);
  expect([queue.ready(), queue.size()]).toEqual([0, 7]);
});
