// Who is woken by a Deployment (C1, C2, F4; C3 is drift.test.ts), and what of its status is believed (C6), as cases for any API server that runs no
// Deployment controller; that none does is C8. The tests say what a Deployment's status is.
import { beforeEach, describe, expect, it } from 'vitest';
import { Foo as foos } from '../../src/controllers/foo.ts';
import { controllerLabel } from '../../src/core/names.ts';
import { Deployment, Pod, ReplicaSet } from '../../src/kubernetes.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { useApiServer } from '../harness/api-server.ts';
import { conditionOf } from './user.ts';
import { useWatchedSystem } from './watch.ts';

const bare = {
  selector: { matchLabels: { app: 'bare' } },
  template: { metadata: { labels: { app: 'bare' } }, spec: { containers: [{ name: 'c', image: 'c' }] } },
};

const { connect } = await useApiServer({ controllers: 'none' });
const { system, until, watch } = useWatchedSystem(connect);
beforeEach(() => void watch());

const forwarded = (from: number) =>
  watch()
    .forwarded.slice(from)
    .map((body) => {
      const { controller, group, resource, namespace, name } = parseMessage(body);
      return `${controller}: ${resource}.${group} ${namespace}/${name}`;
    });
const keyOf = (name: string) => `foo: foos.samples.example.com ${system.namespace}/${name}`;
async function seen(from: number, ...names: readonly string[]): Promise<void> {
  while (!names.every((name) => forwarded(from).includes(keyOf(name)))) await watch().next();
}
/** Creates Foos that are not reconciled, each forwarded once; returns the number of keys. */
async function parents(...names: readonly string[]): Promise<number> {
  for (const name of names) await system.apply(foos, name, { deploymentName: `of-${name}` });
  await seen(0, ...names);
  return watch().forwarded.length;
}
/** The metadata of a child: the watcher receives only objects with the label. */
const ownedBy = async (name: string, more: object = {}) => {
  const { uid } = (await system.read(foos, name)).metadata;
  const labels = { [controllerLabel]: 'foo' };
  return {
    labels,
    ownerReferences: [{ apiVersion: foos.apiVersion, kind: 'Foo', name, uid, controller: true, ...more }],
  };
};

describe('a Deployment that is owned', () => {
  it('C1: wakes exactly its controller, and no owner that is none, nor one of another group’s kind of that name', async () => {
    const before = await parents('x', 'guest', 'foreign', 'y', 'z');
    await system.apply(Deployment, 'a', bare, await ownedBy('guest', { controller: false }));
    await system.apply(Deployment, 'b', bare, await ownedBy('foreign', { apiVersion: 'other.example.com/v1' }));
    await system.apply(Deployment, 'c', bare, await ownedBy('x'));
    // Events of one kind come in order: when these are through, so is everything before them.
    for (const name of ['y', 'z']) {
      await system.apply(Deployment, `of-${name}`, bare, await ownedBy(name));
      await seen(before, name);
    }
    expect(forwarded(before).sort()).toEqual(['x', 'y', 'z'].map(keyOf));
  });

  it('C2: when it changes hands, both its old and its new owner are woken', async () => {
    const before = await parents('x', 'y');
    await system.apply(Deployment, 'a', bare, await ownedBy('x'));
    await seen(before, 'x');
    const after = watch().forwarded.length;
    await system.patch(Deployment, 'a', { metadata: await ownedBy('y') });
    await seen(after, 'x', 'y');
    expect(forwarded(after).sort()).toEqual(['x', 'y'].map(keyOf));
  });

  const a = async () => await system.read(foos, 'a');
  const report = async (count: number) => {
    const { generation } = (await system.read(Deployment, 'web')).metadata;
    const counts = { replicas: count, readyReplicas: count, availableReplicas: count };
    const available = { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: '' };
    const status = { ...counts, observedGeneration: generation, conditions: [available] };
    await system.patch(Deployment, 'web', { status }, 'status');
  };
  const isReady = async () => conditionOf(await a(), 'Ready')?.status === 'True';

  it('F4, C6: a Deployment’s status reaches its Foo, for the current generation only', async () => {
    await system.apply(foos, 'a', { deploymentName: 'web', replicas: 2 });
    await until(async () => (await system.get(Deployment, 'web')) !== undefined);
    await report(1);
    await until(isReady);
    expect((await a()).status).toMatchObject({ availableReplicas: 1 });

    await system.apply(foos, 'a', { deploymentName: 'web', replicas: 3 });
    await until(async () => conditionOf(await a(), 'DeploymentAvailable')?.reason === 'OutOfDate');
    const two = { replicas: 2, readyReplicas: 2, availableReplicas: 2 };
    await system.patch(Deployment, 'web', { status: two }, 'status');
    await system.reconcile(foos, 'a');
    expect(conditionOf(await system.read(Deployment, 'web'), 'Available')?.status).toBe('True');
    expect(conditionOf(await a(), 'Ready')).toMatchObject({ status: 'Unknown', reason: 'OutOfDate' });
    expect((await a()).status).toMatchObject({ availableReplicas: 1 });
    await report(3);
    await until(isReady);
    expect((await a()).status).toMatchObject({ availableReplicas: 3 });
  });

  it('C8: makes no ReplicaSet and no Pod by itself, and says nothing of itself', async () => {
    await system.apply(foos, 'a', { deploymentName: 'web' });
    await until(async () => (await system.get(Deployment, 'web')) !== undefined);
    expect((await system.read(Deployment, 'web')).status ?? {}).toEqual({});
    expect(await system.list(ReplicaSet)).toEqual([]);
    expect(await system.list(Pod)).toEqual([]);
    expect(conditionOf(await a(), 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NotReported' });
  });
});
