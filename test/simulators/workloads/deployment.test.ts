// Deployment → ReplicaSet → Pods, as kube-controller-manager does it: names, labels, owners, statuses, and deleted
// pods. The test acts as the kubelet. The same cases run on the simulator and on kube-controller-manager. Scaling and
// rolling updates: deployment-rolling.test.ts.
import { describe, expect, it } from 'vitest';
import { count, deploymentFixture, labels } from './deployment-fixture.ts';
import { names, statusOf, useWorkloads } from './workloads-harness.ts';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

const harness = await useWorkloads();
describe('Deployments', harness.options, () => {
  const { address, available, fixture, make, runAll, untilPods, untilSets, whenStatus } = deploymentFixture(harness);

  it('a Deployment gets one ReplicaSet, and that its pods, each named after its template or set, labelled and owned', async () => {
    const made = await make();
    const pods = await untilPods(count(2));
    const [set] = await untilSets(count(1));
    const hash = set?.metadata?.labels?.['pod-template-hash'];
    expect(hash).toMatch(new RegExp(`^[${alphabet}]{1,10}$`));
    expect(set).toMatchObject({
      metadata: {
        name: `one-${hash}`,
        labels: { ...labels, 'pod-template-hash': hash },
        annotations: {
          note: 'x',
          'deployment.kubernetes.io/desired-replicas': '2',
          'deployment.kubernetes.io/max-replicas': '3',
          'deployment.kubernetes.io/revision': '1',
        },
      },
      spec: {
        replicas: 2,
        selector: { matchLabels: { ...labels, 'pod-template-hash': hash } },
        template: { metadata: { labels: { ...labels, 'pod-template-hash': hash } } },
      },
    });
    const uid = made.metadata?.uid;
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'one', uid };
    expect(set?.metadata?.ownerReferences).toEqual([{ ...owner, controller: true, blockOwnerDeletion: true }]);
    const setOwner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set?.metadata?.name, uid: set?.metadata?.uid };
    for (const { metadata } of pods) {
      expect(metadata?.name).toMatch(new RegExp(`^${set?.metadata?.name}-[${alphabet}]{5}$`));
      expect(metadata?.generateName).toBe(`${set?.metadata?.name}-`);
      expect(metadata?.labels).toEqual(set?.metadata?.labels);
      expect(metadata?.ownerReferences).toEqual([{ ...setOwner, controller: true, blockOwnerDeletion: true }]);
    }
    // The revision is an annotation, which does not change the generation.
    const noted = await whenStatus(({ updatedReplicas }) => updatedReplicas === 2);
    expect(noted?.metadata).toMatchObject({ generation: 1, annotations: { 'deployment.kubernetes.io/revision': '1' } });
  });

  it('a Deployment becomes Available when its pods are ready, and unavailable but not Progressing again when one is not', async () => {
    await make();
    const before = await whenStatus(
      ({ updatedReplicas, conditions }) => updatedReplicas === 2 && conditions !== undefined,
    );
    const { conditions, ...counts } = statusOf(before);
    expect(counts).toEqual({
      observedGeneration: 1,
      replicas: 2,
      updatedReplicas: 2,
      unavailableReplicas: 2,
      terminatingReplicas: 0,
    });
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable' }),
    );
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' }),
    );
    const pods = await runAll(count(2));
    const after = statusOf(await available(2));
    expect(after).toMatchObject({ observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2 });
    expect(after).not.toHaveProperty('unavailableReplicas');
    expect(after.conditions).toContainEqual(
      expect.objectContaining({ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' }),
    );
    expect(after.conditions).toContainEqual(
      expect.objectContaining({ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }),
    );
    const [set] = await untilSets(([one]) => statusOf(one).readyReplicas === 2);
    expect(set?.status).toEqual({
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      terminatingReplicas: 0,
      observedGeneration: 1,
    });
    await fixture().run(names(pods)[0] ?? '', address(), false);
    const status = statusOf(await available(1));
    expect(status).toMatchObject({ replicas: 2, readyReplicas: 1, unavailableReplicas: 1 });
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'False' }));
    expect(status.conditions).toContainEqual(expect.objectContaining({ reason: 'NewReplicaSetAvailable' }));
  });

  it('a deleted pod of a Deployment is replaced', async () => {
    await make();
    const [gone = '', kept = ''] = names(await runAll(count(2)));
    await fixture().remove('pods', gone);
    const now = names(await untilPods((pods) => pods.length === 2 && !names(pods).includes(gone)));
    expect(now).toContain(kept);
  });

  it('a pod whose labels no longer match the selector is released and replaced', async () => {
    await make();
    const [released = ''] = names(await untilPods(count(2)));
    await fixture().change('pods', released, { metadata: { labels: { app: 'other' } } });
    const pods = await untilPods((all) => {
      const pod = all.find(({ metadata }) => metadata?.name === released);
      return all.length === 3 && (pod?.metadata?.ownerReferences ?? []).length === 0;
    });
    expect(names(pods)).toContain(released);
  });

  it('an orphaned pod that the selector matches is adopted instead of creating another', async () => {
    await make();
    const [set] = await untilSets(count(1));
    const pods = names(await untilPods(count(2)));
    await harness.wire.remove(`${fixture().path('replicasets')}/${set?.metadata?.name}`, {
      propagationPolicy: 'Orphan',
    });
    const [recreated] = await fixture().until(
      'replicasets',
      ([one]) => one !== undefined && one.metadata?.uid !== set?.metadata?.uid,
    );
    const adopted = await untilPods((all) =>
      all.every(({ metadata }) => metadata?.ownerReferences?.[0]?.uid === recreated?.metadata?.uid),
    );
    expect(names(adopted)).toEqual(pods);
  });
});
