// What becomes of ReplicaSets and pods when a Deployment is scaled, changed, recreated or deleted, as kube-controller-manager does it.
// The test plays the kubelet. The same cases run on our stand-in and on the real one.
import { expect, it } from 'vitest';
import type { Body } from '../../conformance/body.ts';
import { count, deployment, deploymentScene, otherTemplate } from './deployment-fixture.ts';
import { names, type Stage, statusOf } from './workloads-harness.ts';

/** Declares the cases. */
export function deploymentRollingCases(stage: Stage): void {
  const { address, available, runAll, theatre, whenStatus } = deploymentScene(stage);

  it('scaling changes the size of the same ReplicaSet', async () => {
    await theatre().make('deployments', deployment());
    const [before] = await theatre().until('replicasets', count(1));
    await theatre().until('pods', count(2));
    await theatre().change('deployments', 'one', { spec: { replicas: 3 } });
    await theatre().until('pods', count(3));
    await theatre().change('deployments', 'one', { spec: { replicas: 0 } });
    await theatre().until('pods', count(0));
    const zero = statusOf(
      await whenStatus(({ observedGeneration, replicas }) => observedGeneration === 3 && replicas === undefined),
    );
    expect(zero.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'True' }));
    const sets = await theatre().until('replicasets', count(1));
    expect(sets[0]?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(sets[0]?.metadata?.annotations).toMatchObject({
      'deployment.kubernetes.io/desired-replicas': '0',
      'deployment.kubernetes.io/max-replicas': '0',
    });
  });

  it('of the pods that are too many, those that are not ready go first', async () => {
    await theatre().make('deployments', deployment({ replicas: 3 }));
    const [ready = '', ...others] = names(await theatre().until('pods', count(3)));
    for (const pod of others) await theatre().run(pod, address(), false);
    await theatre().run(ready, address());
    await available(1);
    await theatre().change('deployments', 'one', { spec: { replicas: 1 } });
    expect(names(await theatre().until('pods', count(1)))).toEqual([ready]);
  });

  it('another template is rolled out: no more pods than allowed, none less, until all are new', async () => {
    await theatre().make('deployments', deployment());
    await runAll(count(2));
    await available(2);
    await theatre().change('deployments', 'one', otherTemplate('i:2'));
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
    const sets = await theatre().until(
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

  it('an old template is its old ReplicaSet again, with a new revision', async () => {
    await theatre().make('deployments', deployment({ replicas: 0 }));
    const [first] = await theatre().until('replicasets', count(1));
    await theatre().change('deployments', 'one', otherTemplate('i:2'));
    await theatre().until('replicasets', count(2));
    await theatre().change('deployments', 'one', {
      spec: {
        template: {
          spec: { containers: [{ name: 'c', image: 'i:1', ports: [{ name: 'http', containerPort: 8080 }] }] },
        },
      },
    });
    const revision = ({ metadata }: Body) => metadata?.annotations?.['deployment.kubernetes.io/revision'];
    const sets = await theatre().until('replicasets', (all) => all.some((one) => revision(one) === '3'));
    expect(sets).toHaveLength(2);
    expect(sets.find((one) => revision(one) === '3')?.metadata?.uid).toBe(first?.metadata?.uid);
  });

  it('ReplicaSets beyond the history limit are removed, oldest first', async () => {
    await theatre().make('deployments', deployment({ replicas: 0, revisionHistoryLimit: 1 }));
    const [oldest = ''] = names(await theatre().until('replicasets', count(1)));
    await theatre().change('deployments', 'one', otherTemplate('i:2'));
    await theatre().until('replicasets', count(2));
    await theatre().change('deployments', 'one', otherTemplate('i:3'));
    const sets = await theatre().until('replicasets', (all) => all.length === 2 && !names(all).includes(oldest));
    expect(names(sets)).not.toContain(oldest);
  });

  it('a recreated Deployment has no new pod before the last old one is gone', async () => {
    await theatre().make('deployments', deployment({ strategy: { type: 'Recreate' } }));
    const old = names(await runAll(count(2)));
    await available(2);
    await theatre().change('deployments', 'one', otherTemplate('i:2'));
    let mixed = false;
    await theatre().until('pods', (pods) => {
      const left = names(pods).filter((name) => old.includes(name));
      mixed ||= left.length > 0 && left.length < pods.length;
      return pods.length === 2 && left.length === 0;
    });
    expect(mixed).toBe(false);
  });

  it('what a deleted Deployment had is collected', async () => {
    await theatre().make('deployments', deployment());
    await theatre().until('pods', count(2));
    await theatre().remove('deployments', 'one');
    await theatre().until('replicasets', count(0));
    await theatre().until('pods', count(0));
  });
}
