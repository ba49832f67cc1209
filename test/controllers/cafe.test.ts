// The README's cafe, called by hand: objects in memory, no server.
import { expect, it } from 'vitest';
import { Cafe, cafe } from '../../src/controllers/cafe.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { startSystem, testContext } from '../../src/testing.ts';

const available = { status: 'True', type: 'Available', reason: 'MinimumReplicasAvailable' };
const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'central', namespace: 'default' } };
const inCafe = (name: string, owner: string) => ({
  ...deployment,
  metadata: { ...deployment.metadata, name, labels: { cafe: owner } },
});

it.each([
  [0, 0],
  [10, 1],
  [11, 2],
  [200, 20],
])('%i seats have %i waiters', async (seats, waiters) => {
  const central = Cafe.object('central', { seats });
  const context = testContext(cafe, { owner: central });
  expect((await cafe.reconcile(central, context)).status).toEqual({ waiters });
  expect((await context.get(Deployment, { name: 'central' }))?.spec?.replicas).toBe(waiters);
});

it('a cafe is served when its Deployment is available', async () => {
  const central = Cafe.object('central', { seats: 10 });
  const context = testContext(cafe, { owner: central });
  expect((await cafe.reconcile(central, context)).conditions.Served.status).toBe('Unknown');
  context.put({ ...deployment, status: { observedGeneration: 1, conditions: [available] } });
  expect((await cafe.reconcile(central, context)).conditions.Served.status).toBe('True');
});

it('finalize is done when its own waiters have left: it does not wait for those without its owner reference', async () => {
  const central = Cafe.object('central', { seats: 10 });
  const orphan = inCafe('orphan', 'central');
  const context = testContext(cafe, { owner: central, objects: [orphan] });
  await cafe.reconcile(central, context);
  expect(await cafe.finalize?.(central, context)).toBe('done');
  expect((await context.list(Deployment)).map(({ metadata }) => metadata?.name)).toEqual(['orphan']);
  const { apiVersion } = Cafe;
  const ownerReferences = [{ apiVersion, kind: 'Cafe', name: 'central', uid: central.metadata.uid, controller: true }];
  context.put({
    ...orphan,
    metadata: { ...orphan.metadata, ownerReferences, deletionTimestamp: '2026-01-01T00:00:00Z' },
  });
  expect(await cafe.finalize?.(central, context)).toMatchObject({ reason: 'WaitersLeaving' });
});

it('a cafe whose name is too long for a label of its Deployment can be deleted', async () => {
  await using system = await startSystem({ controllers: [cafe] });
  const key = { namespace: 'default', name: 'c'.repeat(64) };
  const { apiVersion, kind } = Cafe;
  await system.cluster.apply({ apiVersion, kind, metadata: key, spec: { seats: 10 } });
  await system.settled();
  await system.cluster.delete(Cafe, key);
  await system.settled();
  expect(await system.cluster.get(Cafe, key)).toBeUndefined();
});
