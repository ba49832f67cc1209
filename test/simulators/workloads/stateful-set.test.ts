// StatefulSet → Pods, as kube-controller-manager does it: stable names, order, statuses, rolling updates. The test acts
// as the kubelet. The same cases run on the simulator and on kube-controller-manager.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Body } from '../../conformance/body.ts';
import { type NamespaceFixture, names, openNamespaceFixture, statusOf, useWorkloads } from './workloads-harness.ts';

const labels = { app: 'st' };
const withImage = (image: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image }] } } } });

function statefulSet(spec: object = {}): object {
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'c', image: 'i:1' }], terminationGracePeriodSeconds: 0 },
  };
  return {
    metadata: { name: 'st' },
    spec: { replicas: 2, serviceName: 'nodes', selector: { matchLabels: labels }, template, ...spec },
  };
}

const named =
  (...wanted: readonly string[]) =>
  (objects: readonly Body[]) =>
    names(objects).join() === wanted.join();

const harness = await useWorkloads();
describe('StatefulSets', harness.options, () => {
  let fixture: NamespaceFixture;
  let addresses = 0;
  beforeEach(async () => {
    fixture = await openNamespaceFixture(harness);
  });
  const run = (pod: string, ready = true): Promise<void> => {
    addresses += 1;
    return fixture.run(pod, `10.7.${Math.floor(addresses / 200)}.${(addresses % 200) + 1}`, ready);
  };
  const whenStatus = async (matches: (status: Readonly<Record<string, unknown>>) => boolean) =>
    statusOf((await fixture.until('statefulsets', ([one]) => one !== undefined && matches(statusOf(one))))[0]);
  /** Creates the StatefulSet, and runs its two pods. */
  const makeReady = async (spec: object = {}) => {
    await fixture.make('statefulsets', statefulSet(spec));
    await fixture.until('pods', (pods) => names(pods).includes('st-0'));
    await run('st-0');
    await fixture.until('pods', named('st-0', 'st-1'));
    await run('st-1');
    return whenStatus(({ readyReplicas }) => readyReplicas === 2);
  };
  const uidsOf = (pods: readonly Body[]) => new Map(pods.map(({ metadata }) => [metadata?.name ?? '', metadata?.uid]));
  const isNew = (pods: readonly Body[], name: string, before: ReadonlyMap<string, string | undefined>) => {
    const pod = pods.find(({ metadata }) => metadata?.name === name);
    return pod !== undefined && pod.metadata?.uid !== before.get(name);
  };

  it('the pods of a StatefulSet mount the volume claims of its templates, and one that exists stays as it is', async () => {
    const claim = (size: string) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } });
    await fixture.make('persistentvolumeclaims', { metadata: { name: 'data-st-0' }, spec: claim('5Gi') });
    const volumes = [{ name: 'data', emptyDir: {} }];
    const containers = [{ name: 'c', image: 'i:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }];
    await makeReady({
      template: { metadata: { labels }, spec: { containers, volumes, terminationGracePeriodSeconds: 0 } },
      volumeClaimTemplates: [{ metadata: { name: 'data', labels: { kind: 'data' } }, spec: claim('1Gi') }],
    });
    const claims = await fixture.until('persistentvolumeclaims', named('data-st-0', 'data-st-1'));
    const sizes = claims.map(({ spec }) => spec?.resources);
    expect(sizes).toEqual([{ requests: { storage: '5Gi' } }, { requests: { storage: '1Gi' } }]);
    expect(claims[1]?.metadata?.labels).toEqual({ ...labels, kind: 'data' });
    const pods = await fixture.until('pods', named('st-0', 'st-1'));
    const mounted = ['data-st-0', 'data-st-1'].map((claimName) => ({
      name: 'data',
      persistentVolumeClaim: { claimName },
    }));
    expect(pods.map(({ spec }) => spec?.volumes)).toEqual(mounted.map((volume) => expect.arrayContaining([volume])));
  });

  it('a pod of a StatefulSet has its ordinal in its name, host name and labels, is owned by it, and ready before the next', async () => {
    const made = await fixture.make('statefulsets', statefulSet());
    const [pod] = await fixture.until('pods', named('st-0'));
    const { updateRevision } = await whenStatus((status) => status.replicas === 1);
    expect(updateRevision).toMatch(/^st-[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
    expect(pod?.metadata?.labels).toEqual({
      ...labels,
      'controller-revision-hash': updateRevision,
      'statefulset.kubernetes.io/pod-name': 'st-0',
      'apps.kubernetes.io/pod-index': '0',
    });
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'st', uid: made.metadata?.uid };
    expect(pod?.metadata?.ownerReferences).toEqual([{ ...owner, controller: true, blockOwnerDeletion: true }]);
    expect(pod?.metadata?.generateName).toBe('st-');
    expect(pod?.spec).toMatchObject({ hostname: 'st-0', subdomain: 'nodes' });
    await run('st-0', false);
    const waiting = await whenStatus(({ observedGeneration, replicas }) => observedGeneration === 1 && replicas === 1);
    expect(waiting).toMatchObject({ currentReplicas: 1, updatedReplicas: 1, availableReplicas: 0, collisionCount: 0 });
    expect(waiting).not.toHaveProperty('readyReplicas');
    expect(names(await fixture.until('pods', () => true))).toEqual(['st-0']);
    await run('st-0');
    await fixture.until('pods', named('st-0', 'st-1'));
  });

  it('the status of a StatefulSet counts its pods and names its revision, and an ended or deleted pod is replaced', async () => {
    const status = await makeReady();
    expect(status).toEqual({
      observedGeneration: 1,
      replicas: 2,
      readyReplicas: 2,
      currentReplicas: 2,
      updatedReplicas: 2,
      availableReplicas: 2,
      collisionCount: 0,
      currentRevision: status.updateRevision,
      updateRevision: expect.stringMatching(/^st-/),
    });
    await run('st-1', false);
    expect(await whenStatus(({ readyReplicas }) => readyReplicas === 1)).toMatchObject({
      replicas: 2,
      availableReplicas: 1,
    });
    const before = uidsOf(await fixture.until('pods', named('st-0', 'st-1')));
    await fixture.remove('pods', 'st-1');
    const after = await fixture.until('pods', (pods) => isNew(pods, 'st-1', before));
    expect(isNew(after, 'st-0', before)).toBe(false);
    await harness.wire.mergePatch(`${fixture.path('pods')}/st-0/status`, { status: { phase: 'Failed' } });
    await fixture.until('pods', (pods) => isNew(pods, 'st-0', before));
  });

  it('a StatefulSet with podManagementPolicy Parallel creates all pods at once', async () => {
    await fixture.make('statefulsets', statefulSet({ replicas: 3, podManagementPolicy: 'Parallel' }));
    await fixture.until('pods', named('st-0', 'st-1', 'st-2'));
  });

  it('a StatefulSet deletes pods from the highest ordinal and adds them after the last', async () => {
    await makeReady();
    await fixture.change('statefulsets', 'st', { spec: { replicas: 3 } });
    await fixture.until('pods', named('st-0', 'st-1', 'st-2'));
    await run('st-2');
    await whenStatus(({ readyReplicas }) => readyReplicas === 3);
    await fixture.change('statefulsets', 'st', { spec: { replicas: 1 } });
    const seen: string[] = [];
    await fixture.until('pods', (pods) => {
      seen.push(names(pods).join());
      return pods.length === 1;
    });
    expect([...new Set(seen)]).toEqual(['st-0,st-1,st-2', 'st-0,st-1', 'st-0'].slice(-new Set(seen).size));
    expect(await whenStatus(({ replicas }) => replicas === 1)).toMatchObject({
      observedGeneration: 3,
      readyReplicas: 1,
    });
  });

  it('a changed template of a StatefulSet replaces one pod after the other, from the highest ordinal', async () => {
    const { updateRevision: old } = await makeReady();
    const before = uidsOf(await fixture.until('pods', named('st-0', 'st-1')));
    await fixture.change('statefulsets', 'st', withImage('i:2'));
    const first = await fixture.until('pods', (pods) => isNew(pods, 'st-1', before));
    expect(isNew(first, 'st-0', before)).toBe(false);
    const half = await whenStatus((status) => status.updatedReplicas === 1 && status.currentReplicas === 1);
    expect(half).toMatchObject({ observedGeneration: 2, currentRevision: old, replicas: 2 });
    expect(half.updateRevision).not.toBe(old);
    expect(isNew(await fixture.until('pods', () => true), 'st-0', before)).toBe(false);
    await run('st-1');
    await fixture.until('pods', (pods) => isNew(pods, 'st-0', before));
    await run('st-0');
    const done = await whenStatus((status) => status.currentRevision === half.updateRevision);
    expect(done).toMatchObject({ readyReplicas: 2, updatedReplicas: 2, currentReplicas: 2 });
  });

  it('pods of a StatefulSet below the partition keep their template', async () => {
    await makeReady({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } });
    const before = uidsOf(await fixture.until('pods', named('st-0', 'st-1')));
    await fixture.change('statefulsets', 'st', withImage('i:2'));
    await fixture.until('pods', (pods) => isNew(pods, 'st-1', before));
    await run('st-1');
    await whenStatus((status) => status.updatedReplicas === 1 && status.readyReplicas === 2);
    expect(isNew(await fixture.until('pods', () => true), 'st-0', before)).toBe(false);
  });

  it('a StatefulSet with updateStrategy OnDelete replaces a pod only when it is deleted', async () => {
    await makeReady({ updateStrategy: { type: 'OnDelete' } });
    const before = uidsOf(await fixture.until('pods', named('st-0', 'st-1')));
    await fixture.change('statefulsets', 'st', withImage('i:2'));
    await whenStatus(({ observedGeneration }) => observedGeneration === 2);
    await fixture.remove('pods', 'st-1');
    const pods = await fixture.until('pods', (all) => isNew(all, 'st-1', before));
    const images = pods.map(({ spec }) => /i:\d/.exec(JSON.stringify(spec?.containers))?.[0]);
    expect(images).toEqual(['i:1', 'i:2']);
  });
});
