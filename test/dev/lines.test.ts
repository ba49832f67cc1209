// Only what a person reads: changes, runs and statuses as lines, and the two ways they are written.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineController } from '../../src/core/controller.ts';
import { defineResource } from '../../src/core/resource.ts';
import { linesOfChange, linesOfLog } from '../../src/local/lines.ts';
import { createPrinter } from '../../src/dev/printer.ts';

const resource = { group: 'g', version: 'v1', plural: 'watertanks', namespaced: true };
const tank = (generation: number, targetLevel: number, status?: object, deletionTimestamp?: string) => ({
  kind: 'WaterTank',
  metadata: {
    name: 'north',
    namespace: 'default',
    uid: 'u',
    generation,
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
  },
  spec: { targetLevel, ingredients: [{ name: 'rice', item: 'x' }] },
  ...(status === undefined ? {} : { status }),
});
const status = {
  observedGeneration: 1,
  action: 'Filling',
  conditions: [{ type: 'Ready', status: 'False', reason: 'BelowTarget' }],
};
const ok = { status: 'True', reason: 'Ok' } as const;
const texts = (change: Parameters<typeof linesOfChange>[0]) =>
  linesOfChange(change).map(({ who, text }) => `${who}: ${text}`);

describe('a change', () => {
  it.each([
    ['a new object', { after: tank(1, 40) }, ['changed: is new: targetLevel 40, ingredients [rice]']],
    ['a new spec', { before: tank(1, 40), after: tank(2, 20) }, ['changed: targetLevel 40 -> 20']],
    [
      'a new status',
      { before: tank(1, 40), after: tank(1, 40, status) },
      ['status: action Filling, not Ready (BelowTarget)'],
    ],
    [
      'a new generation under an old status',
      { before: tank(1, 40, status), after: tank(2, 20, status) },
      ['changed: targetLevel 40 -> 20'],
    ],
    ['a label alone', { before: tank(1, 40, status), after: tank(1, 40, status) }, []],
    [
      'a deletion asked for',
      { before: tank(1, 40), after: tank(2, 40, undefined, 'now') },
      ['changed: is to be deleted'],
    ],
    ['a deletion', { before: tank(1, 40) }, ['changed: is gone']],
  ])('%s', (_, change, expected) => {
    expect(texts({ resource, ...change })).toEqual(expected);
  });
});

it('the status of a kind with a second controller tells of its conditions beside Ready', () => {
  const kind = defineResource({
    ...{ group: resource.group, version: 'v1', kind: 'WaterTank', spec: z.object({}), conditions: [] },
    status: z.object({}),
  });
  const second = defineController(kind, { status: [], conditions: ['Lit', 'Heard'] })({
    name: 'second',
    reconcile: async () => ({ status: {}, conditions: { Lit: ok, Heard: ok } }),
  });
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'Ready' },
    { type: 'Lit', status: 'False', reason: 'Dark', message: 'no lamp' },
    { type: 'Heard', status: 'True', reason: 'Ok' },
  ];
  const after = tank(1, 40, { observedGeneration: 1, conditions });
  const told = linesOfChange({ resource, before: tank(1, 40), after }, [second]).map(({ text }) => text);
  expect(told).toEqual(['Ready, not Lit (Dark: no lamp), Heard']);
});

describe('a log line', () => {
  const about = { who: 'water-tank', kind: 'watertank', nowSeconds: 100 };
  const of = (entry: object) => linesOfLog(JSON.stringify(entry), about);
  it('of a reconcile says why it ran, what it did and when it runs again', () => {
    const entry = {
      level: 'INFO',
      message: 'reconciled',
      name: 'north',
      namespace: 'shop',
      lane: 'requeue',
      outcome: 'done',
      writes: 1,
      nextLane: 'requeue',
      dueAt: 102,
    };
    expect(of(entry)[0]).toMatchObject({
      who: 'water-tank',
      object: 'watertank/shop/north',
      text: 'ran because its time had come: 1 write, again in 2 s',
    });
  });
  it('of a failure carries the error', () => {
    const entry = {
      level: 'WARN',
      message: 'reconciled',
      name: 'a',
      lane: 'watch',
      outcome: 'failed',
      error: 'no reading',
    };
    expect(of(entry)[0]?.text).toBe('ran because it changed: failed: no reading');
  });
  it('is shown when it warns, and not when it chats or counts', () => {
    expect(of({ level: 'INFO', message: 'hello' })).toEqual([]);
    expect(of({ _aws: {}, ReconcilesDone: 1 })).toEqual([]);
    expect(of({ level: 'ERROR', message: 'broke', error: 'why' })[0]?.text).toBe('broke: why');
  });
  it('that is not ours is passed on as it is', () => {
    expect(linesOfLog('Debugger listening', about)).toEqual([{ who: 'water-tank', text: 'Debugger listening' }]);
  });
});

describe('printing', () => {
  const print = (readable: boolean) => {
    const written: string[] = [];
    createPrinter((text) => void written.push(text), { readable, now: () => new Date(2026, 0, 1, 12, 0, 1) })({
      who: 'changed',
      object: 'watertank/north',
      text: 'is new',
    });
    return written.join('');
  };
  it('is aligned on a terminal', () => {
    expect(print(true)).toBe('12:00:01  changed     watertank/north               is new\n');
  });
  it('is JSON otherwise', () => {
    expect(JSON.parse(print(false))).toMatchObject({ who: 'changed', object: 'watertank/north', text: 'is new' });
  });
});
