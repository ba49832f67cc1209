// Only the lines for changes, runs and statuses, and their two output formats.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { formatLog, formatObjectChange } from '../../src/dev/lines.ts';
import { createPrinter } from '../../src/dev/printer.ts';

const resource = { group: 'g', version: 'v1', plural: 'watertanks', namespaced: true };
const tank = (generation: number, targetLevel: number, status?: object, deletionTimestamp?: string) => ({
  kind: 'WaterTank',
  metadata: { name: 'north', namespace: 'default', generation, ...(deletionTimestamp ? { deletionTimestamp } : {}) },
  spec: { targetLevel, ingredients: [{ name: 'rice', item: 'x' }] },
  ...(status === undefined ? {} : { status }),
});
const status = {
  observedGeneration: 1,
  action: 'Filling',
  conditions: [{ type: 'Ready', status: 'False', reason: 'BelowTarget' }],
};
const ok = { status: 'True', reason: 'Ok' } as const;
const texts = (change: Parameters<typeof formatObjectChange>[0]) =>
  formatObjectChange(change).map(({ source, text }) => `${source}: ${text}`);

describe('formatObjectChange', () => {
  const before = { before: tank(1, 40) };
  it.each([
    ['a created object', { after: tank(1, 40) }, ['changed: is new: targetLevel 40, ingredients [rice]']],
    ['a new spec', { ...before, after: tank(2, 20) }, ['changed: targetLevel 40 -> 20']],
    ['a new status', { ...before, after: tank(1, 40, status) }, ['status: action Filling, not Ready (BelowTarget)']],
    [
      'a new generation under an old status',
      { before: tank(1, 40, status), after: tank(2, 20, status) },
      ['changed: targetLevel 40 -> 20'],
    ],
    ['a changed label', { before: tank(1, 40, status), after: tank(1, 40, status) }, []],
    ['a requested deletion', { ...before, after: tank(2, 40, undefined, 'now') }, ['changed: is being deleted']],
    ['a deletion', before, ['changed: was deleted']],
  ])('formatObjectChange formats %s', (_, change, expected) => {
    expect(texts({ resource, ...change })).toEqual(expected);
  });
});

it('formatObjectChange shows the conditions of status slices after Ready', () => {
  const kind = defineKind({
    ...{ group: resource.group, version: 'v1', kind: 'WaterTank', spec: z.object({}), conditions: [] },
    status: z.object({}),
  });
  const second = kind.statusSlice({ status: [], conditions: ['Lit', 'Heated'] }).controller('second', {
    reconcile: async () => ({ status: {}, conditions: { Lit: ok, Heated: ok } }),
  });
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'Ready' },
    { type: 'Lit', status: 'False', reason: 'Dark', message: 'no lamp' },
    { type: 'Heated', status: 'True', reason: 'Ok' },
  ];
  const after = tank(1, 40, { observedGeneration: 1, conditions });
  const lines = formatObjectChange({ resource, before: tank(1, 40), after }, [second]).map(({ text }) => text);
  expect(lines).toEqual(['Ready, not Lit (Dark: no lamp), Heated']);
});

describe('formatLog', () => {
  const about = { source: 'water-tank', kind: 'watertank', nowSeconds: 100 };
  const of = (entry: object) => formatLog(JSON.stringify(entry), about);
  const reconciled = (outcome: string, cause: string) => ({ message: 'reconciled', name: 'a', cause, outcome });
  it('formatLog shows the cause, the writes and the next run of a reconcile', () => {
    const next = { nextCause: 'requeue', dueAt: 102 };
    const entry = { ...reconciled('done', 'requeue'), name: 'north', namespace: 'shop', writes: 1, ...next };
    expect(of(entry)[0]).toMatchObject({
      source: 'water-tank',
      object: 'watertank/shop/north',
      text: 'ran because its requeue was due: 1 write, next in 2 s',
    });
  });
  it('formatLog shows the error of a failed reconcile and its frames, with files relative to the project', () => {
    const failed = { ...reconciled('failed', 'change'), error: 'no reading' };
    const text = 'ran because it changed: failed: no reading';
    expect(of(failed)[0]?.text).toBe(text);
    const stack = ['at reconcile (file:///work/shop/src/controllers/pump.ts:12:3)', 'caused by SyntaxError'];
    expect(formatLog(JSON.stringify({ ...failed, stack }), { ...about, root: '/work/shop' })[0]?.text).toBe(
      `${text}\nat reconcile (src/controllers/pump.ts:12:3)\ncaused by SyntaxError`,
    );
  });
  it('formatLog shows entries of the author with their fields, warnings and errors, and no metrics', () => {
    expect(of({ level: 'INFO', message: 'children written', writes: 1 })).toEqual([]);
    expect(of({ level: 'INFO', message: 'poured', service: 'x', amount: 3, unit: 'g' })[0]?.text).toBe(
      'poured amount=3 unit=g',
    );
    expect(of({ _aws: {}, ReconcilesDone: 1 })).toEqual([]);
    expect(of({ level: 'ERROR', message: 'broke', error: 'why' })[0]?.text).toBe('broke: why');
  });
  it('formatLog passes on a line that is no log entry', () => {
    expect(formatLog('Debugger listening', about)).toEqual([{ source: 'water-tank', text: 'Debugger listening' }]);
  });
});

describe('createPrinter', () => {
  const print = (readable: boolean, line: Parameters<ReturnType<typeof createPrinter>>[0] = isNew) => {
    const written: string[] = [];
    const now = () => new Date(2026, 0, 1, 12, 0, 1);
    createPrinter((text) => void written.push(text), { readable, now })(line);
    return written.join('');
  };
  const isNew = { source: 'changed', object: 'watertank/north', text: 'is new' } as const;
  it('createPrinter leaves out runs that succeeded, except with verbose', () => {
    const shown = (verbose: boolean) => {
      const written: string[] = [];
      const one = createPrinter((text) => void written.push(text), { readable: true, verbose });
      for (const outcome of ['done', 'failed']) {
        const entry = { message: 'reconciled', name: 'a', cause: 'resync', outcome, writes: 0 };
        formatLog(JSON.stringify(entry), { source: 'foo', kind: 'foo', nowSeconds: 1 }).forEach(one);
      }
      return written.length;
    };
    expect([shown(false), shown(true)]).toEqual([1, 2]);
  });

  it('createPrinter aligns columns on a terminal', () => {
    expect(print(true)).toBe('12:00:01  changed     watertank/north               is new\n');
  });
  it('createPrinter prints JSON if text is not asked for', () => {
    expect(JSON.parse(print(false))).toMatchObject(isNew);
  });
  it('createPrinter prints no control sequence, and no value can fake another line', () => {
    const line = { source: 'status', object: 'a/\u001b[2Jb', text: 'Ready\n12:00:02  changed  faked \u202e' };
    expect(print(true, line)).toBe(
      `12:00:01  status      ${'a/\\u001b[2Jb'.padEnd(28)}  Ready\n          12:00:02  changed  faked \\u202e\n`,
    );
    expect(print(false, line)).toContain('faked \\u202e');
    expect(JSON.parse(print(false, line))).toMatchObject(line);
  });
});
