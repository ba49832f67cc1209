// The fields of a live object that a manager owns, and their comparison with the desired fields. The objects in
// fixtures/applied.json were applied to a kube-apiserver 1.36.3 and read back. Excluded: the apply
// (apply-all*.test.ts).
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { typedFieldsOf } from '../../../src/kube/apply/field-types.ts';
import { keptFields, ownedFields, takenFields } from '../../../src/kube/apply/managed-fields.ts';
import { ownedEqual } from '../../../src/kube/apply/owned-equal.ts';
import { type KubeObject, parseObject } from '../../../src/kube/client/object.ts';

const applied = z
  .array(z.object({ desired: z.record(z.string(), z.unknown()), live: z.unknown().transform(parseObject) }))
  .parse(JSON.parse(readFileSync(new URL('../fixtures/applied.json', import.meta.url), 'utf8')))
  .map(({ desired, live }) => ({ title: `${live.kind ?? live.apiVersion} ${live.metadata.name}`, desired, live }));

const entry = (fieldsV1: object, rest: object = {}) => ({
  manager: 'us',
  operation: 'Apply',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...rest,
});
const live = (fields: object, ...managedFields: object[]) =>
  parseObject({ ...fields, metadata: { name: 'a', managedFields } });

/** Whether an object of a built-in kind is equal to what was applied. */
const isApplied = (desired: Record<string, unknown>, live: KubeObject) =>
  ownedEqual(asChild(desired, live), ownedFields(live, 'outrigger-test'), {
    isBuiltIn: true,
    types: typedFieldsOf(live.kind ?? ''),
  });

it.each(applied)('ownedEqual is true for the applied fields of $title', ({ desired, live }) => {
  expect(isApplied(desired, live)).toBe(true);
});

const changes = applied.flatMap(({ title, desired, live }) =>
  changesOf(desired).map(({ path, changed }) => ({ title: `${title}: ${path}`, changed, live })),
);

it.each(changes)('ownedEqual is false for a change of $title', ({ changed, live }) => {
  expect(isApplied(changed, live)).toBe(false);
});

const size = { 'f:spec': { 'f:size': {} } };
const both = { 'f:spec': { 'f:size': {}, 'f:side': {} } };
const theirs = (fields: object, rest: object = {}) => entry(fields, { manager: 'hpa', operation: 'Update', ...rest });
const taken = { fieldManager: 'hpa', field: 'spec.size' };
it.each<[string, object[], object[], object[]]>([
  ['a field that the other manager no longer has', [theirs(both)], [entry(size), theirs({})], [taken]],
  ['a field of a manager that is gone', [theirs(both)], [entry(both)], [{ ...taken }]],
  ['a field that both have', [theirs(size)], [entry(size), theirs(size)], []],
  ['a field that the other manager gave up', [theirs(size)], [entry({})], []],
  ['a field of its own', [entry(size)], [entry(size)], []],
  ['a field of the scale subresource', [theirs(size, { subresource: 'scale' })], [entry(size), theirs(size)], [taken]],
  ['a field of the status', [theirs(size, { subresource: 'status' })], [entry(size)], []],
  [
    'a field of another operation',
    [theirs(size), theirs(size, { operation: 'Apply' })],
    [entry(size), theirs(size)],
    [taken],
  ],
])('%s is reported if it was taken', (_, before, after, expected) => {
  expect(takenFields(live({}, ...before), live({}, ...after), 'us')).toEqual(expected);
});

it('a field that a manager gave up is reported if another keeps it', () => {
  const before = live({}, entry(both), theirs(size));
  const after = (...entries: object[]) => live({}, entry({ 'f:spec': { 'f:side': {} } }), ...entries);
  expect(keptFields(before, after(theirs(size)), 'us')).toEqual([taken]);
  expect(keptFields(before, after(), 'us')).toEqual([]);
});

const owner = live(
  {
    spec: {
      replicas: 3,
      paused: true,
      containers: [
        { name: 'a', image: 'x', tty: true },
        { name: 'b', image: 'y' },
      ],
      set: ['p', 'q'],
    },
    status: { ready: 1, seen: 2 },
  },
  entry({ 'f:spec': { 'f:paused': {} } }, { operation: 'Update' }),
  entry({
    'f:spec': {
      'f:replicas': {},
      'f:containers': { 'k:{"name":"b"}': { '.': {}, 'f:image': {}, 'f:name': {} } },
      'f:set': { 'v:"q"': {} },
    },
  }),
  entry({ 'f:status': { 'f:ready': {} } }, { subresource: 'status' }),
  entry({ 'f:spec': { 'f:paused': {} } }, { manager: 'them' }),
);

it('ownedFields returns the manager’s fields, items by key and set members, and no others', () => {
  expect(ownedFields(owner, 'us')).toEqual({
    spec: { replicas: 3, containers: [{ name: 'b', image: 'y' }], set: ['q'] },
  });
});

it('ownedFields distinguishes the object from its status', () => {
  expect(ownedFields(owner, 'us', 'status')).toEqual({ status: { ready: 1 } });
  expect(ownedFields(owner, 'them', 'status')).toBeUndefined();
  expect(ownedFields(owner, 'unknown-manager')).toBeUndefined();
});

it('ownedFields returns null for an owned field that the API omits', () => {
  const object = live({ spec: {} }, entry({ 'f:spec': { 'f:readOnly': {} } }));
  expect(ownedFields(object, 'us')).toEqual({ spec: { readOnly: null } });
});

it('ownedFields omits a list item that no longer exists', () => {
  const object = live({ l: [] }, entry({ 'f:l': { 'k:{"name":"b"}': { 'f:name': {} } } }));
  expect(ownedFields(object, 'us')).toEqual({ l: [] });
});

it('ownedFields returns an empty map if only others filled it, and an atomic map completely', () => {
  const data = { data: { theirs: '1' } };
  expect(ownedFields(live(data, entry({ 'f:data': {} })), 'us')).toEqual(data);
  const theirs = entry({ 'f:data': { 'f:theirs': {} } }, { manager: 'them' });
  expect(ownedFields(live(data, entry({ 'f:data': {} }), theirs), 'us')).toEqual({ data: {} });
});

const a = { name: 'a', uid: 'c' };
const labels = { labels: { x: '1' } };
const nulls = { a: null, b: null, c: null, d: null, e: null, f: null };
const limits = (values: object) => ({ spec: { containers: [{ resources: { limits: values } }] } });
const fieldRef = (more: object) => ({ spec: { containers: [{ env: [{ valueFrom: { fieldRef: more } }] }] } });
const pod = typedFieldsOf('Pod');
it.each<[string, Record<string, unknown>, Record<string, unknown>, boolean]>([
  ['identity fields are ignored', { apiVersion: 'v1', kind: 'A', metadata: { ...a, namespace: 'b' } }, {}, true],
  ['labels are compared', { metadata: { ...a, ...labels } }, { metadata: labels }, true],
  ['an owned label that is not desired', { metadata: a }, { metadata: labels }, false],
  ['an owned field that is not desired', {}, { spec: { replicas: 1 } }, false],
  ['a desired field that is not owned', { spec: { replicas: 1 } }, { spec: {} }, false],
  ['zero values that the API omits', { a: false, b: 0, c: '', d: {}, e: [], f: { g: false } }, nulls, true],
  ['a value that the API unexpectedly omits', { a: true }, { a: null }, false],
  ['a desired null', { a: null }, {}, true],
  ['a desired undefined', { a: undefined }, {}, true],
  ['a desired null of an owned field', { a: null }, { a: 1 }, false],
  ['quantities', limits({ cpu: 1, memory: '1024Mi' }), limits({ cpu: '1', memory: '1Gi' }), true],
  ['texts elsewhere', { env: [{ value: '1000' }] }, { env: [{ value: '1k' }] }, false],
  ['numbers and texts elsewhere', { port: 80 }, { port: '80' }, false],
  ['another order of a list', { l: [1, 2] }, { l: [2, 1] }, false],
  ['a default within an atomic value', fieldRef({}), fieldRef({ apiVersion: 'v1' }), true],
  ['what is no default within an atomic value', fieldRef({}), fieldRef({ apiVersion: 'v2' }), false],
  ['K1: a quantity in a map of texts', { data: { capacity: '1k' } }, { data: { capacity: '1000' } }, false],
  ['K1: a default in a map of texts', { data: {} }, { data: { protocol: 'TCP', apiVersion: 'v1' } }, false],
  ['a map and a list', { a: {} }, { a: [] }, false],
])('ownedEqual: %s', (_, desired, owned, expected) => {
  expect(ownedEqual(desired, owned, { isBuiltIn: true, types: pod })).toBe(expected);
});

it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['what is a default of built-in kinds', fieldRef({}), fieldRef({ apiVersion: 'v1' })],
  ['a zero value that is not there', { a: 0 }, { a: null }],
  ['texts that are one quantity', { limits: { version: '1.10' } }, { limits: { version: '1.1' } }],
])('ownedEqual of a custom resource is false for %s', (_, desired, owned) => {
  expect(ownedEqual(desired, owned, { isBuiltIn: false })).toBe(false);
});

it('ownedEqual is true for an empty list that the object does not have, but not of a custom resource', () => {
  const equal = (isBuiltIn: boolean) => ownedEqual({ env: [] }, {}, { isBuiltIn, live: {} });
  expect([equal(true), equal(false)]).toEqual([true, false]);
});

it('ownedEqual is false if the manager owns nothing', () => {
  expect(ownedEqual({}, undefined, { isBuiltIn: true })).toBe(false);
});

/** Adds the labels, annotation and owner reference of every child. */
function asChild(desired: Record<string, unknown>, live: KubeObject): Record<string, unknown> {
  const metadata = asRecord(desired.metadata);
  const marks = Object.entries(live.metadata.labels ?? {}).filter(([name]) => name.startsWith('outrigger.dev/'));
  const labels = { ...asRecord(metadata.labels), ...Object.fromEntries(marks) };
  const { annotations, ownerReferences } = live.metadata;
  return { ...desired, metadata: { ...metadata, annotations, labels, ownerReferences } };
}

/** Returns variants of an object: each with one value changed, or one field of a map removed. */
function changesOf(value: Record<string, unknown>): { path: string; changed: Record<string, unknown> }[] {
  return Object.entries(value).flatMap(([name, one]) => {
    if (['apiVersion', 'kind', 'name'].includes(name)) return [];
    const inside = variants(one).map(({ path, changed }) => ({
      path: `${name}${path}`,
      changed: { ...value, [name]: changed },
    }));
    const { [name]: _, ...without } = value;
    return name === 'metadata' || name === 'spec' ? inside : [...inside, { path: `${name} gone`, changed: without }];
  });
}

function variants(value: unknown): { path: string; changed: unknown }[] {
  if (Array.isArray(value)) {
    const inside = value.flatMap((item, index) =>
      variants(item).map(({ path, changed }) => ({ path: `[${index}]${path}`, changed: value.with(index, changed) })),
    );
    return [...inside, ...(value.length > 0 ? [{ path: '[] shorter', changed: value.slice(1) }] : [])];
  }
  if (typeof value === 'object' && value !== null) {
    return changesOf(asRecord(value)).map(({ path, changed }) => ({ path: `.${path}`, changed }));
  }
  if (typeof value === 'number') return [{ path: '', changed: value + 7 }];
  if (typeof value === 'boolean') return [{ path: '', changed: !value }];
  return [{ path: '', changed: `${String(value)}7` }];
}

function asRecord(value: unknown): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).catch({}).parse(value);
}
