// Only the lines for changes, runs, statuses and processes, and their two output formats.

import { FunctionError } from '@outrigger/cli/dev/lambda/function-process';
import {
  debounceStatuses,
  formatLambdaEvent,
  formatLog,
  formatObjectChange,
  formatWatcherEvent,
} from '@outrigger/cli/dev/lines';
import { createPrinter } from '@outrigger/cli/dev/printer';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { deletedMark } from '../../src/core/names.ts';
import { ConfigMap } from '../../src/kubernetes.ts';

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
    group: resource.group,
    version: 'v1',
    kind: 'WaterTank',
    spec: z.object({}),
    conditions: [],
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
    const stack = ['at reconcile (file:///srv/shop/src/controllers/pump.ts:12:3)', 'caused by SyntaxError'];
    expect(formatLog(JSON.stringify({ ...failed, stack }), { ...about, root: '/srv/shop' })[0]?.text).toBe(
      `${text}\nat reconcile (src/controllers/pump.ts:12:3)\ncaused by SyntaxError`,
    );
    const spaced = { ...failed, stack: ['at reconcile (file:///my%20work/shop/src/a%20b.ts:1:2)'] };
    expect(formatLog(JSON.stringify(spaced), { ...about, root: '/my work/shop' })[0]?.text).toBe(
      `${text}\nat reconcile (src/a b.ts:1:2)`,
    );
  });
  it('formatLog shows entries of the author with their fields, warnings and errors, and no metrics', () => {
    expect(of({ level: 'INFO', message: 'children written', writes: 1 })).toEqual([]);
    const down = { message: 'watcher down', reason: 'no watcher has started yet' };
    expect(of({ level: 'INFO', ...down })).toEqual([]);
    expect(of({ level: 'WARN', ...down })).toHaveLength(1);
    expect(of({ level: 'INFO', message: 'poured', service: 'x', amount: 3, unit: 'g' })[0]?.text).toBe(
      'poured amount=3 unit=g',
    );
    expect(of({ _aws: {}, ReconcilesDone: 1 })).toEqual([]);
    expect(of({ level: 'ERROR', message: 'broke', error: 'why' })[0]?.text).toBe('broke: why');
  });
  it.each([
    ['change', { causedBy: 'pods default/a' }, 'pods default/a changed'],
    ['change', { causedBy: `pods default/a ${deletedMark}` }, 'pods default/a was deleted or is no longer selected'],
    ['change', { causedBy: deletedMark }, 'it was deleted or is no longer selected'],
    ['wake', { causedBy: 'LevelChanged' }, 'of an external event (LevelChanged)'],
    ['command', { causedBy: 'anna' }, 'of a command'],
    ['retry', { merged: 2, mergedCauses: ['change', 'wake'] }, 'its last reconcile failed, and 2 more (change, wake)'],
    ['of-later', {}, 'of-later'],
  ])('formatLog names the cause %s with %j', (cause, more, text) => {
    expect(of({ ...reconciled('done', cause), ...more })[0]?.text).toBe(`ran because ${text}: nothing to write`);
  });
  it.each([
    [{ outcome: 'nothing', reason: 'Paused' }, 'nothing to do (Paused)'],
    [{ outcome: 'terminal', error: 'no item' }, 'not retried until it changes: no item'],
    [
      { outcome: 'postponed', reason: 'unreachable', nextCause: 'retry', dueAt: 90 },
      'postponed (unreachable), next in 0 s',
    ],
    [{ outcome: 'done', writes: 2 }, '2 writes'],
    [{ outcome: 'of-later' }, 'of-later'],
  ])('formatLog shows the outcome %j', (end, text) => {
    expect(of({ ...reconciled('done', 'resync'), ...end })[0]?.text).toBe(`ran because of the resync: ${text}`);
  });
  it('formatLog passes on a line that is no log entry', () => {
    expect(formatLog('Debugger listening', about)).toEqual([{ source: 'water-tank', text: 'Debugger listening' }]);
  });
});

describe('formatLambdaEvent', () => {
  const kind = { group: resource.group, version: 'v1', kind: 'WaterTank', conditions: [] };
  const pump = defineKind({ ...kind, spec: z.object({}), status: z.object({}) }).controller('pump', {
    reconcile: async () => ({ status: {}, conditions: {} }),
  });
  const labeller = ConfigMap.controller('labeller', { reconcile: async () => undefined });
  const at = { prefix: 'outrigger-dev-', controllers: [pump, labeller], root: '/srv/shop' };
  const failure = (errorType: string, errorMessage: string) =>
    new FunctionError({
      errorType,
      errorMessage,
      trace: ['Error', 'at x (/srv/shop/node_modules/x/index.js:1:1)', 'at /srv/shop/src/controllers/pump.ts:12:3'],
    });
  it.each([
    [
      'that throws',
      failure('Error', 'no pump'),
      'failed: no pump (src/controllers/pump.ts:12:3); the queue keeps its messages',
    ],
    [
      'that cannot be loaded',
      failure('Runtime.ImportModuleError', 'no module x'),
      'cannot be loaded: no module x (src/controllers/pump.ts:12:3); the queue keeps its messages',
    ],
    ['that ended', new Error('ended: SIGKILL'), 'failed: ended: SIGKILL'],
  ])('formatLambdaEvent of a function %s has the place in its sources', (_, error, text) => {
    const event = { type: 'failed', function: 'outrigger-dev-pump', error } as const;
    expect(formatLambdaEvent(event, at)).toEqual([{ source: 'pump', text }]);
  });
  it('formatLambdaEvent of a function that died names the keys of its batch, three at most', () => {
    const error = failure('Sandbox.Timedout', 'Task timed out');
    const textOf = (...groups: string[]) =>
      formatLambdaEvent({ type: 'failed', function: 'outrigger-dev-pump', error, groups }, at)[0]?.text;
    expect(textOf('a')).toMatch(/; the queue keeps its messages: a$/);
    expect(textOf('a', 'b', 'c', 'd', 'e')).toMatch(/its messages: a, b, c and 2 more$/);
  });

  it('formatLambdaEvent names the object of a log line with the kind of the controller', () => {
    const fields = { function_request_id: 'id', name: 'north', namespace: 'default' };
    const text = JSON.stringify({ level: 'WARN', message: 'low', ...fields });
    const event = { type: 'line', function: 'outrigger-dev-pump', text, pid: 7, stream: 'stdout' } as const;
    expect(formatLambdaEvent(event, at)).toMatchObject([{ source: 'pump', object: 'watertank/north', text: 'low' }]);
  });

  it.each([
    ['pump', 2, true],
    ['labeller', 2, undefined],
    ['labeller', 0, true],
  ])('U13: a run of %s with %i writes is a line without --verbose only where no status shows it', (name, writes, verbose) => {
    const entry = { level: 'INFO', message: 'reconciled', name: 'a', cause: 'change', outcome: 'done', writes };
    const event = { type: 'line', pid: 7, stream: 'stdout', text: JSON.stringify(entry) } as const;
    const [line] = formatLambdaEvent({ ...event, function: `outrigger-dev-${name}` }, at);
    expect(line?.verbose).toBe(verbose);
  });
});

it.each([
  [{ type: 'started' }, 'started (pid 7)'],
  [{ type: 'ended', how: 'SIGKILL', again: true }, 'ended: SIGKILL (pid 7); it is restarted'],
  [{ type: 'ended', how: 'exit 0', again: false }, 'ended: exit 0 (pid 7)'],
  [{ type: 'watching', text: '{"kinds":3}' }, 'watches 3 kinds (pid 7)'],
  [
    { type: 'watching', text: '{"kinds":2,"notServed":["foos.a"]}' },
    'watches 2 kinds (pid 7); the API server does not serve foos.a: give its CRD, as with outrigger dev --apply FILE or kubectl apply, and it is watched',
  ],
  [{ type: 'watching', text: 'no JSON' }, 'watches its kinds (pid 7)'],
  [{ type: 'line', text: '{"level":"WARN","message":"watch failed","error":"reset"}' }, 'watch failed: reset'],
] as const)('formatWatcherEvent formats %j', (event, text) => {
  expect(formatWatcherEvent({ pid: 7, ...event })).toMatchObject([{ source: 'watcher', text }]);
});

it('debounceStatuses passes on a status after the lines that follow it at once, and flush the rest in order', () => {
  vi.useFakeTimers();
  try {
    const passed: string[] = [];
    const { line, flush } = debounceStatuses(({ text }) => void passed.push(text));
    line({ source: 'status', text: 'Ready' });
    line({ source: 'foo', text: 'ran' });
    vi.advanceTimersByTime(200);
    expect(passed).toEqual(['ran', 'Ready']);
    for (const text of ['first', 'second']) line({ source: 'status', text });
    flush();
    vi.advanceTimersByTime(200);
    expect(passed).toEqual(['ran', 'Ready', 'first', 'second']);
  } finally {
    vi.useRealTimers();
  }
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
  // Control T117.
  it('createPrinter prints no control sequence, and no value can fake another line', () => {
    const line = { source: 'status', object: 'a/\u001b[2Jb', text: 'Ready\n12:00:02  changed  faked \u202e' };
    expect(print(true, line)).toBe(
      `12:00:01  status      ${'a/\\u001b[2Jb'.padEnd(28)}  Ready\n          12:00:02  changed  faked \\u202e\n`,
    );
    expect(print(false, line)).toContain('faked \\u202e');
    expect(JSON.parse(print(false, line))).toMatchObject(line);
  });
});
