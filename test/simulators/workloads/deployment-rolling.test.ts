// ReplicaSets and pods of a Deployment that is scaled, changed, recreated or deleted, as kube-controller-manager does
// it. The test acts as the kubelet. The same cases run on the simulator and on kube-controller-manager.
import { describe, expect, it } from 'vitest';
import type { Body } from '../../conformance/body.ts';
import { count, deploymentFixture, otherTemplate } from './deployment-fixture.ts';
import { names, statusOf, useWorkloads } from './workloads-harness.ts';

const harness = await useWorkloads();
describe('Deployments that change', harness.options, () => {
  const { address, available, change, fixture, make, runAll, untilPods, untilSets, whenStatus } =
    deploymentFixture(harness);

  it('scaling a Deployment changes the size of its present ReplicaSet', async () => {
    await make();
    const [before] = await untilSets(count(1));
    await untilPods(count(2));
    await change({ spec: { replicas: 3 } });
    await untilPods(count(3));
    await change({ spec: { replicas: 0 } });
    await untilPods(count(0));
    const zero = statusOf(
      await whenStatus(({ observedGeneration, replicas }) => observedGeneration === 3 && replicas === undefined),
    );
    expect(zero.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'True' }));
    const sets = await untilSets(count(1));
    expect(sets[0]?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(sets[0]?.metadata?.annotations).toMatchObject({
      'deployment.kubernetes.io/desired-replicas': '0',
      'deployment.kubernetes.io/max-replicas': '0',
    });
  });

  it('a Deployment that is scaled down deletes pods that are not ready first', async () => {
    await make({ replicas: 3 });
    const [ready = '', ...others] = names(await untilPods(count(3)));
    for (const pod of others) await fixture().run(pod, address(), false);
    await fixture().run(ready, address());
    await available(1);
    await change({ spec: { replicas: 1 } });
    expect(names(await untilPods(count(1)))).toEqual([ready]);
  });

  it('a changed template is rolled out within maxSurge and maxUnavailable until all pods are new', async () => {
    await make();
    await runAll(count(2));
    await available(2);
    await change(otherTemplate('i:2'));
    // Nothing runs the new pod, so the rollout waits for it.
    const waiting = statusOf(
      await whenStatus(({ updatedReplicas, replicas }) => updatedReplicas === 1 && replicas === 3),
    );
    expect(waiting).toMatchObject({ observedGeneration: 2, availableReplicas: 2, unavailableReplicas: 1 });
    let most = 0;
    let fewest = 2;
    await runAll((pods) => {
      const ready = pods.filter((pod) => statusOf(pod).phase === 'Running').length;
      most = Math.max(most, pods.length);
      fewest = Math.min(fewest, ready);
      const images = pods.map(({ spec }) => JSON.stringify(spec?.containers));
      return pods.length === 2 && images.every((image) => image.includes('i:2'));
    });
    expect({ most, fewest }).toEqual({ most: 3, fewest: 2 });
    const done = await whenStatus(
      ({ updatedReplicas, availableReplicas }) => updatedReplicas === 2 && availableReplicas === 2,
    );
    expect(done?.metadata?.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
    const sets = await fixture().until(
      'replicasets',
      (all) => all.filter(({ spec }) => spec?.replicas === 0).length === 1,
    );
    const sizes = sets.map(({ metadata, spec }) => [
      metadata?.annotations?.['deployment.kubernetes.io/revision'],
      spec?.replicas,
    ]);
    expect(sizes.sort()).toEqual([
      ['1', 0],
      ['2', 2],
    ]);
  });

  it('an earlier template reuses its ReplicaSet with a new revision', async () => {
    await make({ replicas: 0 });
    const [first] = await untilSets(count(1));
    await change(otherTemplate('i:2'));
    await untilSets(count(2));
    await change({
      spec: {
        template: {
          spec: { containers: [{ name: 'c', image: 'i:1', ports: [{ name: 'http', containerPort: 8080 }] }] },
        },
      },
    });
    const revision = ({ metadata }: Body) => metadata?.annotations?.['deployment.kubernetes.io/revision'];
    const sets = await untilSets((all) => all.some((one) => revision(one) === '3'));
    expect(sets).toHaveLength(2);
    expect(sets.find((one) => revision(one) === '3')?.metadata?.uid).toBe(first?.metadata?.uid);
  });

  it('ReplicaSets beyond revisionHistoryLimit are deleted, oldest first', async () => {
    await make({ replicas: 0, revisionHistoryLimit: 1 });
    const [oldest = ''] = names(await untilSets(count(1)));
    await change(otherTemplate('i:2'));
    await untilSets(count(2));
    await change(otherTemplate('i:3'));
    const sets = await untilSets((all) => all.length === 2 && !names(all).includes(oldest));
    expect(names(sets)).not.toContain(oldest);
  });

  it('a Deployment with strategy Recreate creates no pod before the last old one is gone', async () => {
    await make({ strategy: { type: 'Recreate' } });
    const old = names(await runAll(count(2)));
    await available(2);
    await change(otherTemplate('i:2'));
    let mixed = false;
    await untilPods((pods) => {
      const remaining = names(pods).filter((name) => old.includes(name));
      mixed ||= remaining.length > 0 && remaining.length < pods.length;
      return pods.length === 2 && remaining.length === 0;
    });
    expect(mixed).toBe(false);
  });

  it('ReplicaSets and pods of a deleted Deployment are garbage-collected', async () => {
    await make();
    await untilPods(count(2));
    await fixture().remove('deployments', 'one');
    await untilSets(count(0));
    await untilPods(count(0));
  });
});
