// Foo above real Deployments (C4, C5, C7): kube-controller-manager makes ReplicaSets and Pods, and collects garbage; the test
// stands in for scheduler and kubelet, and decides when a pod is ready.
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { deploymentKind as deployments, fooKind as foos } from '../../src/controllers/foo.ts';
import { existingKind } from '../../src/core/kind.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { createWire } from '../conformance/wire.ts';
import { cascadeCases } from '../statements/cascade-cases.ts';
import { install, type System, startSystem } from '../statements/harness.ts';
import { conditionOf } from '../statements/user.ts';
import { startWatch, type Watch } from '../statements/watch.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });
const wire = createWire({ url, ca, token: adminToken });
const replicaSets = existingKind<object>({ group: 'apps', version: 'v1', kind: 'ReplicaSet' });
const pods = existingKind<object>({ group: '', version: 'v1', kind: 'Pod' });

let system: System;
let watch: Watch;

describe('a Foo above a Deployment', () => {
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    system = await startSystem(connect());
    watch = startWatch(system.client, system.namespace, system.send);
  });
  afterEach(async ({ task }) => {
    await watch.stop();
    await system.end({ failed: task.result?.state === 'fail' });
  });

  /** Lets the system run, from one forwarded key to the next, until the Foo is as wanted. */
  async function until(isSo: (foo: KubeObject) => boolean): Promise<KubeObject> {
    for (;;) {
      system.clock.ms = Math.max(system.clock.ms, Date.now());
      await system.deliver();
      const now = await system.read(foos, 'a');
      if (isSo(now)) return now;
      await watch.next();
    }
  }
  const stands = (status: string, reason: string) => (foo: KubeObject) => {
    const condition = conditionOf(foo, 'DeploymentAvailable');
    return condition?.status === status && condition.reason === reason;
  };
  const isReady = (foo: KubeObject) => conditionOf(foo, 'Ready')?.status === 'True';
  const place = () => `/api/v1/namespaces/${system.namespace}/pods`;
  /** Binds so many pods that wait for a node, as they come, and has them ready. Returns their names. */
  async function runPods(count: number): Promise<readonly string[]> {
    const ran: string[] = [];
    await using frames = await wire.watch(place());
    while (ran.length < count) {
      const { type, object } = await frames.next();
      const name = object.metadata?.name ?? '';
      if (type === 'DELETED' || object.spec?.nodeName !== undefined || ran.includes(name)) continue;
      const target = { apiVersion: 'v1', kind: 'Node', name: 'stand-in' };
      await wire.post(`${place()}/${name}/binding`, { metadata: { name }, target });
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }];
      await wire.mergePatch(`${place()}/${name}/status`, {
        status: { phase: 'Running', podIP: '10.1.1.1', conditions },
      });
      ran.push(name);
    }
    return ran;
  }

  it('C4: gets Ready only when the pods of its Deployment have made that Available', async () => {
    await system.apply(foos, 'a', { deploymentName: 'web', replicas: 2 });
    await until(stands('False', 'MinimumReplicasUnavailable'));
    const [set] = await system.list(replicaSets);
    expect(set?.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'web', controller: true }]);
    await runPods(1);
    expect((await until(({ status }) => Object(status).availableReplicas === 1)).status).toMatchObject({
      availableReplicas: 1,
    });
    expect(isReady(await system.read(foos, 'a'))).toBe(false);
    await runPods(1);
    expect((await until(isReady)).status).toMatchObject({ availableReplicas: 2 });
    const owners = (await system.list(pods)).flatMap(({ metadata }) => metadata.ownerReferences ?? []);
    expect(owners.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
      Array(2).fill(`ReplicaSet ${set?.metadata.name}`),
    );

    // What was Available of the old generation is not believed for the new one.
    await system.apply(foos, 'a', { deploymentName: 'web', replicas: 3 });
    const after = await until(({ metadata, status }) => Object(status).observedGeneration === metadata.generation);
    expect(isReady(after)).toBe(false);
    await runPods(1);
    const ready = await until(isReady);
    expect(ready.status).toMatchObject({ availableReplicas: 3 });
    const { metadata, status } = await system.read(deployments, 'web');
    expect(Object(status).observedGeneration).toBe(metadata.generation);
  });

  it('C5: when a pod is killed its status dips and recovers, and it writes nothing but that', async () => {
    await system.apply(foos, 'a', { deploymentName: 'web', replicas: 2 });
    await system.deliver();
    const ran = runPods(2);
    await until(isReady);
    const [victim = ''] = await ran;
    const { generation } = (await system.read(deployments, 'web')).metadata;
    system.requests.length = 0;
    await wire.remove(`${place()}/${victim}`, { gracePeriodSeconds: 0 });
    const dipped = await until((foo) => !isReady(foo));
    expect(dipped.status).toMatchObject({ availableReplicas: 1 });
    expect(conditionOf(dipped, 'Ready')).toMatchObject({ status: 'False', reason: 'MinimumReplicasUnavailable' });
    const [heir] = await runPods(1);
    expect((await until(isReady)).status).toMatchObject({ availableReplicas: 2 });
    expect((await system.list(pods)).map(({ metadata }) => metadata.name)).toContain(heir);
    expect((await system.read(deployments, 'web')).metadata.generation).toBe(generation);
    const writes = system.requests.filter((request) => !request.startsWith('GET '));
    expect(new Set(writes)).toEqual(
      new Set([`PATCH ${place().replace('/api/v1', '/apis/samples.example.com/v1').replace('pods', 'foos')}/a/status`]),
    );
  });
});

cascadeCases(connect);
