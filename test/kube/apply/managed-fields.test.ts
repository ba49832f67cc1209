// What a manager owns of a live object, and whether that is what it would apply. The objects in fixtures/applied.json were
// applied to and read back from a kube-apiserver 1.36.3. Excluded: acting on it (children.test.ts).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ownedBy } from '../../../src/kube/apply/managed-fields.ts';
import { type KubeObject, parseObject } from '../../../src/kube/client/object.ts';
import { sameOwned } from '../../../src/kube/same-owned.ts';

const applied = z
  .array(z.object({ desired: z.record(z.string(), z.unknown()), live: z.unknown().transform(parseObject) }))
  .parse(JSON.parse(readFileSync(new URL('fixtures/applied.json', import.meta.url), 'utf8')))
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

describe('objects of a real server', () => {
  it.each(applied)('$title: what was applied is what is owned', ({ desired, live }) => {
    expect(sameOwned(asChild(desired, live), ownedBy(live, 'outrigger-test'))).toBe(true);
  });

  const changes = applied.flatMap(({ title, desired, live }) =>
    changesOf(desired).map(({ path, changed }) => ({ title: `${title}: ${path}`, changed, live })),
  );

  it.each(changes)('$title changed is a difference', ({ changed, live }) => {
    expect(sameOwned(asChild(changed, live), ownedBy(live, 'outrigger-test'))).toBe(false);
  });
});

describe('ownedBy', () => {
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

  it('takes fields, items by key and members of sets that are ours, and nothing of others', () => {
    expect(ownedBy(owner, 'us')).toEqual({
      spec: { replicas: 3, containers: [{ name: 'b', image: 'y' }], set: ['q'] },
    });
  });

  it('tells the object from its status', () => {
    expect(ownedBy(owner, 'us', 'status')).toEqual({ status: { ready: 1 } });
    expect(ownedBy(owner, 'them', 'status')).toBeUndefined();
    expect(ownedBy(owner, 'nobody')).toBeUndefined();
  });

  it('a field that is owned and not shown is null', () => {
    expect(ownedBy(live({ spec: {} }, entry({ 'f:spec': { 'f:readOnly': {} } })), 'us')).toEqual({
      spec: { readOnly: null },
    });
  });

  it('a list item that is gone is gone', () => {
    expect(ownedBy(live({ l: [] }, entry({ 'f:l': { 'k:{"name":"b"}': { 'f:name': {} } } })), 'us')).toEqual({ l: [] });
  });

  it('a map that was applied empty stays empty though others have put something in, and an atomic one is ours whole', () => {
    const data = { data: { theirs: '1' } };
    expect(ownedBy(live(data, entry({ 'f:data': {} })), 'us')).toEqual(data);
    expect(
      ownedBy(live(data, entry({ 'f:data': {} }), entry({ 'f:data': { 'f:theirs': {} } }, { manager: 'them' })), 'us'),
    ).toEqual({ data: {} });
  });
});

describe('sameOwned', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>, boolean]>([
    [
      'identity is not compared',
      { apiVersion: 'v1', kind: 'A', metadata: { name: 'a', namespace: 'b', uid: 'c' } },
      {},
      true,
    ],
    ['labels are', { metadata: { name: 'a', labels: { x: '1' } } }, { metadata: { labels: { x: '1' } } }, true],
    ['a label too many', { metadata: { name: 'a' } }, { metadata: { labels: { x: '1' } } }, false],
    ['a field too many', {}, { spec: { replicas: 1 } }, false],
    ['a field that is not owned yet', { spec: { replicas: 1 } }, { spec: {} }, false],
    [
      'zero values that the API does not show',
      { a: false, b: 0, c: '', d: {}, e: [], f: { g: false } },
      { a: null, b: null, c: null, d: null, e: null, f: null },
      true,
    ],
    ['a value that the API does not show and should', { a: true }, { a: null }, false],
    ['null is nothing', { a: null }, {}, true],
    ['undefined is nothing', { a: undefined }, {}, true],
    ['null of what is owned', { a: null }, { a: 1 }, false],
    [
      'quantities where quantities are',
      { resources: { limits: { cpu: 1, memory: '1024Mi' } } },
      { resources: { limits: { cpu: '1', memory: '1Gi' } } },
      true,
    ],
    ['texts elsewhere', { env: [{ value: '1000' }] }, { env: [{ value: '1k' }] }, false],
    ['numbers and texts elsewhere', { port: 80 }, { port: '80' }, false],
    ['another order of a list', { l: [1, 2] }, { l: [2, 1] }, false],
    ['a default within an atomic value', { ports: [{ port: 80 }] }, { ports: [{ port: 80, protocol: 'TCP' }] }, true],
    [
      'what is no default within an atomic value',
      { ports: [{ port: 80 }] },
      { ports: [{ port: 80, protocol: 'UDP' }] },
      false,
    ],
    ['a map and a list', { a: {} }, { a: [] }, false],
  ])('%s', (_, desired, owned, expected) => {
    expect(sameOwned(desired, owned)).toBe(expected);
  });

  it('nothing is owned: apply', () => {
    expect(sameOwned({}, undefined)).toBe(false);
  });
});

/** With the labels, annotation and owner that every child gets. */
function asChild(desired: Record<string, unknown>, live: KubeObject): Record<string, unknown> {
  const metadata = asRecord(desired.metadata);
  const marks = Object.entries(live.metadata.labels ?? {}).filter(([name]) => name.startsWith('outrigger.dev/'));
  const labels = { ...asRecord(metadata.labels), ...Object.fromEntries(marks) };
  const { annotations, ownerReferences } = live.metadata;
  return { ...desired, metadata: { ...metadata, annotations, labels, ownerReferences } };
}

/** Every value of an object changed, one at a time; and every field of a map taken away, one at a time. */
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
