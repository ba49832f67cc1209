// What a team's Namespace has, and what the team cannot take away or add.
import { Namespace, ResourceQuota } from 'outrigger/kubernetes';
import { battery, startSystem } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { namespaceProvisioner } from '../../src/controllers/namespace-provisioner.ts';

const sample = (size: string, labels: object = { 'team.example.com/name': 'shop-team' }) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', labels: { ...labels, 'team.example.com/size': size } },
});
const quota = { namespace: 'shop', name: 'team' };

it('the quota follows the size, is taken back from whoever strips its owner, and goes with the label', async () => {
  await using system = await startSystem({ controllers: [namespaceProvisioner] });
  const hard = async () => (await system.cluster.get(ResourceQuota, quota))?.spec?.hard;
  await system.cluster.apply(sample('small'));
  await system.settled();
  expect(await hard()).toEqual({ pods: '20', 'requests.memory': '8Gi' });
  expect((await system.cluster.get(Namespace, { name: 'shop' }))?.status?.conditions).toMatchObject([
    { type: 'team.example.com/Provisioned', status: 'True' },
  ]);
  await system.cluster.apply(sample('large'));
  await system.settled();
  expect(await hard()).toEqual({ pods: '200', 'requests.memory': '80Gi' });

  // Made by hand under the name, with a key of its own.
  await system.cluster.delete(ResourceQuota, quota);
  await system.cluster.apply({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: quota,
    spec: { hard: { pods: '9' } },
  });
  await system.settled();
  await system.cluster.apply(sample('small'));
  await system.settled();
  expect(await hard()).toEqual({ pods: '20', 'requests.memory': '8Gi' });

  await system.cluster.apply(sample('small', {}));
  await system.settled();
  expect(await hard()).toBeUndefined();
});

for (const { name, run } of battery(namespaceProvisioner, { samples: [sample('small'), sample('large')] }))
  it(name, run);
