// A kind that is read in named namespaces only: what the context of a test and of a reconcile refuses. The roles are
// test/generate/reads.test.ts.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigMap, Secret } from '../../src/kubernetes.ts';
import { defineKind, inNamespaces } from '../../src/outrigger.ts';
import { startSystem, testContext } from '../../src/testing.ts';

const names = { group: 'reads.example.com', version: 'v1' };
const more = { spec: z.object({}), status: z.object({}), conditions: [] };
const Site = defineKind({ ...names, kind: 'Site', ...more });
const Zone = defineKind({ ...names, kind: 'Zone', scope: 'Cluster', ...more });
const OtherSecret = defineKind({ ...names, kind: 'Secret', ...more });
const reads = [inNamespaces(Secret, ['platform', 'certs']), ConfigMap, OtherSecret];
const result = { status: {}, conditions: {} };
const site = Site.controller('site', {
  reads,
  reconcile: async ({ metadata: { name } }, { get }) => {
    await get(Secret, { name, ...(name === 'right' ? { namespace: 'certs' } : {}) });
    return result;
  },
});
const zone = Zone.controller('zone', { reads, reconcile: async () => result });
const secretIn = (namespace: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ca', namespace } });
const refused = (controller: string, place: string) =>
  `${controller} declares inNamespaces(Secret, ['platform', 'certs']), so its role forbids Secret in ${place}; add that, or declare Secret itself`;

const objects = ['platform', 'certs', 'default'].map(secretIn);

it('a kind that is read in named namespaces is read and listed there, and other kinds everywhere', async () => {
  const { get, list } = testContext(site, { objects });
  expect(await get(Secret, { name: 'ca', namespace: 'certs' })).toMatchObject(secretIn('certs'));
  expect(await list(Secret, {}, { namespace: 'platform' })).toMatchObject([secretIn('platform')]);
  expect(await get(ConfigMap, { name: 'ca' })).toBeUndefined();
  expect(await get(OtherSecret, { name: 'ca' })).toBeUndefined();
  expect(await list(ConfigMap, {}, { namespace: '*' })).toEqual([]);
});

it('get and list of a kind that is read in named namespaces throw for every other one, and name the declaration', async () => {
  const { get, list } = testContext(site, { objects });
  const other = get(Secret, { name: 'ca', namespace: 'shop' });
  await expect(other).rejects.toThrow(new TypeError(refused('site', 'shop')));
  await expect(get(Secret, { name: 'ca' })).rejects.toThrow(refused('site', 'default'));
  await expect(list(Secret)).rejects.toThrow(refused('site', 'default'));
  await expect(list(Secret, {}, { namespace: '*' })).rejects.toThrow(refused('site', 'all namespaces'));
});

it('a cluster-scoped object names the namespace of a kind that is read in named namespaces', async () => {
  const { get, list } = testContext(zone, { objects });
  await expect(get(Secret, { name: 'ca' })).rejects.toThrow(refused('zone', 'no namespace'));
  await expect(list(Secret)).rejects.toThrow(refused('zone', 'all namespaces'));
  expect(await list(Secret, {}, { namespace: 'certs' })).toHaveLength(1);
});

it('a reconcile that gets a kind of another namespace than its reads name fails, as in a test', async () => {
  const sites = ['right', 'wrong'].map((name) => ({
    apiVersion: Site.apiVersion,
    kind: 'Site',
    metadata: { name, namespace: 'default' },
    spec: {},
  }));
  await using system = await startSystem({ controllers: [site], objects: sites });
  await system.settled();
  expect(Object.fromEntries(system.reconciles.map(({ object, error }) => [object, error]))).toEqual({
    'default/right': undefined,
    'default/wrong': refused('site', 'default'),
  });
});
