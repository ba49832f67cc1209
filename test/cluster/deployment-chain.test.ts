// Foo with real Deployments (C4, C5, C7): kube-controller-manager creates ReplicaSets and Pods, and collects garbage;
// the test acts as scheduler and kubelet, and decides when a pod is ready.
import { beforeEach, describe, expect, it } from 'vitest';
import { Foo as foos } from '../../src/controllers/foo.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { Deployment, Pod, ReplicaSet } from '../../src/kubernetes.ts';
import { createWire } from '../conformance/wire.ts';
import { useApiServer } from '../harness/api-server.ts';
import { conditionOf } from '../statements/user.ts';
import { useWatchedSystem } from '../statements/watch.ts';

const server = await useApiServer();
const wire = createWire(server);
const { system, until: untilHolds, watch } = useWatchedSystem(server.connect);

describe('Foo with a Deployment', () => {
  beforeEach(() => void watch());

  /** Runs the system, one forwarded key after the other, until the condition holds for the Foo. */
  async function until(condition: (foo: KubeObject) => boolean): Promise<KubeObject> {
    await untilHolds(async () => condition(await system.read(foos, 'a')));
    return await system.read(foos, 'a');
  }
  const readyCondition = (status: string, reason: string) => (foo: KubeObject) => {
    const condition = conditionOf(foo, 'DeploymentAvailable');
    return condition?.status === status && condition.reason === reason;
  };
  const isReady = (foo: KubeObject) => conditionOf(foo, 'Ready')?.status === 'True';
  const podsPath = () => `/api/v1/namespaces/${system.namespace}/pods`;
  /** Binds this number of unscheduled Pods, as they are created, and makes them ready. Returns their names. */
  async function runPods(count: number): Promise<readonly string[]> {
    const ran: string[] = [];
    await using frames = await wire.watch(podsPath());
    while (ran.length < count) {
      const { type, object } = await frames.next();
      const name = object.metadata?.name ?? '';
      if (type === 'DELETED' || object.spec?.nodeName !== undefined || ran.includes(name)) continue;
      const target = { apiVersion: 'v1', kind: 'Node', name: 'stand-in' };
      await wire.post(`${podsPath()}/${name}/binding`, { metadata: { name }, target });
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }];
      await wire.mergePatch(`${podsPath()}/${name}/status`, {
        status: { phase: 'Running', podIP: '10.1.1.1', conditions },
      });
      ran.push(name);
    }
    return ran;
  }

  it('C4: Foo becomes Ready only when the Pods of its Deployment have made it Available', async () => {
    await system.apply(foos, 'a', { deploymentName: 'web', replicas: 2 });
    await until(readyCondition('False', 'MinimumReplicasUnavailable'));
    const [set] = await system.list(ReplicaSet);
    expect(set?.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'web', controller: true }]);
    await runPods(1);
    expect((await until(({ status }) => Object(status).availableReplicas === 1)).status).toMatchObject({
      availableReplicas: 1,
    });
    expect(isReady(await system.read(foos, 'a'))).toBe(false);
    await runPods(1);
    expect((await until(isReady)).status).toMatchObject({ availableReplicas: 2 });
    const owners = (await system.list(Pod)).flatMap(({ metadata }) => metadata.ownerReferences ?? []);
    expect(owners.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
      Array(2).fill(`ReplicaSet ${set?.metadata.name}`),
    );

    // A condition Available of the old generation does not count for the new one.
    await system.apply(foos, 'a', { deploymentName: 'web', replicas: 3 });
    const after = await until(({ metadata, status }) => Object(status).observedGeneration === metadata.generation);
    expect(isReady(after)).toBe(false);
    await runPods(1);
    const ready = await until(isReady);
    expect(ready.status).toMatchObject({ availableReplicas: 3 });
    const { metadata, status } = await system.read(Deployment, 'web');
    expect(Object(status).observedGeneration).toBe(metadata.generation);
  });

  it('C5: the status of Foo follows a killed pod, without any other write', async () => {
    await system.apply(foos, 'a', { deploymentName: 'web', replicas: 2 });
    await system.deliver();
    const ran = runPods(2);
    await until(isReady);
    const [victim = ''] = await ran;
    const { generation } = (await system.read(Deployment, 'web')).metadata;
    system.requests.length = 0;
    await wire.remove(`${podsPath()}/${victim}`, { gracePeriodSeconds: 0 });
    const dipped = await until((foo) => !isReady(foo));
    expect(dipped.status).toMatchObject({ availableReplicas: 1 });
    expect(conditionOf(dipped, 'Ready')).toMatchObject({ status: 'False', reason: 'MinimumReplicasUnavailable' });
    const [heir] = await runPods(1);
    expect((await until(isReady)).status).toMatchObject({ availableReplicas: 2 });
    expect((await system.list(Pod)).map(({ metadata }) => metadata.name)).toContain(heir);
    expect((await system.read(Deployment, 'web')).metadata.generation).toBe(generation);
    const writes = system.requests.filter((request) => !request.startsWith('GET '));
    expect(new Set(writes)).toEqual(
      new Set([
        `PATCH ${podsPath().replace('/api/v1', '/apis/samples.example.com/v1').replace('pods', 'foos')}/a/status`,
      ]),
    );
  });
});
