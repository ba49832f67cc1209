// One chain of requeues and one chain of retries an object, however often it is triggered, in virtual time through the
// real functions. The cells themselves are in test/timers/slots.test.ts.
import { env, stderr } from 'node:process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import type { Later } from '../../src/api/result.ts';
import { Namespace } from '../../src/kubernetes.ts';
import { defineKind, notOk, ok, type ResultOf, RetryLater, wake } from '../../src/outrigger.ts';
import { startSystem, type TestSystem } from '../../src/testing.ts';
import { createSeededRandom } from '../../tools/chaos/random.ts';

const Tick = defineKind({
  group: 'ticks.example.com',
  version: 'v1',
  kind: 'Tick',
  spec: z.object({ edit: z.number().default(0) }),
  status: z.object({}),
  conditions: ['Ticked'],
});

const tick = (name: string, edit = 0) => {
  return { apiVersion: Tick.apiVersion, kind: Tick.kind, metadata: { name, namespace: 'default' }, spec: { edit } };
};

const error = new Error('no');
/** The time of a system at its start. */
const start = Date.parse('2026-01-01T00:00:00Z');

/** Starts a system with one object, whose author answers as given. `calls` has the time of each call. */
async function startTicks(answer: (now: Date) => Later) {
  const calls: number[] = [];
  const controller = Tick.controller('tick', {
    wakes: [wake({ source: 'test', detailType: 'test' }, () => [{ name: 'one', namespace: 'default' }])],
    reconcile: async (_, { now }): Promise<ResultOf<typeof Tick>> => {
      calls.push(now().getTime());
      const later = answer(now());
      return { status: {}, conditions: { Ticked: later.error === undefined ? ok('Yes') : notOk('No') }, ...later };
    },
    finalize: async () => 'done',
  });
  const system = await startSystem({ controllers: [controller] });
  onTestFinished(async () => await system.close());
  await system.cluster.apply(tick('one'));
  await system.settled();
  /** The number of calls in these minutes. */
  const callsIn = async (minutes: number) => {
    const before = calls.length;
    await system.advance(minutes);
    return calls.length - before;
  };
  return { system, calls, callsIn };
}

const triggers = {
  edits: async (system: TestSystem, times: number) => {
    for (let edit = 1; edit <= times; edit += 1) {
      await system.cluster.apply(tick('one', edit));
      await system.advance(1 / 60);
    }
  },
  events: async (system: TestSystem, times: number) => {
    for (let event = 1; event <= times; event += 1) {
      await system.wake({ source: 'test', detailType: 'test', detail: {} });
      await system.advance(0.3);
    }
  },
};

const seconds = (now: Date, later: number) => new Date(now.getTime() + later * 1000);

/** ONE_CHAIN=1000 takes minutes more: as many edits, as many fixed times and 200 objects, with their figures. */
const { ONE_CHAIN: asked } = env;
if (asked !== undefined) vi.setConfig({ testTimeout: 400_000 });
const many = Number(asked ?? 50);
const report = (line: string) => void (asked === undefined || stderr.write(`${line}\n`));

describe('U4: one chain of requeues', () => {
  const answers: Readonly<Record<string, (period: number) => (now: Date) => Later>> = {
    requeueAfterSeconds: (period) => () => ({ requeueAfterSeconds: period }),
    'a relative requeueAt': (period) => (now) => ({ requeueAt: seconds(now, period) }),
  };
  const rows: readonly (readonly [number, keyof typeof triggers, number])[] = [
    [0, 'edits', 60],
    [20, 'edits', 60],
    [20, 'events', 60],
    [60, 'events', 600],
    ...(asked === undefined ? [] : [[many, 'edits', 60] as const]),
  ];
  it.each(
    Object.entries(answers).flatMap(([asking, answer]) => rows.map((row) => [asking, ...row, answer] as const)),
  )('%s after %d %s is one reconcile a period of %d s', async (asking, times, trigger, period, answer) => {
    const { system, callsIn } = await startTicks(answer(period));
    await triggers[trigger](system, times);
    await system.advance((2 * period) / 60);
    const inSixtyPeriods = await callsIn(period);
    report(`${asking} after ${times} ${trigger}: ${inSixtyPeriods} reconciles in 60 periods of ${period} s`);
    expect(inSixtyPeriods).toBeGreaterThanOrEqual(57);
    expect(inSixtyPeriods).toBeLessThanOrEqual(72);
  });

  it('a requeueAfterSeconds with jitter becomes one chain after 20 events', async () => {
    let call = 0;
    const { system, callsIn } = await startTicks(() => {
      call += 1;
      return { requeueAfterSeconds: 50 + ((call * 7) % 20) };
    });
    await triggers.events(system, 20);
    await system.advance(60);
    expect(await callsIn(60)).toBeLessThanOrEqual(72 * 1.2);
  });

  it(`${many} fixed times are kept among edits and events: not earlier, and a few seconds later at most`, async () => {
    const random = createSeededRandom(56);
    const times: number[] = [];
    for (let at = start; times.length < many; times.push(at)) at += 10_000 + random.below(1_190_000);
    const { system, calls } = await startTicks((now) => {
      const next = times.find((at) => at > now.getTime());
      return next === undefined ? {} : { requeueAt: new Date(next) };
    });
    for (const [index, due] of times.entries()) {
      for (let trigger = random.below(5); trigger > 0; trigger -= 1) {
        const rest = (due - system.now().getTime()) / 60_000;
        await system.advance(Math.max(0, (rest * random.below(1000)) / 1000));
        if (random.below(3) === 0) await system.wake({ source: 'test', detailType: 'test', detail: {} });
        else await system.cluster.apply(tick('one', index * 10 + trigger));
      }
      await system.advance((due - system.now().getTime() + 500) / 60_000);
    }
    await system.advance(1);
    const late = times.map((due) => ((calls.find((at) => at >= due) ?? Number.POSITIVE_INFINITY) - due) / 1000);
    const sorted = late.toSorted((one, other) => one - other);
    report(`lateness of ${many} fixed times: median ${sorted[many >> 1]} s, most ${sorted.at(-1)} s`);
    expect(sorted.at(-1)).toBeLessThanOrEqual(5);
  });

  it('an earlier time than that of the reconcile before is kept', async () => {
    let wanted = start + 3_600_000;
    const { system, calls } = await startTicks((now) =>
      now.getTime() < wanted ? { requeueAt: new Date(wanted) } : {},
    );
    wanted = start + 1_800_000;
    await system.wake({ source: 'test', detailType: 'test', detail: {} });
    await system.advance(31);
    expect(calls.at(-1)).toBeGreaterThanOrEqual(wanted);
    expect(calls.at(-1)).toBeLessThanOrEqual(wanted + 5_000);
  });
});

it('U5: a schedule goes on at its times although each attempt fails', async () => {
  const hour = 3_600_000;
  const next = (now: Date) => new Date(Math.floor(now.getTime() / hour) * hour + hour);
  const { system, calls } = await startTicks((now) => ({ error, requeueAt: next(now) }));
  await system.advance(6 * 60);
  const hours = new Set(calls.map((at) => Math.floor(at / hour)));
  expect(hours.size).toBe(7);
});

it.each([
  30, 300,
])('X9: an object that fails and asks for %d s has one chain of retries, and one dead letter', async (period) => {
  const { system, callsIn } = await startTicks(() => ({ error, requeueAfterSeconds: period }));
  await system.advance(120);
  expect(system.deadLetters('tick')).toHaveLength(1);
  expect(await callsIn(60)).toBe(3600 / period);
});

it('X9: an object of a kind without an observed generation that always fails is one dead letter for each of its changes', async () => {
  const slice = Namespace.statusSlice({ conditions: ['ticks.example.com/Ticked'] });
  const controller = slice.controller('tick', {
    selector: { matchLabels: { tick: 'yes' } },
    reconcile: async () => Promise.reject(error),
    finalize: async () => Promise.reject(error),
  });
  await using system = await startSystem({ controllers: [controller] });
  const place = (edit: string) => {
    return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'one', labels: { tick: 'yes', edit } } };
  };
  await system.cluster.apply(place('a'));
  await system.advance(10 * 60);
  const lettersOf = () => system.deadLetters('tick').length;
  expect(lettersOf()).toBe(1);
  const before = system.reconciles.length;
  await system.advance(4 * 60);
  expect([lettersOf(), system.reconciles.length > before]).toEqual([1, true]);
  await system.cluster.apply(place('b'));
  await system.advance(4 * 60);
  expect(lettersOf()).toBe(2);
  await system.cluster.delete(Namespace, { name: 'one' });
  await system.advance(4 * 60);
  expect(lettersOf()).toBe(3);
});

it('an object that fails again after it has recovered is retried, though a time of its first failure woke it', async () => {
  let isFailing = true;
  const { system, callsIn } = await startTicks(() => (isFailing ? { error, requeueAfterSeconds: 1800 } : {}));
  isFailing = false;
  await system.advance(10);
  isFailing = true;
  expect(await callsIn(60)).toBeGreaterThan(5);
});

it('50 edits of a failing object are one chain of retries, and one dead letter', async () => {
  const { system, calls, callsIn } = await startTicks(() => ({ error }));
  await triggers.edits(system, 50);
  expect(calls.length).toBeLessThanOrEqual(60);
  expect(await callsIn(60)).toBeLessThanOrEqual(10);
  expect(system.deadLetters('tick')).toHaveLength(1);
});

const objects: readonly (readonly [number, number])[] = [
  [4, 1],
  [24, 5],
  ...(asked === undefined ? [] : [[200, 20] as const]),
];
it.each(
  objects,
)('U6: %d objects converge in %d minutes on an API with four calls a second, without an attempt or a dead letter', async (count, most) => {
  const perSecond = new Map<number, number>();
  const take = (now: Date) => {
    const second = Math.floor(now.getTime() / 1000);
    const used = perSecond.get(second) ?? 0;
    if (used === 4) throw new RetryLater(1);
    perSecond.set(second, used + 1);
  };
  const controller = Tick.controller('tick', {
    reconcile: async (_, { now }): Promise<ResultOf<typeof Tick>> => {
      for (let call = 0; call < 3; call += 1) take(now());
      return { status: {}, conditions: { Ticked: ok('Yes') } };
    },
  });
  await using system = await startSystem({ controllers: [controller] });
  for (let index = 0; index < count; index += 1) await system.cluster.apply(tick(`t-${index}`));
  await system.advance(most);
  const done = new Map<string, number>();
  for (const { object, outcome, at } of system.reconciles)
    if (outcome === 'done' && !done.has(object)) done.set(object, (at.getTime() - start) / 1000);
  const after = [...done.values()];
  report(`${count} objects: the half after ${after[count >> 1]} s, all after ${after.at(-1)} s`);
  expect(done.size).toBe(count);
  expect(system.deadLetters('tick')).toEqual([]);
  expect(system.reconciles.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
});
