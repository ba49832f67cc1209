// Deployment → ReplicaSet → Pods, as kube-controller-manager does it: names, labels, owners, statuses, and pods that go. The test
// plays the kubelet. The same cases run on our stand-in and on the real one. Scaling and rolling: deployment-rolling-cases.ts.
import { expect, it } from 'vitest';
import { count, deployment, deploymentScene, labels } from './deployment-fixture.ts';
import { names, type Stage, statusOf } from './workloads-harness.ts';

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** Declares the cases. */
export function deploymentCases(stage: Stage): void {
  const { address, available, runAll, theatre, whenStatus } = deploymentScene(stage);

  it('a Deployment gets one ReplicaSet, named after its template and owned by it', async () => {
    const made = await theatre().make('deployments', deployment());
    const [set] = await theatre().until('replicasets', count(1));
    const hash = set?.metadata?.labels?.['pod-template-hash'];
    expect(hash).toMatch(new RegExp(`^[${LETTERS}]{1,10}$`));
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
  });

  it('pods are named after their ReplicaSet, carry its labels and belong to it', async () => {
    await theatre().make('deployments', deployment());
    const pods = await theatre().until('pods', count(2));
    const [set] = await theatre().until('replicasets', count(1));
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set?.metadata?.name, uid: set?.metadata?.uid };
    for (const { metadata } of pods) {
      expect(metadata?.name).toMatch(new RegExp(`^${set?.metadata?.name}-[${LETTERS}]{5}$`));
      expect(metadata?.generateName).toBe(`${set?.metadata?.name}-`);
      expect(metadata?.labels).toEqual(set?.metadata?.labels);
      expect(metadata?.ownerReferences).toEqual([{ ...owner, controller: true, blockOwnerDeletion: true }]);
    }
  });

  it('a Deployment is not Available before its pods are ready, and is when they are', async () => {
    await theatre().make('deployments', deployment());
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
    await runAll(count(2));
    const after = statusOf(await available(2));
    expect(after).toMatchObject({ observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2 });
    expect(after).not.toHaveProperty('unavailableReplicas');
    expect(after.conditions).toContainEqual(
      expect.objectContaining({ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' }),
    );
    expect(after.conditions).toContainEqual(
      expect.objectContaining({ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }),
    );
    const [set] = await theatre().until('replicasets', ([one]) => statusOf(one).readyReplicas === 2);
    expect(set?.status).toEqual({
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      terminatingReplicas: 0,
      observedGeneration: 1,
    });
  });

  it('noting its revision leaves the generation of a Deployment as it is', async () => {
    await theatre().make('deployments', deployment());
    const noted = await whenStatus(({ updatedReplicas }) => updatedReplicas === 2);
    expect(noted?.metadata).toMatchObject({ generation: 1, annotations: { 'deployment.kubernetes.io/revision': '1' } });
  });

  it('a pod that stops being ready makes its Deployment unavailable, and progress stays what it was', async () => {
    await theatre().make('deployments', deployment());
    const pods = await runAll(count(2));
    await available(2);
    await theatre().run(names(pods)[0] ?? '', address(), false);
    const status = statusOf(await available(1));
    expect(status).toMatchObject({ replicas: 2, readyReplicas: 1, unavailableReplicas: 1 });
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'False' }));
    expect(status.conditions).toContainEqual(expect.objectContaining({ reason: 'NewReplicaSetAvailable' }));
  });

  it('a deleted pod is replaced by another one', async () => {
    await theatre().make('deployments', deployment());
    const [gone = '', kept = ''] = names(await runAll(count(2)));
    await theatre().remove('pods', gone);
    const now = names(await theatre().until('pods', (pods) => pods.length === 2 && !names(pods).includes(gone)));
    expect(now).toContain(kept);
  });

  it('a pod whose labels no longer fit is let go, and replaced', async () => {
    await theatre().make('deployments', deployment());
    const [odd = ''] = names(await theatre().until('pods', count(2)));
    await theatre().change('pods', odd, { metadata: { labels: { app: 'other' } } });
    const pods = await theatre().until('pods', (all) => {
      const free = all.find(({ metadata }) => metadata?.name === odd);
      return all.length === 3 && (free?.metadata?.ownerReferences ?? []).length === 0;
    });
    expect(names(pods)).toContain(odd);
  });

  it('an orphan that the selector picks is taken instead of making another', async () => {
    await theatre().make('deployments', deployment());
    const [set] = await theatre().until('replicasets', count(1));
    const pods = names(await theatre().until('pods', count(2)));
    await stage.wire.remove(`${theatre().path('replicasets')}/${set?.metadata?.name}`, { propagationPolicy: 'Orphan' });
    const [again] = await theatre().until(
      'replicasets',
      ([one]) => one !== undefined && one.metadata?.uid !== set?.metadata?.uid,
    );
    const taken = await theatre().until('pods', (all) =>
      all.every(({ metadata }) => metadata?.ownerReferences?.[0]?.uid === again?.metadata?.uid),
    );
    expect(names(taken)).toEqual(pods);
  });
}
