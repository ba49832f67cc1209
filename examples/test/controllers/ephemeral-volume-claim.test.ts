// The claim of an EphemeralVolumeClaim: it follows the size and the labels, and is replaced when it is deleted.
import { PersistentVolumeClaim } from 'outrigger/kubernetes';
import { battery, startSystem } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { EphemeralVolumeClaim, ephemeralVolumeClaim } from '../../src/controllers/ephemeral-volume-claim.ts';

const key = { namespace: 'default', name: 'scratch' };
const sample = (size: string, application: string) => ({
  apiVersion: EphemeralVolumeClaim.apiVersion,
  kind: 'EphemeralVolumeClaim',
  metadata: { ...key, labels: { application } },
  spec: { size },
});

it('the claim grows with the size, follows the labels, and is created again when somebody deletes it', async () => {
  await using system = await startSystem({ controllers: [ephemeralVolumeClaim] });
  const claim = async () => await system.cluster.get(PersistentVolumeClaim, key);
  await system.cluster.apply(sample('1Gi', 'one'));
  await system.settled();
  // Kubernetes lets a claim grow once it has a volume.
  const { apiVersion, kind } = PersistentVolumeClaim;
  const status = { phase: 'Bound', capacity: { storage: '1Gi' } };
  await system.cluster.apply({ apiVersion, kind, metadata: key, status });
  await system.cluster.apply(sample('2Gi', 'two'));
  await system.settled();
  expect(await claim()).toMatchObject({
    metadata: { labels: { application: 'two' } },
    spec: { resources: { requests: { storage: '2Gi' } } },
  });
  expect((await system.cluster.get(EphemeralVolumeClaim, key))?.status).toEqual({ capacity: '1Gi' });

  await system.cluster.delete(PersistentVolumeClaim, key);
  await system.settled();
  expect(await claim()).toBeDefined();
});

for (const { name, run } of battery(ephemeralVolumeClaim, { samples: [sample('1Gi', 'one')] })) it(name, run);
