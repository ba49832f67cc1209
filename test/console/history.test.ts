// Only what the console's source for dev keeps: the timeline of an object, changed fields, rates and latencies.

import { fieldChanges } from '@outrigger/cli/console/field-changes';
import { createHistory, readPast } from '@outrigger/cli/console/history';
import { objectRow } from '@outrigger/cli/console/object-row';
import type { ObjectEntry } from '@outrigger/cli/console/wire';
import { describe, expect, it } from 'vitest';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { pausedAnnotation } from '../../src/core/names.ts';

const id = 'local:watertanks.plant.example.com/default/north';
const { resource } = waterTank.declaration;
const tank = (status?: object, metadata: object = {}) => ({
  metadata: { name: 'north', namespace: 'default', uid: 'u', generation: 1, resourceVersion: '1', ...metadata },
  ...(status === undefined ? {} : { status }),
});
const run = (fields: object) =>
  JSON.stringify({ message: 'reconciled', key: `water-tank:${id}`, cause: 'change', outcome: 'done', ...fields });
const line = (fields: object) => JSON.stringify({ key: `water-tank:${id}`, ...fields });

function history() {
  let now = 1_000_000;
  const entries: ObjectEntry[] = [];
  const created = createHistory([waterTank], { now: () => now, onEntry: (entry) => entries.push(entry) });
  return { ...created, entries, pass: (milliseconds: number) => (now += milliseconds) };
}

describe('the history of the local system', () => {
  it('a reconcile, its status and the changed fields are in the timeline, newest first', () => {
    const { addLogLine, addChange, timeline, dueAt } = history();
    addChange(id, { resource, after: tank() });
    addLogLine(
      run({ writes: 1, requests: 3, requestMs: 4, durationMs: 5, latencyMs: 20, nextCause: 'requeue', dueAt: 1_030 }),
      'water-tank',
    );
    const conditions = (status: string) => [{ type: 'Ready', status, reason: 'Held' }];
    const before = tank({ observedGeneration: 1, conditions: conditions('False') });
    addChange(id, { resource, before, after: tank({ observedGeneration: 1, conditions: conditions('True') }) });
    expect(timeline(id)).toMatchObject([
      { type: 'status', changes: [{ path: 'status.conditions[Ready].status', before: 'False', after: 'True' }] },
      { type: 'reconcile', controller: 'water-tank', cause: 'change', durationMs: 5, requestMs: 4, latencyMs: 20 },
      { type: 'change' },
    ]);
    expect(dueAt(id)).toBe(1_030_000);
  });

  it('a change of labels is in the timeline, and each change has who wrote it', () => {
    const { addChange, timeline } = history();
    const field = (manager: string, seconds: number, subresource = {}) => ({
      manager,
      operation: 'Update',
      time: `2026-01-01T00:00:0${seconds}Z`,
      ...subresource,
    });
    const status = field('outrigger-water-tank', 1, { subresource: 'status' });
    const first = tank(undefined, { managedFields: [field('kubectl-edit', 0), status], labels: { zone: 'a' } });
    const second = tank(undefined, { managedFields: [field('argocd', 1), status], labels: { zone: 'b' } });
    // Within the same second.
    const third = tank(undefined, { managedFields: [field('argocd', 1), status], labels: { zone: 'c' } });
    addChange(id, { resource, after: first });
    addChange(id, { resource, before: first, after: second });
    addChange(id, { resource, before: second, after: third });
    const managers = timeline(id).map(({ text, writers = [] }) => [text, ...writers.map(({ manager }) => manager)]);
    expect(managers).toEqual([
      ['metadata.labels.zone changed', 'argocd', 'outrigger-water-tank'],
      ['metadata.labels.zone changed', 'argocd'],
      ['is new: ', 'kubectl-edit', 'outrigger-water-tank'],
    ]);
    expect(timeline(id)[0]?.writers?.[1]?.operation).toBe('Update of status');
  });

  it('the due time of an object of two controllers is the next of theirs, and that of one is kept when the other reconciles, or is late', () => {
    const { addLogLine, dueAt, followUps, pass } = history();
    addLogLine(run({ nextCause: 'requeue', dueAt: 1_030 }), 'water-tank');
    addLogLine(run({ key: `inspector:${id}`, nextCause: 'retry', dueAt: 1_010 }), 'inspector');
    addLogLine(run({ key: `tank:${id}-2`, nextCause: 'retry', dueAt: 1_020 }), 'tank');
    expect([dueAt(id), followUps().map(({ controller }) => controller)]).toEqual([
      1_010_000,
      ['inspector', 'tank', 'water-tank'],
    ]);
    pass(15_000);
    expect(dueAt(id)).toBe(1_030_000);
    pass(20_000);
    expect(dueAt(id)).toBe(1_010_000);
    addLogLine(run({ key: `inspector:${id}` }), 'inspector');
    expect(dueAt(id)).toBe(1_030_000);
  });

  it('a failed reconcile is marked, and other lines of a log are no entries', () => {
    const { addLogLine, timeline, entries } = history();
    addLogLine(run({ outcome: 'failed', error: 'pump stuck', messageId: 'm-1', attempt: 2 }), 'water-tank');
    addLogLine('{"message":"sensor read"}', 'water-tank');
    addLogLine('"reconciled" is no entry', 'water-tank');
    expect(timeline(id)).toMatchObject([
      { failed: true, text: expect.stringContaining('pump stuck'), messageId: 'm-1', attempts: 2 },
    ]);
    expect(entries).toHaveLength(1);
  });

  it.each([
    ['a run', run({}), { type: 'reconcile', id }],
    ['a line of the author', line({ message: 'sensor read', level: 'INFO' }), { type: 'log', id, text: 'sensor read' }],
    ['an error', line({ message: 'pump stuck', level: 'ERROR' }), { type: 'log', id, failed: true }],
    ['a crash', '\tr\tERROR\tUncaught Exception \t{"errorMessage":"boom"}', { type: 'crash', failed: true }],
    ['a time-out', 'r Task timed out after 30.03 seconds', { type: 'crash', text: expect.stringContaining('30.03') }],
    ['text without JSON', 'ERROR of a library', { type: 'log', controller: 'water-tank', text: 'ERROR of a library' }],
    ['a line of the runtime', line({ message: 'children written', level: 'INFO' }), undefined],
    ['metrics', '{"_aws":{}}', undefined],
  ])('%s of the past is an entry of its object, or of its function', (_, text, expected) => {
    expect(readPast(text, 'water-tank', 1_000)).toMatchObject(
      expected === undefined ? [] : [{ at: 1_000, ...expected }],
    );
  });

  it('a deleted object has no timeline and no due time, and a new one of its name begins empty', () => {
    const { addLogLine, addChange, timeline, dueAt, recent } = history();
    addLogLine(run({ dueAt: 2_000, nextCause: 'requeue' }), 'water-tank');
    addChange(id, { resource, before: tank() });
    expect(timeline(id)).toEqual([]);
    expect(dueAt(id)).toBeUndefined();
    expect(recent().at(-1)).toMatchObject({ id, text: 'was deleted' });
  });

  it('what a function logs of objects that are not there is bounded', () => {
    const { addLogLine, timeline } = history();
    const keyOf = (index: number) => `local:watertanks.plant.example.com/default/gone-${index}`;
    for (let index = 0; index < 500; index += 1)
      addLogLine(run({ key: `water-tank:${keyOf(index)}`, outcome: 'nothing' }), 'water-tank');
    expect(timeline(keyOf(0))).toEqual([]);
    expect(timeline(keyOf(499))).toHaveLength(1);
  });

  it('rates are of ten seconds, latencies of a minute, and a series has both at each step', () => {
    const { addLogLine, rates, series, pass } = history();
    for (const latencyMs of [10, 20, 300]) addLogLine(run({ latencyMs }), 'water-tank');
    addLogLine(run({ outcome: 'failed' }), 'water-tank');
    expect(rates('water-tank')).toEqual({ reconcilesPerSecond: 0.4, failuresPerSecond: 0.1, p50Ms: 20, p99Ms: 300 });
    pass(20_000);
    expect(rates('water-tank')).toEqual({ reconcilesPerSecond: 0, failuresPerSecond: 0, p50Ms: 20, p99Ms: 300 });
    const { at, reconciles, p99 } = series();
    expect(at).toHaveLength(10);
    expect([reconciles[0], reconciles.at(-1)]).toEqual([0.4, 0]);
    expect(new Set(p99)).toEqual(new Set([300]));
    pass(60_000);
    expect(rates('water-tank')).toEqual({ reconcilesPerSecond: 0, failuresPerSecond: 0 });
  });

  it('the entries of an object are bounded', () => {
    const { addLogLine, timeline, recent } = history();
    for (let writes = 0; writes < 300; writes += 1) addLogLine(run({ writes }), 'water-tank');
    expect(timeline(id)).toHaveLength(100);
    expect(timeline(id)[0]?.text).toContain('299 writes');
    expect(recent().length).toBeLessThanOrEqual(60);
  });
});

it('fieldChanges ignores what every write changes, and cuts long values', () => {
  const changes = fieldChanges(
    tank({ level: 1, zone: 'a' }),
    tank({ level: 2, text: 'x'.repeat(500) }, { resourceVersion: '2', generation: 2 }),
  );
  expect(changes).toEqual([
    { path: 'status.level', before: '1', after: '2' },
    { path: 'status.zone', before: 'a' },
    { path: 'status.text', after: `${'x'.repeat(200)}…` },
  ]);
});

describe('objectRow', () => {
  const ready = (status: string) => ({ observedGeneration: 1, conditions: [{ type: 'Ready', status, reason: 'R' }] });
  const abnormal = (type: string, reason: string) => ({
    observedGeneration: 1,
    conditions: [
      { type, status: 'True', reason, message: 'no pump' },
      { type: 'Ready', status: 'False', reason },
    ],
  });
  it.each([
    ['Ready', tank(ready('True'))],
    ['Progressing', tank(ready('False'))],
    ['Stalled', tank(abnormal('Stalled', 'TerminalError'))],
    ['Failed', tank(abnormal('Reconciling', 'Retrying'))],
    ['Progressing', tank(abnormal('Reconciling', 'RetryLater'))],
    ['Progressing', tank(abnormal('Stalled', 'TerminalError'), { generation: 2 })],
    ['Failed', tank(abnormal('Reconciling', 'Retrying'), { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['Progressing', tank(ready('True'), { generation: 2 })],
    ['Progressing', tank()],
    ['Deleting', tank(ready('True'), { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['Paused', tank(ready('True'), { annotations: { [pausedAnnotation]: 'true' } })],
    ['Progressing', tank({ conditions: 'none', observedGeneration: 'x' })],
  ])('the state is %s', (state, object) => {
    expect(
      objectRow(resource, object, { kind: 'WaterTank', cluster: 'local', sliceConditions: [], isForeign: false }),
    ).toMatchObject({ id, state });
  });
});
