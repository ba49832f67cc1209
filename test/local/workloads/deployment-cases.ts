// Deployment → ReplicaSet → Pods, as kube-controller-manager does it: names, labels, owners, statuses, rolling. The test plays the
// kubelet. The same cases run on our stand-in and on the real one.
import { beforeEach, expect, it } from 'vitest';
import type { Body } from '../../conformance/body.ts';
import { names, openTheatre, type Stage, statusOf, type Theatre } from './stage.ts';

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const labels = { app: 'one' };

function deployment(spec: object = {}): object {
  const containers = [{ name: 'c', image: 'i:1', ports: [{ name: 'http', containerPort: 8080 }] }];
  // Bound pods otherwise stay until a kubelet has let them end.
  const template = { metadata: { labels }, spec: { containers, terminationGracePeriodSeconds: 0 } };
  return {
    metadata: { name: 'one', annotations: { note: 'x' } },
    spec: { replicas: 2, selector: { matchLabels: labels }, template, ...spec },
  };
}

const otherTemplate = (image: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image }] } } } });
const count = (wanted: number) => (objects: readonly Body[]) => objects.length === wanted;

/** Declares the cases. */
export function deploymentCases(stage: Stage): void {
  let at: Theatre;
  let addresses = 0;
  beforeEach(async () => {
    at = await openTheatre(stage);
  });
  const address = (): string => {
    addresses += 1;
    return `10.9.${Math.floor(addresses / 200)}.${(addresses % 200) + 1}`;
  };
  /** Runs every pod that waits, until there are so many that run, of this ReplicaSet. */
  const runAll = async (fits: (pods: readonly Body[]) => boolean): Promise<readonly Body[]> => {
    const started = new Set<string>();
    return at.until('pods', (pods) => {
      for (const pod of pods) {
        const name = pod.metadata?.name ?? '';
        if (statusOf(pod).phase !== 'Pending' || started.has(name)) continue;
        started.add(name);
        void at.run(name, address()).catch(() => undefined);
      }
      return pods.every((pod) => statusOf(pod).phase === 'Running') && fits(pods);
    });
  };
  const whenStatus = async (fits: (status: Readonly<Record<string, unknown>>) => boolean) => {
    const [one] = await at.until('deployments', ([first]) => first !== undefined && fits(statusOf(first)));
    return one;
  };
  const available = (replicas: number) => whenStatus((status) => (status.availableReplicas ?? 0) === replicas);

  it('a Deployment gets one ReplicaSet, named after its template and owned by it', async () => {
    const made = await at.make('deployments', deployment());
    const [set] = await at.until('replicasets', count(1));
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
    await at.make('deployments', deployment());
    const pods = await at.until('pods', count(2));
    const [set] = await at.until('replicasets', count(1));
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set?.metadata?.name, uid: set?.metadata?.uid };
    for (const { metadata } of pods) {
      expect(metadata?.name).toMatch(new RegExp(`^${set?.metadata?.name}-[${LETTERS}]{5}$`));
      expect(metadata?.generateName).toBe(`${set?.metadata?.name}-`);
      expect(metadata?.labels).toEqual(set?.metadata?.labels);
      expect(metadata?.ownerReferences).toEqual([{ ...owner, controller: true, blockOwnerDeletion: true }]);
    }
  });

  it('a Deployment is not Available before its pods are ready, and is when they are', async () => {
    await at.make('deployments', deployment());
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
    const [set] = await at.until('replicasets', ([one]) => statusOf(one).readyReplicas === 2);
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
    await at.make('deployments', deployment());
    const noted = await whenStatus(({ updatedReplicas }) => updatedReplicas === 2);
    expect(noted?.metadata).toMatchObject({ generation: 1, annotations: { 'deployment.kubernetes.io/revision': '1' } });
  });

  it('a pod that stops being ready makes its Deployment unavailable, and progress stays what it was', async () => {
    await at.make('deployments', deployment());
    const pods = await runAll(count(2));
    await available(2);
    await at.run(names(pods)[0] ?? '', address(), false);
    const status = statusOf(await available(1));
    expect(status).toMatchObject({ replicas: 2, readyReplicas: 1, unavailableReplicas: 1 });
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'False' }));
    expect(status.conditions).toContainEqual(expect.objectContaining({ reason: 'NewReplicaSetAvailable' }));
  });

  it('a deleted pod is replaced by another one', async () => {
    await at.make('deployments', deployment());
    const [gone = '', kept = ''] = names(await runAll(count(2)));
    await at.remove('pods', gone);
    const now = names(await at.until('pods', (pods) => pods.length === 2 && !names(pods).includes(gone)));
    expect(now).toContain(kept);
  });

  it('a pod whose labels no longer fit is let go, and replaced', async () => {
    await at.make('deployments', deployment());
    const [odd = ''] = names(await at.until('pods', count(2)));
    await at.change('pods', odd, { metadata: { labels: { app: 'other' } } });
    const pods = await at.until('pods', (all) => {
      const free = all.find(({ metadata }) => metadata?.name === odd);
      return all.length === 3 && (free?.metadata?.ownerReferences ?? []).length === 0;
    });
    expect(names(pods)).toContain(odd);
  });

  it('an orphan that the selector picks is taken instead of making another', async () => {
    await at.make('deployments', deployment());
    const [set] = await at.until('replicasets', count(1));
    const pods = names(await at.until('pods', count(2)));
    await stage.wire.remove(`${at.path('replicasets')}/${set?.metadata?.name}`, { propagationPolicy: 'Orphan' });
    const [again] = await at.until(
      'replicasets',
      ([one]) => one !== undefined && one.metadata?.uid !== set?.metadata?.uid,
    );
    const taken = await at.until('pods', (all) =>
      all.every(({ metadata }) => metadata?.ownerReferences?.[0]?.uid === again?.metadata?.uid),
    );
    expect(names(taken)).toEqual(pods);
  });

  it('scaling changes the size of the same ReplicaSet', async () => {
    await at.make('deployments', deployment());
    const [before] = await at.until('replicasets', count(1));
    await at.until('pods', count(2));
    await at.change('deployments', 'one', { spec: { replicas: 3 } });
    await at.until('pods', count(3));
    await at.change('deployments', 'one', { spec: { replicas: 0 } });
    await at.until('pods', count(0));
    const zero = statusOf(
      await whenStatus(({ observedGeneration, replicas }) => observedGeneration === 3 && replicas === undefined),
    );
    expect(zero.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'True' }));
    const sets = await at.until('replicasets', count(1));
    expect(sets[0]?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(sets[0]?.metadata?.annotations).toMatchObject({
      'deployment.kubernetes.io/desired-replicas': '0',
      'deployment.kubernetes.io/max-replicas': '0',
    });
  });

  it('of the pods that are too many, those that are not ready go first', async () => {
    await at.make('deployments', deployment({ replicas: 3 }));
    const [ready = '', ...others] = names(await at.until('pods', count(3)));
    for (const pod of others) await at.run(pod, address(), false);
    await at.run(ready, address());
    await available(1);
    await at.change('deployments', 'one', { spec: { replicas: 1 } });
    expect(names(await at.until('pods', count(1)))).toEqual([ready]);
  });

  it('another template is rolled out: no more pods than allowed, none less, until all are new', async () => {
    await at.make('deployments', deployment());
    await runAll(count(2));
    await available(2);
    await at.change('deployments', 'one', otherTemplate('i:2'));
    // Nobody runs the new pod: there the rollout waits.
    const held = statusOf(await whenStatus(({ updatedReplicas, replicas }) => updatedReplicas === 1 && replicas === 3));
    expect(held).toMatchObject({ observedGeneration: 2, availableReplicas: 2, unavailableReplicas: 1 });
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
    const sets = await at.until('replicasets', (all) => all.filter(({ spec }) => spec?.replicas === 0).length === 1);
    const sizes = sets.map(({ metadata, spec }) => [
      metadata?.annotations?.['deployment.kubernetes.io/revision'],
      spec?.replicas,
    ]);
    expect(sizes.sort()).toEqual([
      ['1', 0],
      ['2', 2],
    ]);
  });

  it('an old template is its old ReplicaSet again, with a new revision', async () => {
    await at.make('deployments', deployment({ replicas: 0 }));
    const [first] = await at.until('replicasets', count(1));
    await at.change('deployments', 'one', otherTemplate('i:2'));
    await at.until('replicasets', count(2));
    await at.change('deployments', 'one', {
      spec: {
        template: {
          spec: { containers: [{ name: 'c', image: 'i:1', ports: [{ name: 'http', containerPort: 8080 }] }] },
        },
      },
    });
    const revision = ({ metadata }: Body) => metadata?.annotations?.['deployment.kubernetes.io/revision'];
    const sets = await at.until('replicasets', (all) => all.some((one) => revision(one) === '3'));
    expect(sets).toHaveLength(2);
    expect(sets.find((one) => revision(one) === '3')?.metadata?.uid).toBe(first?.metadata?.uid);
  });

  it('ReplicaSets beyond the history limit are removed, oldest first', async () => {
    await at.make('deployments', deployment({ replicas: 0, revisionHistoryLimit: 1 }));
    const [oldest = ''] = names(await at.until('replicasets', count(1)));
    await at.change('deployments', 'one', otherTemplate('i:2'));
    await at.until('replicasets', count(2));
    await at.change('deployments', 'one', otherTemplate('i:3'));
    const sets = await at.until('replicasets', (all) => all.length === 2 && !names(all).includes(oldest));
    expect(names(sets)).not.toContain(oldest);
  });

  it('a recreated Deployment has no new pod before the last old one is gone', async () => {
    await at.make('deployments', deployment({ strategy: { type: 'Recreate' } }));
    const old = names(await runAll(count(2)));
    await available(2);
    await at.change('deployments', 'one', otherTemplate('i:2'));
    let mixed = false;
    await at.until('pods', (pods) => {
      const left = names(pods).filter((name) => old.includes(name));
      mixed ||= left.length > 0 && left.length < pods.length;
      return pods.length === 2 && left.length === 0;
    });
    expect(mixed).toBe(false);
  });

  it('what a deleted Deployment had is collected', async () => {
    await at.make('deployments', deployment());
    await at.until('pods', count(2));
    await at.remove('deployments', 'one');
    await at.until('replicasets', count(0));
    await at.until('pods', count(0));
  });
}
