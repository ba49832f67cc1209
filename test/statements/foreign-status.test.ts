// The part of the status of another project's kind that a controller implements, on both servers, with a CRD like those of
// Cluster API. The published CRDs of cert-manager and the Gateway API are test/cluster/foreign-status.test.ts.

import { checkRegistry } from '@outrigger/cli/project/check-registry';
import { beforeAll, expect, it } from 'vitest';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { foreignKind, ok } from '../../src/outrigger.ts';
import { battery } from '../../src/testing.ts';
import { applyDefinition } from '../support/established.ts';
import { useReconciles } from './client-reconciles.ts';
import { DemoMachine, machine, machineCrd, provider } from './foreign-status.ts';

const { client, keyOf, run, requests } = await useReconciles();
beforeAll(async () => await applyDefinition(client, machineCrd));

const key = () => keyOf(DemoMachine, 'one');
const applied = async (size: string) => {
  const object = { ...machine(size), metadata: key() };
  await applyObject(client, DemoMachine, object, { fieldManager: 'user' });
};
const reconcile = async () => await run(provider, key());
const read = async () => await getObject(client, DemoMachine, key());
const patchStatus = async (status: object) =>
  await client.request({
    method: 'PATCH',
    path: objectPath(DemoMachine, key(), 'status'),
    query: { fieldManager: 'another-client' },
    contentType: 'application/merge-patch+json',
    body: { status },
  });

it('the fields and Ready are written under the manager of the controller, and the next reconcile is one GET', async () => {
  await applied('small');
  expect(await reconcile()).toMatchObject({ outcome: { type: 'done' }, writes: 1, noops: 0 });
  const { status, metadata } = { ...(await read()) };
  expect(status).toEqual({
    ready: true,
    initialization: { provisioned: true },
    addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Running', message: '', lastTransitionTime: expect.any(String) },
    ],
  });
  expect(metadata?.managedFields?.filter(({ subresource }) => subresource === 'status')).toMatchObject([
    { manager: 'outrigger-provider', operation: 'Apply' },
  ]);
  requests.length = 0;
  expect(await reconcile()).toMatchObject({ writes: 0, noops: 0 });
  expect(requests).toHaveLength(1);
});

it('a field of another client stays, and one that the controller owns is corrected', async () => {
  await applied('small');
  await reconcile();
  await patchStatus({ failureReason: 'theirs', ready: false });
  await reconcile();
  expect((await read())?.status).toMatchObject({ failureReason: 'theirs', ready: true });
});

it('an error is shown by Ready, and the fields stay', async () => {
  await applied('small');
  await reconcile();
  await applied('none');
  expect((await reconcile()).outcome).toMatchObject({ type: 'failed' });
  expect((await read())?.status).toMatchObject({
    ready: true,
    conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Retrying', message: 'no such size' }],
  });
});

it('a status field that the slice has not is refused by its name', async () => {
  await applied('small');
  const wrong = DemoMachine.statusSlice({ status: ['ready'], conditions: ['Ready'] }).controller('wrong', {
    reconcile: (async () => ({ status: { ready: true, failureReason: 'x' }, conditions: { Ready: ok('A') } })) as never,
  });
  const { outcome } = await run(wrong, key());
  expect(outcome).toMatchObject({
    error: { message: 'status.failureReason: unknown field; the statusSlice has ready' },
  });
});

// The second sample is there for the change between the two.
for (const one of battery(provider, { samples: [machine('small'), machine('large')], crds: [machineCrd] }))
  if (!one.name.endsWith('(sample 2)')) it(`battery: ${one.name}`, one.run);

it('a kind whose CRD has no status subresource has no slice, and a built-in kind only conditions with a domain', () => {
  const plain = foreignKind<{ metadata: { name: string }; status?: { on?: boolean } }, 'Lamp'>({
    group: 'lamps.example.com',
    version: 'v1',
    kind: 'Lamp',
    status: 'no-subresource',
  });
  expect(() => plain.statusSlice({ status: ['on'], conditions: ['Ready'] })).toThrow(
    'Lamp.statusSlice: its CRD has no status subresource',
  );
  const replicas = Deployment.statusSlice({ status: ['replicas'], conditions: ['a.example.com/B'] });
  const counter = replicas.controller('counter', {
    reconcile: async () => ({ status: { replicas: 1 }, conditions: { 'a.example.com/B': ok('B') } }),
  });
  expect(() => checkRegistry([counter])).toThrow("status.replicas of Deployment is Kubernetes' own");
  const slice = DemoMachine.statusSlice({ status: ['ready'], conditions: ['Mine'] });
  const second = slice.controller('second', { reconcile: async () => ({ status: {}, conditions: { Mine: ok('A') } }) });
  expect(() => checkRegistry([provider, second])).toThrow("controller provider: status.ready is second's already");
});

it('a slice has the types of the fields of the CRD', () => {
  // @ts-expect-error: the status has no such field
  DemoMachine.statusSlice({ status: ['colour'], conditions: ['Ready'] });
  // @ts-expect-error: conditions are given by themselves
  DemoMachine.statusSlice({ status: ['conditions'], conditions: ['Ready'] });
  DemoMachine.statusSlice({ status: ['ready'], conditions: ['Ready'] }).controller('typed', {
    // @ts-expect-error: ready is true or false
    reconcile: async () => ({ status: { ready: 'yes' }, conditions: { Ready: ok('A') } }),
  });
  DemoMachine.statusSlice({ status: ['ready'], conditions: ['Ready'] }).controller('typed', {
    // @ts-expect-error: addresses are not of this slice
    reconcile: async () => ({ status: { ready: true, addresses: [] }, conditions: { Ready: ok('A') } }),
  });
});
