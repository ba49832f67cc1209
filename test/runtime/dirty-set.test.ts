// Only which keys may be sent when, and what becomes of them: no queue, no timers, every clock a number.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TargetKey } from '../../src/core/key.ts';
import { createDirtySet, type Waiting } from '../../src/runtime/dirty-set.ts';
import { createProgress } from '../../src/runtime/progress.ts';

const target = (name: string): TargetKey => ({
  controller: 'dish',
  cluster: 'c',
  group: 'g',
  resource: 'dishes',
  name,
});
const source = (version: number, uid = 'u') => ({ uid, resourceVersion: String(version) });
const only = (taken: readonly Waiting[]): Waiting => {
  expect(taken).toHaveLength(1);
  const [first] = taken;
  if (first === undefined) throw new Error('nothing was taken');
  return first;
};

describe('one entry a key', () => {
  it('marks of a waiting key are one message, with the newest source and the oldest time', () => {
    const set = createDirtySet({ quietMs: 1000 });
    expect(set.mark({ target: target('a'), source: source(1), seenAt: 100 }, 100)).toBe(true);
    expect(set.mark({ target: target('a'), source: source(2), seenAt: 200 }, 200)).toBe(false);
    expect(set.mark({ target: target('a'), source: source(7, 'child'), seenAt: 300 }, 300)).toBe(false);
    expect(set.size()).toBe(1);
    expect(only(set.take(10, 300))).toMatchObject({ sources: [source(2), source(7, 'child')], seenAt: 100 });
  });

  it('the source that was seen last is the last, whichever came first', () => {
    const set = createDirtySet({ quietMs: 1000 });
    for (const one of [source(1), source(2, 'child'), source(3)]) {
      set.mark({ target: target('a'), source: one, seenAt: 0 }, 0);
    }
    expect(only(set.take(10, 0)).sources).toEqual([source(2, 'child'), source(3)]);
  });

  it('a thousand children of one key keep its message small, the newest among them', () => {
    const set = createDirtySet({ quietMs: 1000 });
    for (let child = 1; child <= 1000; child += 1) {
      set.mark({ target: target('a'), source: source(child, `child-${child}`), seenAt: child }, child);
    }
    const { sources } = only(set.take(10, 1000));
    expect(sources).toHaveLength(16);
    expect(sources.at(-1)).toEqual(source(1000, 'child-1000'));
  });

  it('a key on its way is not taken again, and goes once more for what came meanwhile', () => {
    const set = createDirtySet({ quietMs: 1000 });
    set.mark({ target: target('a'), source: source(1), seenAt: 0 }, 0);
    const first = only(set.take(10, 0));
    set.mark({ target: target('a'), source: source(2), seenAt: 10 }, 10);
    expect(set.take(10, 10)).toEqual([]);
    set.settle(first, 'accepted', 20);
    expect(set.take(10, 1019)).toEqual([]);
    expect(only(set.take(10, 1020))).toMatchObject({ sources: [source(2)], seenAt: 10 });
  });
});

describe('waiting', () => {
  it('a key that was sent less than a second ago waits, another one does not', () => {
    const set = createDirtySet({ quietMs: 1000 });
    set.mark({ target: target('a'), source: source(1), seenAt: 0 }, 0);
    set.settle(only(set.take(10, 0)), 'accepted', 5);
    set.mark({ target: target('a'), source: source(2), seenAt: 6 }, 6);
    set.mark({ target: target('b'), source: source(3), seenAt: 6 }, 6);
    expect(only(set.take(10, 6)).target.name).toBe('b');
    expect(set.nextAt(6)).toBe(1005);
    expect(only(set.take(10, 1005)).target.name).toBe('a');
  });

  it('a key that was refused waits for its time and keeps what it had', () => {
    const set = createDirtySet({ quietMs: 1000 });
    set.mark({ target: target('a'), source: source(1), seenAt: 1 }, 1);
    set.settle(only(set.take(10, 1)), { againAt: 500 }, 100);
    expect(set.nextAt(100)).toBe(500);
    expect(set.take(10, 499)).toEqual([]);
    expect(only(set.take(10, 500))).toMatchObject({ sources: [source(1)], seenAt: 1, failures: 1 });
  });

  it('each of several waits for its own time', () => {
    const set = createDirtySet({ quietMs: 1000 });
    for (const name of ['a', 'b']) set.mark({ target: target(name), source: source(1), seenAt: 0 }, 0);
    for (const waiting of set.take(10, 0)) {
      set.settle(waiting, { againAt: waiting.target.name === 'a' ? 100 : 900 }, 0);
    }
    expect(set.take(10, 100).map(({ target: { name } }) => name)).toEqual(['a']);
    expect(set.nextAt(100)).toBe(900);
    expect(set.take(10, 899)).toEqual([]);
    expect(set.take(10, 900).map(({ target: { name } }) => name)).toEqual(['b']);
  });

  it('a clock that was set back keeps nothing waiting for longer', () => {
    const set = createDirtySet({ quietMs: 1000 });
    set.mark({ target: target('a'), source: source(1), seenAt: 0 }, 3_600_000);
    set.settle(only(set.take(10, 3_600_000)), 'accepted', 3_600_000);
    set.mark({ target: target('a'), source: source(2), seenAt: 0 }, 1_000);
    expect(set.take(10, 1_000)).toHaveLength(1);
  });

  it('in a hurry nothing waits', () => {
    const set = createDirtySet({ quietMs: 1000 });
    set.mark({ target: target('a'), source: source(1), seenAt: 0 }, 0);
    set.settle(only(set.take(10, 0)), 'accepted', 0);
    set.mark({ target: target('a'), source: source(2), seenAt: 1 }, 1);
    set.hurry();
    set.settle(only(set.take(10, 1)), { againAt: 99_999 }, 2);
    expect(set.take(10, 2)).toHaveLength(1);
  });

  it('no more are taken than asked for, the longest waiting first', () => {
    const set = createDirtySet({ quietMs: 1000 });
    for (const name of ['a', 'b', 'c']) set.mark({ target: target(name), seenAt: 0 }, 0);
    expect(set.take(2, 0).map(({ target: { name } }) => name)).toEqual(['a', 'b']);
    expect(set.take(2, 0).map(({ target: { name } }) => name)).toEqual(['c']);
  });
});

describe('what holds a version back', () => {
  it('a key that was refused holds back from its oldest mark on', () => {
    const progress = createProgress();
    const set = createDirtySet({ quietMs: 1000 });
    progress.heard('1');
    set.mark({ target: target('a'), source: source(2), seenAt: 0, progress }, 0);
    progress.heard('2');
    const first = only(set.take(10, 0));
    set.mark({ target: target('a'), source: source(3), seenAt: 0, progress }, 0);
    progress.heard('3');
    set.settle(first, { againAt: 10 }, 5);
    expect(progress.accepted()).toBe('1');
    set.settle(only(set.take(10, 10)), 'accepted', 11);
    expect(progress.accepted()).toBe('3');
  });

  it('what came while the key was on its way is held back after that one was accepted', () => {
    const progress = createProgress();
    const set = createDirtySet({ quietMs: 1000 });
    progress.heard('1');
    set.mark({ target: target('a'), source: source(2), seenAt: 0, progress }, 0);
    progress.heard('2');
    const first = only(set.take(10, 0));
    set.mark({ target: target('a'), source: source(3), seenAt: 0, progress }, 0);
    progress.heard('3');
    set.settle(first, 'accepted', 5);
    expect(progress.accepted()).toBe('2');
  });
});

it('every mark is accepted in the end, with a source as new, never two of one key on their way, and the cursor never lies', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant('mark' as const), key: fc.integer({ min: 0, max: 3 }) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('take' as const), most: fc.integer({ min: 1, max: 4 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('settle' as const),
        index: fc.nat(),
        accepted: fc.boolean(),
        delay: fc.integer({ min: 0, max: 5_000 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 3_000 }) }) },
    { weight: 1, arbitrary: fc.constant({ type: 'bookmark' as const }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let now = 1_000;
      let version = 0;
      const progress = createProgress();
      const set = createDirtySet({ quietMs: 1000 });
      /** Versions at which each key was marked and which no accepted message has covered. */
      const owed = new Map<string, number[]>();
      const acceptedAt = new Map<string, number>();
      const flying: Waiting[] = [];

      const check = () => {
        const oldest = Math.min(Number.POSITIVE_INFINITY, ...[...owed.values()].flat());
        expect(Number(progress.accepted() ?? 0)).toBeLessThan(oldest);
      };
      const take = (most: number) => {
        for (const waiting of set.take(most, now)) {
          const { name } = waiting.target;
          expect(flying.map(({ target: other }) => other.name)).not.toContain(name);
          expect(now - (acceptedAt.get(name) ?? -1_000)).toBeGreaterThanOrEqual(1_000);
          flying.push(waiting);
        }
      };
      const settle = (index: number, accepted: boolean, delay: number) => {
        const [waiting] = flying.splice(index % Math.max(1, flying.length), 1);
        if (waiting === undefined) return;
        const { name } = waiting.target;
        set.settle(waiting, accepted ? 'accepted' : { againAt: now + delay }, now);
        if (!accepted) return;
        acceptedAt.set(name, now);
        const covered = Number(waiting.sources.at(-1)?.resourceVersion);
        owed.set(
          name,
          (owed.get(name) ?? []).filter((one) => one > covered),
        );
      };
      for (const one of steps) {
        if (one.type === 'mark') {
          version += 1;
          const name = `key-${one.key}`;
          set.mark({ target: target(name), source: source(version), seenAt: now, progress }, now);
          progress.heard(String(version));
          owed.set(name, [...(owed.get(name) ?? []), version]);
        } else if (one.type === 'take') take(one.most);
        else if (one.type === 'settle') settle(one.index, one.accepted, one.delay);
        else if (one.type === 'pass') now += one.ms;
        else progress.heard(String(version));
        check();
      }
      for (let rounds = 0; rounds < 20 && set.size() > 0; rounds += 1) {
        while (flying.length > 0) settle(0, true, 0);
        now = Math.max(now, set.nextAt(now) ?? now);
        take(10);
        check();
      }
      expect([...owed.values()].flat()).toEqual([]);
      expect(set.size()).toBe(0);
      expect(progress.accepted() ?? '0').toBe(version === 0 ? '0' : String(version));
    }),
    { numRuns: 300 },
  );
});
