// The foo's reconciler, called by hand over objects in memory. Ownership on a real API server, and what real Deployments do, are
// the statements' business.
import { expect, it } from 'vitest';
import type { DeclaredCondition } from '../../src/api/result.ts';
import { Foo, foo } from '../../src/controllers/foo.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { testContext } from '../../src/testing/test-context.ts';

const a = Foo.object('a', { deploymentName: 'web', replicas: 2 });
const context = (objects: readonly object[] = []) => testContext(foo, { owner: a, objects });
const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default' } };
const reported = (availableReplicas: number, observedGeneration = 1) => ({
  ...web,
  metadata: { ...web.metadata, generation: 1 },
  status: {
    observedGeneration,
    availableReplicas,
    conditions: [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' }],
  },
});
/** The same Foo after a reconcile that said this of its generation. */
const after = (DeploymentAvailable: DeclaredCondition, observedGeneration = 1) => ({
  ...a,
  conditions: [{ type: 'DeploymentAvailable', ...DeploymentAvailable, observedGeneration }],
});

it('F1, V6: makes the Deployment that it names, and waits for what that says', async () => {
  const cluster = context();
  const { status, conditions } = await foo.reconcile(a, cluster);
  expect(status).toEqual({});
  expect(conditions.DeploymentAvailable).toMatchObject({ status: 'Unknown', reason: 'NotReported' });
  const made = await cluster.get(Deployment, { name: 'web' });
  expect(made?.spec).toMatchObject({ replicas: 2, selector: { matchLabels: { app: 'nginx', controller: 'a' } } });
});

it('F10: says nothing of replicas where none are wanted', async () => {
  const cluster = context();
  await foo.reconcile(Foo.object('a', { deploymentName: 'web' }), cluster);
  expect((await cluster.get(Deployment, { name: 'web' }))?.spec).not.toHaveProperty('replicas');
});

it('F4, V4: takes the available replicas of a Deployment that speaks of its present spec, and of no other', async () => {
  const cluster = context();
  await foo.reconcile(a, cluster);
  cluster.put(reported(2));
  const { status, conditions } = await foo.reconcile(a, cluster);
  expect(status).toEqual({ availableReplicas: 2 });
  expect(conditions.DeploymentAvailable.status).toBe('True');
  cluster.put(reported(0, 0));
  const stale = await foo.reconcile({ ...a, status }, cluster);
  expect(stale.status).toEqual({ availableReplicas: 2 });
  expect(stale.conditions.DeploymentAvailable).toMatchObject({ status: 'Unknown', reason: 'OutOfDate' });
});

it('F11: says Synced once for each generation', async () => {
  const cluster = context();
  const { conditions } = await foo.reconcile(a, cluster);
  await foo.reconcile(after(conditions.DeploymentAvailable), cluster);
  expect(cluster.events.map(({ reason }) => reason)).toEqual(['Synced']);
  await foo.reconcile(after(conditions.DeploymentAvailable, 0), cluster);
  expect(cluster.events.map(({ reason }) => reason)).toEqual(['Synced', 'Synced']);
});

it('F7, V7: leaves a foreign Deployment alone, reports it once, keeps its status, and is retried', async () => {
  const cluster = context([{ ...web, spec: { replicas: 9 } }]);
  const result = await foo.reconcile({ ...a, status: { availableReplicas: 2 } }, cluster);
  expect(result).toMatchObject({ status: { availableReplicas: 2 }, error: expect.any(Error) });
  expect(result.conditions.DeploymentAvailable).toMatchObject({ status: 'False', reason: 'NotOwned' });
  await foo.reconcile(after(result.conditions.DeploymentAvailable), cluster);
  expect(cluster.events).toEqual([
    {
      type: 'Warning',
      reason: 'ErrResourceExists',
      message: 'Resource "web" already exists and is not managed by Foo',
    },
  ]);
  expect((await cluster.get(Deployment, { name: 'web' }))?.spec?.replicas).toBe(9);
});
