// What the aggregation asks (V8 to V13), shown on Foo, whose child is a built-in kind: what is written when a child is refused, when
// others write at the same time, when the object goes. Dinner, whose children are a kind of ours, shows it in dinner.test.ts.

import { describe, expect, it } from 'vitest';
import { Foo as foos } from '../../src/controllers/foo.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from './harness.ts';
import { conditionOf } from './user.ts';

const one = { deploymentName: 'example-foo', replicas: 1 };

const { connect } = await useApiServer({ controllers: 'none' });
const system = useSystem(connect);

const deployment = async () => await system.read(Deployment, 'example-foo');
/** Says of the Deployment what a Deployment controller would. */
const report = async (availableReplicas: number) => {
  const { generation } = (await deployment()).metadata;
  const conditions = [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'has some' }];
  const counts = { replicas: availableReplicas, readyReplicas: availableReplicas, availableReplicas };
  const status = { observedGeneration: generation, ...counts, conditions };
  await system.patch(Deployment, 'example-foo', { status }, 'status');
};

describe('the aggregation of Foo', () => {
  it('V8: a Deployment that the API server finds invalid is False with what it says, and tried again', async () => {
    const { uid } = (await system.apply(foos, 'a', one)).metadata;
    const { apiVersion, kind } = foos;
    // Its own, but with a selector, which never changes.
    const ownerReferences = [{ apiVersion, kind, name: 'a', uid, controller: true }];
    const other = { app: 'other' };
    const template = { metadata: { labels: other }, spec: { containers: [{ name: 'c', image: 'other' }] } };
    const spec = { selector: { matchLabels: other }, template };
    const before = await system.apply(Deployment, 'example-foo', spec, { ownerReferences });
    await system.reconcile(foos, 'a');
    expect(await deployment()).toEqual(before);
    const after = await system.read(foos, 'a');
    expect(after.status).toMatchObject({ observedGeneration: 1 });
    const refused = conditionOf(after, 'DeploymentAvailable');
    expect(refused).toMatchObject({ status: 'False', reason: 'ChildRefused' });
    expect(refused?.message).toContain('field is immutable');
    expect(system.waiting()).toHaveLength(1);
  });

  it('V10: after a conflict with a foreign write the object is read and the status written again, never over the foreign write', async () => {
    await system.apply(foos, 'a', one);
    await system.reconcile(foos, 'a');
    await report(0);
    system.meanwhile(
      ({ path }) => path.endsWith('/foos/a/status'),
      () => system.patch(foos, 'a', { metadata: { labels: { team: 'blue' } } }),
    );
    system.requests.length = 0;
    await system.reconcile(foos, 'a');
    const { metadata, status } = await system.read(foos, 'a');
    expect(metadata.labels).toEqual({ team: 'blue' });
    expect(status).toMatchObject({ availableReplicas: 0 });
    const ofFoo = system.requests.flatMap((request) => /^\w+(?= .*\/foos\/a)/.exec(request) ?? []);
    expect(ofFoo).toEqual(['GET', 'PATCH', 'GET', 'PATCH']);
  });

  it.each([
    'GET /deployments',
    'PATCH /deployments/example-foo',
    'PATCH /foos/a/status',
  ])('V10, V13: replicas that change before %s are not said to be observed before they are', async (line) => {
    await system.apply(foos, 'a', one);
    system.meanwhile(
      ({ method, path }) => `${method} ${path.split(system.namespace)[1]}` === line,
      () => system.apply(foos, 'a', { ...one, replicas: 3 }),
    );
    await system.reconcile(foos, 'a');
    const { metadata, status } = await system.read(foos, 'a');
    expect(metadata.generation).toBe(2);
    expect(status).toMatchObject({ observedGeneration: 2 });
    expect((await deployment()).spec).toMatchObject({ replicas: 3 });
  });

  it('V12: a Foo that is being deleted makes no Deployment', async () => {
    await system.apply(foos, 'a', one, { finalizers: ['example.com/other'] });
    await system.delete(foos, 'a');
    const before = await system.read(foos, 'a');
    await system.reconcile(foos, 'a');
    expect(await system.list(Deployment)).toEqual([]);
    expect(await system.read(foos, 'a')).toEqual(before);
    await system.patch(foos, 'a', { metadata: { finalizers: [] } }).catch(() => undefined);
  });
});
