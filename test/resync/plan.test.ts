// The decision about one object, and its due time. Pure. Lists and queues are in run.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResyncRateLimiter, planObject, type ResyncDecision, resyncDueAt } from '../../src/resync/plan.ts';
import { aGadget } from './gadgets.ts';

const hour = (time: string) => `2026-11-21T${time}:00Z`;
const nowMs = Date.parse(hour('12:00'));
const options = { controller: 'gadget', missedAfterSeconds: 240, nowMs };
const behind = { generation: 2 };
const ours = { finalizers: ['outrigger.dev/gadget'] };
const written = (manager: string, time: string, subresource?: string) => ({
  managedFields: [{ manager, time, operation: 'Apply', ...(subresource === undefined ? {} : { subresource }) }],
});

const deletedAt = (time: string) => ({ deletionTimestamp: hour(time) });
const others = { finalizers: ['outrigger.dev/other'] };
it.each<[string, ResyncDecision, object, object?]>([
  ['whose generation was observed', 'periodic', { generation: 1 }],
  ['whose generation was not observed', 'unobserved', behind],
  ['that never had a status', 'unobserved', { generation: 1 }, {}],
  ['without a generation, like a ConfigMap,', 'periodic', { generation: undefined }, {}],
  ['that was created missedAfterSeconds ago', 'periodic', { creationTimestamp: hour('11:56') }, {}],
  ['that was created longer ago', 'unobserved', { creationTimestamp: hour('11:55') }, {}],
  ['that another manager changed recently', 'periodic', { ...behind, ...written('kubectl', hour('11:58')) }],
  ['whose status another wrote recently', 'unobserved', { ...behind, ...written('monitor', hour('11:59'), 'status') }],
  ['that its controller wrote recently', 'unobserved', { ...behind, ...written('outrigger-gadget', hour('11:59')) }],
  ['whose deletion was not observed, with its finalizer,', 'unobserved', { ...behind, ...ours, ...deletedAt('11:00') }],
  ['that was deleted recently', 'periodic', { ...behind, ...ours, ...deletedAt('11:59') }],
  ['that is being deleted with its finalizer', 'periodic', { ...ours, ...deletedAt('11:00') }],
  ['that is being deleted with other finalizers only', 'skip', { ...behind, ...others, ...deletedAt('11:00') }],
  ['that is paused', 'skip', { ...behind, annotations: { 'outrigger.dev/paused': 'true' } }],
])('the resync’s decision on an object %s is %s', (_, decision, metadata, status = { observedGeneration: 1 }) => {
  expect(planObject(aGadget('one', { metadata, status }), options)).toBe(decision);
});

it('a change is overdue after three runs more, if the status shows what was observed', () => {
  const at = (seconds: number, isObserved?: () => boolean) => {
    const object = aGadget('one', { metadata: { ...behind, creationTimestamp: hour('12:00') } });
    const ageOf = { nowMs: nowMs + seconds * 1000, overdueAfterSeconds: 2_040, isObserved };
    return planObject(object, { ...options, ...ageOf });
  };
  expect([at(2_040), at(2_041), at(2_041, () => false)]).toEqual(['unobserved', 'overdue', 'unobserved']);
});

it('an unobserved change is found within missedAfterSeconds plus one run interval, and never earlier', () => {
  const [interval, missedAfter] = [600, 240];
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3_600 }), (at) => {
      const changedAt = nowMs / 1000 + at;
      const object = aGadget('one', {
        metadata: { ...behind, ...written('kubectl', new Date(changedAt * 1000).toISOString()) },
      });
      const runs = Array.from({ length: 12 }, (_, number) => nowMs / 1000 + number * interval);
      const found = runs.find(
        (time) => time > changedAt && planObject(object, { ...options, nowMs: time * 1000 }) === 'unobserved',
      );
      expect(found).toBeGreaterThan(changedAt + missedAfter);
      expect(found).toBeLessThanOrEqual(changedAt + missedAfter + interval);
    }),
  );
});

it('a change that waits a day in a busy queue is sent by the first three of 144 runs and by every sixth one', () => {
  const object = aGadget('one', { metadata: { ...behind, uid: 'a', creationTimestamp: hour('12:00') } });
  const decide = (number: number) => {
    const startedMs = nowMs + number * 600_000 + 30_000;
    const busyRun = { startedMs, intervalSeconds: 600 };
    return planObject(object, { ...options, missedAfterSeconds: 20, nowMs: startedMs + 400_000, busyRun });
  };
  const sent = Array.from({ length: 144 }, (_, number) => number).filter((number) => decide(number) === 'unobserved');
  expect(sent).toEqual([0, 1, 2, ...Array.from({ length: 24 }, (_, index) => 5 + 6 * index)]);
  expect(decide(6)).toBe('queued');
});

describe('planObject for a status slice', () => {
  const statusSlice = { status: [], conditions: ['Painted', 'Dry'] };
  const observed = (painted: number, dry: number) => ({
    observedGeneration: 2,
    conditions: [
      { type: 'Painted', observedGeneration: painted },
      { type: 'Dry', observedGeneration: dry },
      { type: 'Ready', observedGeneration: 2 },
    ],
  });
  it.each<[string, ResyncDecision, object, object?]>([
    ['an object is periodic if all conditions of the slice have observed the generation', 'periodic', observed(2, 2)],
    ['an object is unobserved if one condition of the slice is older', 'unobserved', observed(2, 1)],
    ['an object is unobserved if only the first controller has observed it', 'unobserved', { observedGeneration: 2 }],
    ['an object is skipped if it is being deleted with the finalizer of the other controller', 'skip', {}, ours],
  ])('%s', (_, decision, status, deleted) => {
    const metadata = { ...behind, ...(deleted === undefined ? {} : { ...deleted, deletionTimestamp: hour('11:00') }) };
    expect(planObject(aGadget('one', { metadata, status }), { ...options, controller: 'painter', statusSlice })).toBe(
      decision,
    );
  });

  it('an object is periodic for the first controller, whatever the slice has observed', () => {
    const status = { observedGeneration: 2, conditions: observed(1, 1).conditions };
    expect(planObject(aGadget('one', { metadata: behind, status }), options)).toBe('periodic');
  });
});

describe('resyncDueAt', () => {
  it('a key is due exactly once in a period, within the interval of its run', () => {
    const runIntervalSeconds = fc.constantFrom(1, 10, 60, 600);
    fc.assert(
      fc.property(
        fc.string(),
        runIntervalSeconds,
        fc.integer({ min: 1, max: 80 }),
        fc.nat(1e9),
        (key, interval, runs, at) => {
          const dueTimes = Array.from({ length: runs }, (_, index) => {
            const runSeconds = (at + index) * interval;
            const dueAt = resyncDueAt(key, {
              runSeconds,
              runIntervalSeconds: interval,
              periodSeconds: runs * interval,
              nowSeconds: runSeconds,
            });
            if (dueAt !== undefined) {
              expect(dueAt).toBeGreaterThanOrEqual(runSeconds);
              expect(dueAt).toBeLessThan(runSeconds + interval);
            }
            return dueAt;
          });
          expect(dueTimes.filter((dueAt) => dueAt !== undefined)).toHaveLength(1);
        },
      ),
    );
  });

  it('due times are spread over the period and over each run interval', () => {
    const dueAtOf = (name: number) => {
      for (let number = 0; number < 60; number += 1) {
        const dueAt = resyncDueAt(`t${name}`, {
          runSeconds: number * 600,
          runIntervalSeconds: 600,
          periodSeconds: 36_000,
          nowSeconds: number * 600,
        });
        if (dueAt !== undefined) return dueAt;
      }
      return -1;
    };
    const dueAts = Array.from({ length: 6_000 }, (_, name) => dueAtOf(name));
    const byRun = Map.groupBy(dueAts, (dueAt) => Math.floor(dueAt / 600));
    expect(byRun.size).toBe(60);
    for (const inRun of byRun.values()) {
      expect(inRun.length).toBeLessThan(160);
      expect(new Set(inRun).size).toBeGreaterThan(inRun.length * 0.7);
    }
  });

  it('due times that passed while the list was read are spread over the rest of the interval', () => {
    const run = { runSeconds: 6_000, runIntervalSeconds: 600, periodSeconds: 600 };
    const keys = Array.from({ length: 3_000 }, (_, name) => `t${name}`);
    const dueTimes = (nowSeconds: number) => keys.map((key) => resyncDueAt(key, { ...run, nowSeconds }) ?? -1);
    const late = dueTimes(6_400.5);
    expect([Math.min(...late) >= 6_401, Math.max(...late) < 6_600]).toEqual([true, true]);
    for (const [index, dueAt] of dueTimes(6_000).entries()) if (dueAt > 6_400) expect(late[index]).toBe(dueAt);
    // On average it is 15 per second.
    const perSecond = [...Map.groupBy(late, (dueAt) => dueAt).values()].map(({ length }) => length);
    expect(Math.max(...perSecond)).toBeLessThan(40);
    expect(new Set(dueTimes(6_700))).toEqual(new Set([6_700]));
  });
});

describe('createResyncRateLimiter', () => {
  it('ResyncRateLimiter.take never exceeds the rate, returns the first free second, and leaves no gap', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(20)), (perSecond, requests) => {
        const rateLimiter = createResyncRateLimiter(perSecond, 5);
        const taken = new Map<number, number>();
        for (const preferred of requests) {
          const second = rateLimiter.take(preferred) ?? -1;
          const from = Math.max(5, preferred);
          expect(second).toBeGreaterThanOrEqual(from);
          for (let before = from; before < second; before += 1) expect(taken.get(before)).toBe(perSecond);
          taken.set(second, (taken.get(second) ?? 0) + 1);
          expect(taken.get(second)).toBeLessThanOrEqual(perSecond);
        }
      }),
    );
  });

  it('ResyncRateLimiter.scheduled lets a second rate limiter continue within the same rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 9 }),
        fc.array(fc.nat(30)),
        fc.array(fc.nat(30)),
        (perSecond, first, second) => {
          const rateLimiter = createResyncRateLimiter(perSecond, 0);
          // Keys with unobserved changes are requested now, periodic reconciles at any later time. Only few of these
          // are in the same second.
          const taken = first.map(
            (preferred, index) => rateLimiter.take(index % 2 === 0 ? 3 : 10 + ((preferred * 7 + index) % 200)) ?? -1,
          );
          const { scheduledUntil, scheduledPerSecond } = rateLimiter.scheduled(4);
          expect(scheduledUntil).toBeGreaterThanOrEqual(4);
          if (scheduledPerSecond >= perSecond) return;
          const next = createResyncRateLimiter(perSecond - scheduledPerSecond, scheduledUntil);
          const all = [...taken.filter((one) => one >= 4), ...second.map((preferred) => next.take(preferred) ?? -1)];
          for (const inSecond of Map.groupBy(all, (one) => one).values()) {
            expect(inSecond.length).toBeLessThanOrEqual(perSecond);
          }
        },
      ),
    );
  });

  it('ResyncRateLimiter.scheduled ignores seconds that have passed, and is not delayed by later ones', () => {
    const rateLimiter = createResyncRateLimiter(3, 0);
    for (const preferred of [0, 0, 0, 5, 70, 70]) rateLimiter.take(preferred);
    expect([rateLimiter.scheduled(0), rateLimiter.scheduled(5)]).toEqual([
      { scheduledUntil: 1, scheduledPerSecond: 2 },
      { scheduledUntil: 6, scheduledPerSecond: 2 },
    ]);
    expect(rateLimiter.scheduled(80)).toEqual({ scheduledUntil: 80, scheduledPerSecond: 0 });
  });
});
