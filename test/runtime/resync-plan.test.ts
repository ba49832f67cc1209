// What a poll makes of one object, and when each goes out. Pure; lists and queues are resync.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacer, type Finding, judge, turnOf } from '../../src/runtime/resync-plan.ts';
import { aGadget } from '../resync/gadgets.ts';

const hour = (time: string) => `2026-11-21T${time}:00Z`;
const nowMs = Date.parse(hour('12:00'));
const by = { controller: 'gadget', graceSeconds: 240, nowMs };
const behind = { generation: 2 };
const ours = { finalizers: ['outrigger.dev/gadget'] };
const written = (manager: string, time: string, subresource?: string) => ({
  managedFields: [{ manager, time, operation: 'Apply', ...(subresource === undefined ? {} : { subresource }) }],
});

describe('an object', () => {
  it.each<[string, Finding, object, object?]>([
    ['is regular when its generation was observed', 'regular', { generation: 1 }],
    ['is unobserved when its generation was not', 'unobserved', behind],
    ['is unobserved when it never had a status', 'unobserved', { generation: 1 }, {}],
    ['is regular when it has no generation, as a ConfigMap', 'regular', { generation: undefined }, {}],
    ['is regular as long as its creation is within the grace', 'regular', { creationTimestamp: hour('11:57') }, {}],
    ['is unobserved from the grace on', 'unobserved', { creationTimestamp: hour('11:55') }, {}],
    [
      'is regular when somebody changed it within the grace',
      'regular',
      { ...behind, ...written('kubectl', hour('11:58')) },
    ],
    [
      'is unobserved although somebody wrote its status just now',
      'unobserved',
      { ...behind, ...written('monitor', hour('11:59'), 'status') },
    ],
    [
      'is unobserved although we wrote it ourselves just now',
      'unobserved',
      { ...behind, ...written('outrigger-gadget', hour('11:59')) },
    ],
    [
      'is unobserved when its deletion was, with our finalizer on it',
      'unobserved',
      { ...behind, ...ours, deletionTimestamp: hour('11:00') },
    ],
    [
      'is regular when its deletion is within the grace',
      'regular',
      { ...behind, ...ours, deletionTimestamp: hour('11:59') },
    ],
    [
      'is visited in its turn while it is being deleted with our finalizer',
      'regular',
      { ...ours, deletionTimestamp: hour('11:00') },
    ],
    [
      'is left alone when it is being deleted and others’ finalizers are left',
      'left-alone',
      { ...behind, finalizers: ['outrigger.dev/other'], deletionTimestamp: hour('11:00') },
    ],
    ['is left alone while it is paused', 'left-alone', { ...behind, annotations: { 'outrigger.dev/paused': 'true' } }],
  ])('%s', (_, finding, metadata, status = { observedGeneration: 1 }) => {
    expect(judge(aGadget('one', { metadata, status }), by)).toBe(finding);
  });
});

describe('a change that nobody observed', () => {
  it('is always found by a tick that is at most a tick and a grace after it, and never within the grace', () => {
    const [tick, grace] = [600, 240];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600 }), (at) => {
        const changedAt = nowMs / 1000 + at;
        const object = aGadget('one', {
          metadata: { ...behind, ...written('kubectl', new Date(changedAt * 1000).toISOString()) },
        });
        const ticks = Array.from({ length: 12 }, (_, number) => nowMs / 1000 + number * tick);
        const found = ticks.find(
          (time) => time > changedAt && judge(object, { ...by, nowMs: time * 1000 }) === 'unobserved',
        );
        expect(found).toBeGreaterThan(changedAt + grace);
        expect(found).toBeLessThanOrEqual(changedAt + grace + tick);
      }),
    );
  });
});

describe('an object, to a part’s controller', () => {
  const part = { status: [], conditions: ['Painted', 'Dry'] };
  const observed = (painted: number, dry: number) => ({
    observedGeneration: 2,
    conditions: [
      { type: 'Painted', observedGeneration: painted },
      { type: 'Dry', observedGeneration: dry },
      { type: 'Ready', observedGeneration: 2 },
    ],
  });
  it.each<[string, Finding, object, object?]>([
    ['is regular when each of its conditions is of the generation', 'regular', observed(2, 2)],
    ['is unobserved when one of its conditions is older', 'unobserved', observed(2, 1)],
    ['is unobserved when only the first controller has spoken', 'unobserved', { observedGeneration: 2 }],
    ['is left alone when it is being deleted and only the other’s finalizer is left', 'left-alone', {}, ours],
  ])('%s', (_, finding, status, deleted) => {
    const metadata = { ...behind, ...(deleted === undefined ? {} : { ...deleted, deletionTimestamp: hour('11:00') }) };
    expect(judge(aGadget('one', { metadata, status }), { ...by, controller: 'painter', part })).toBe(finding);
  });

  it('is the first controller’s all the same', () => {
    const status = { observedGeneration: 2, conditions: observed(1, 1).conditions };
    expect(judge(aGadget('one', { metadata: behind, status }), by)).toBe('regular');
  });
});

describe('an object’s turn', () => {
  it('always comes exactly once in a period, within the tick of its run', () => {
    const tickSeconds = fc.constantFrom(1, 10, 60, 600);
    fc.assert(
      fc.property(
        fc.string(),
        tickSeconds,
        fc.integer({ min: 1, max: 80 }),
        fc.nat(1e9),
        (target, tick, slices, at) => {
          const turns = Array.from({ length: slices }, (_, index) => {
            const runSeconds = (at + index) * tick;
            const dueAt = turnOf(target, {
              runSeconds,
              tickSeconds: tick,
              periodSeconds: slices * tick,
              nowSeconds: runSeconds,
            });
            if (dueAt !== undefined) {
              expect(dueAt).toBeGreaterThanOrEqual(runSeconds);
              expect(dueAt).toBeLessThan(runSeconds + tick);
            }
            return dueAt;
          });
          expect(turns.filter((dueAt) => dueAt !== undefined)).toHaveLength(1);
        },
      ),
    );
  });

  it('is the same whether a run lists it once or twice', () => {
    const slice = { runSeconds: 1_763_726_400, tickSeconds: 600, periodSeconds: 600, nowSeconds: 1_763_726_400 };
    expect(turnOf('a', slice)).toBe(turnOf('a', slice));
  });

  it('is spread over the period and over each tick, so that no second gets many', () => {
    const place = (name: number) => {
      for (let run = 0; run < 60; run += 1) {
        const dueAt = turnOf(`t${name}`, {
          runSeconds: run * 600,
          tickSeconds: 600,
          periodSeconds: 36_000,
          nowSeconds: run * 600,
        });
        if (dueAt !== undefined) return dueAt;
      }
      return -1;
    };
    const dueAts = Array.from({ length: 6_000 }, (_, name) => place(name));
    const bySlice = Map.groupBy(dueAts, (dueAt) => Math.floor(dueAt / 600));
    expect(bySlice.size).toBe(60);
    for (const inSlice of bySlice.values()) {
      expect(inSlice.length).toBeLessThan(160);
      expect(new Set(inSlice).size).toBeGreaterThan(inSlice.length * 0.7);
    }
  });

  it('comes with every run when the period is shorter than a tick', () => {
    const slice = { runSeconds: 600, tickSeconds: 600, periodSeconds: 60, nowSeconds: 600 };
    expect(turnOf('a', slice)).toBeGreaterThanOrEqual(600);
  });

  it('that has passed while the list was read comes in what is left of the tick, and not at once with all the others', () => {
    const slice = { runSeconds: 6_000, tickSeconds: 600, periodSeconds: 600 };
    const targets = Array.from({ length: 3_000 }, (_, name) => `t${name}`);
    const turns = (nowSeconds: number) => targets.map((target) => turnOf(target, { ...slice, nowSeconds }) ?? -1);
    const late = turns(6_400.5);
    expect([Math.min(...late) >= 6_401, Math.max(...late) < 6_600]).toEqual([true, true]);
    for (const [index, turn] of turns(6_000).entries()) if (turn > 6_400) expect(late[index]).toBe(turn);
    // 15 a second on average.
    const perSecond = [...Map.groupBy(late, (turn) => turn).values()].map(({ length }) => length);
    expect(Math.max(...perSecond)).toBeLessThan(40);
    expect(new Set(turns(6_700))).toEqual(new Set([6_700]));
  });
});

describe('a pacer', () => {
  it('never hands out a second more often than allowed, nor one before its start or the wish, and leaves no gap', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(20)), (perSecond, wishes) => {
        const pacer = createPacer(perSecond, 5);
        const handed = new Map<number, number>();
        for (const wish of wishes) {
          const second = pacer.take(wish) ?? -1;
          const from = Math.max(5, wish);
          expect(second).toBeGreaterThanOrEqual(from);
          for (let before = from; before < second; before += 1) expect(handed.get(before)).toBe(perSecond);
          handed.set(second, (handed.get(second) ?? 0) + 1);
          expect(handed.get(second)).toBeLessThanOrEqual(perSecond);
        }
      }),
    );
  });

  it('hands out nothing at or after the end, and takes nothing then', () => {
    const pacer = createPacer(1, 0);
    expect([pacer.take(0, 2), pacer.take(0, 2), pacer.take(0, 2), pacer.take(0)]).toEqual([0, 1, undefined, 2]);
  });

  it('tells another where to go on, so that together they keep the pace', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 9 }),
        fc.array(fc.nat(30)),
        fc.array(fc.nat(30)),
        (perSecond, first, second) => {
          const pacer = createPacer(perSecond, 0);
          // What is missed is wished for now, a turn may be any time later; few of those fall into one second.
          const handed = first.map(
            (wish, index) => pacer.take(index % 2 === 0 ? 3 : 10 + ((wish * 7 + index) % 200)) ?? -1,
          );
          const { pacedTo, taken } = pacer.rest(4);
          expect(pacedTo).toBeGreaterThanOrEqual(4);
          if (taken >= perSecond) return;
          const next = createPacer(perSecond - taken, pacedTo);
          const all = [...handed.filter((one) => one >= 4), ...second.map((wish) => next.take(wish) ?? -1)];
          for (const inSecond of Map.groupBy(all, (one) => one).values()) {
            expect(inSecond.length).toBeLessThanOrEqual(perSecond);
          }
        },
      ),
    );
  });

  it('does not let another wait for what is full before now, nor for a turn that is far away', () => {
    const pacer = createPacer(3, 0);
    for (const wish of [0, 0, 0, 5, 70, 70]) pacer.take(wish);
    expect([pacer.rest(0), pacer.rest(5)]).toEqual([
      { pacedTo: 1, taken: 2 },
      { pacedTo: 6, taken: 2 },
    ]);
    expect(pacer.rest(80)).toEqual({ pacedTo: 80, taken: 0 });
  });
});
