// A controller whose selector has an annotation or expressions, on a kind of others with a finalizer, in the whole
// system: an object that enters the selection, and one that leaves it.
import { expect, it } from 'vitest';
import type { Selector } from '../../src/core/selector.ts';
import { ConfigMap, Namespace, Service } from '../../src/kubernetes.ts';
import { startSystem } from '../../src/testing.ts';

const hostname = 'dns.example.com/hostname';
const key = { namespace: 'default', name: 'web' };
const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
const nothing = { records: 0, finalizers: [], ours: [] };

/** A system with a controller of Services that has a record of each one that it selects. */
async function dnsSystem(selector: Selector, ...others: Parameters<typeof startSystem>[0]['controllers']) {
  const records = new Set<string>();
  const dns = Service.controller('dns', {
    selector,
    reconcile: async ({ metadata: { uid } }) => void records.add(uid),
    finalize: async ({ metadata: { uid } }) => {
      records.delete(uid);
      return 'done';
    },
  });
  const system = await startSystem({ controllers: [dns, ...others] });
  /** Applies the Service with these labels and annotations, and returns what the controller leaves. */
  const after = async (metadata: object) => {
    await system.cluster.apply({ apiVersion: 'v1', kind: 'Service', metadata: { ...key, ...metadata }, spec });
    await system.settled();
    const { finalizers = [], labels = {} } = { ...(await system.cluster.get(Service, key))?.metadata };
    const ours = Object.keys(labels).filter((label) => label.startsWith('outrigger.dev/'));
    return { records: records.size, finalizers, ours };
  };
  return { system, after };
}

it('an object gets the finalizer with the annotation of the selector, and is finalized when it loses the annotation', async () => {
  const { system, after } = await dnsSystem({ annotations: [hostname] });
  await using _ = system;
  expect(await after({ annotations: { other: 'web.example.com' } })).toEqual(nothing);
  expect(system.reconciles).toEqual([]);
  const selected = await after({ annotations: { [hostname]: '' } });
  expect(selected).toMatchObject({ records: 1, finalizers: ['outrigger.dev/dns'] });
  expect(await after({ annotations: {} })).toEqual(nothing);
});

it('a controller of Namespaces that names none leaves those of the watchers alone, of any project', async () => {
  const selector = { matchExpressions: [{ key: 'ignore', operator: 'DoesNotExist' }] } as const;
  const counter = Namespace.controller('counter', { selector, reconcile: async () => undefined });
  await using system = await startSystem({ controllers: [counter] });
  for (const name of ['outrigger-system', 'outrigger-cafes-system', 'outrigger-cafes'])
    await system.cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await system.settled();
  const done = system.reconciles.filter(({ outcome }) => outcome === 'done').map(({ object }) => object);
  expect(done.filter((name) => name.startsWith('outrigger'))).toEqual(['outrigger-cafes']);
});

/** Labels that the selector matches, and labels that it does not match. */
const cases = {
  In: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }, { zone: 'b' }, { zone: 'c' }],
  NotIn: [{ key: 'zone', operator: 'NotIn', values: ['a', 'b'] }, { zone: 'c' }, { zone: 'a' }],
  'NotIn without the label': [{ key: 'zone', operator: 'NotIn', values: ['a'] }, {}, { zone: 'a' }],
  Exists: [{ key: 'zone', operator: 'Exists' }, { zone: '' }, {}],
  DoesNotExist: [{ key: 'zone', operator: 'DoesNotExist' }, {}, { zone: '' }],
  'a name that objects inherit': [{ key: 'constructor', operator: 'Exists' }, { constructor: 'a' }, {}],
} as const;

it.each(Object.entries(cases))('an object enters and leaves a selection by %s', async (_, [
  expression,
  inside,
  outside,
]) => {
  const { system, after } = await dnsSystem({ matchLabels: { app: 'web' }, matchExpressions: [expression] });
  await using __ = system;
  const labelled = async (labels: object) => await after({ labels: { app: 'web', ...labels } });
  expect(await labelled(outside)).toEqual(nothing);
  expect(system.reconciles).toEqual([]);
  expect(await labelled(inside)).toMatchObject({ records: 1, finalizers: ['outrigger.dev/dns'] });
  expect(await labelled(outside)).toEqual(nothing);
  expect(await labelled(inside)).toMatchObject({ records: 1 });
  expect(await after({ labels: inside })).toEqual(nothing);
});

it('where another controller is sent the same kind, the watcher selects by the expressions itself', async () => {
  const reads = ConfigMap.controller('counter', {
    watches: [{ kind: Service, mapToKeys: async () => [] }],
    reconcile: async () => undefined,
  });
  const { system, after } = await dnsSystem({ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, reads);
  await using _ = system;
  expect(await after({ labels: {} })).toEqual(nothing);
  expect(system.reconciles.filter(({ controller }) => controller === 'dns')).toEqual([]);
  expect(await after({ labels: { zone: 'a' } })).toMatchObject({ records: 1, finalizers: ['outrigger.dev/dns'] });
  expect(await after({ labels: {} })).toEqual(nothing);
});
