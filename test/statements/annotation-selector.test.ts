// A controller whose selector has an annotation, on a kind of others with a finalizer, in the whole system.
import { expect, it } from 'vitest';
import { Service } from '../../src/kubernetes.ts';
import { startSystem } from '../../src/testing.ts';

const hostname = 'dns.example.com/hostname';

it('an object gets the finalizer with the annotation of the selector, and is finalized when it loses the annotation', async () => {
  const records = new Set<string>();
  const dns = Service.controller('dns', {
    selector: { annotations: [hostname] },
    reconcile: async ({ metadata: { uid } }) => void records.add(uid),
    finalize: async ({ metadata: { uid } }) => {
      records.delete(uid);
      return 'done';
    },
  });
  await using system = await startSystem({ controllers: [dns] });
  const key = { namespace: 'default', name: 'web' };
  const after = async (annotations: Readonly<Record<string, string>>) => {
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
    await system.cluster.apply({ apiVersion: 'v1', kind: 'Service', metadata: { ...key, annotations }, spec });
    await system.settled();
    const { finalizers = [], labels = {} } = { ...(await system.cluster.get(Service, key))?.metadata };
    return { records: records.size, finalizers, labels: Object.keys(labels) };
  };
  const nothing = { records: 0, finalizers: [], labels: [] };
  expect(await after({ other: 'web.example.com' })).toEqual(nothing);
  expect(system.reconciles).toEqual([]);
  expect(await after({ [hostname]: '' })).toMatchObject({ records: 1, finalizers: ['outrigger.dev/dns'] });
  expect(await after({})).toEqual(nothing);
});
