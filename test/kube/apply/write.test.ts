// Finalizers, statuses, Events and watches, as test cases for any API server. Excluded: children (apply-all.test.ts).
import { describe, expect, inject, it } from 'vitest';
import { sleep } from '../../../src/core/time.ts';
import { applyObject, applyStatus } from '../../../src/kube/apply/apply.ts';
import { recordEvent } from '../../../src/kube/apply/events.ts';
import { holdObject, removeFinalizer } from '../../../src/kube/apply/finalizers.ts';
import { isConflict, isInvalidAt } from '../../../src/kube/client/errors.ts';
import type { KubeObject, ResourceName } from '../../../src/kube/client/object.ts';
import { getObject, listPages } from '../../../src/kube/client/read.ts';
import { type ListWatchItem, listAndWatch } from '../../../src/kube/watch/watch.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { configMaps, deployments, useNamespace } from '../namespace.ts';

const eventsOf: ResourceName = { group: '', version: 'v1', plural: 'events', namespaced: true };
const finalizer = 'outrigger.dev/cases';

const { connect } = await useApiServer();
const fixture = useNamespace(connect);
const { put, read, patch, remove } = fixture;

describe('finalizers', () => {
  it('holdObject and removeFinalizer keep the finalizers of others', async () => {
    await patch(configMaps, 'owner', { metadata: { finalizers: ['example.com/theirs'] } });
    const before = await fresh();
    const on = await holdObject(fixture.client, configMaps, before, { finalizer });
    expect(on.metadata.finalizers).toEqual(['example.com/theirs', finalizer]);
    await expect(
      removeFinalizer(
        fixture.client,
        configMaps,
        { ...before, metadata: { ...before.metadata, finalizers: [finalizer] } },
        finalizer,
      ),
    ).rejects.toSatisfy(isConflict);
    const off = await removeFinalizer(fixture.client, configMaps, on, finalizer);
    expect(off?.metadata.finalizers).toEqual(['example.com/theirs']);
    await patch(configMaps, 'owner', { metadata: { finalizers: null } });
  });

  it('removeFinalizer of the last finalizer deletes an object that is being deleted', async () => {
    await holdObject(fixture.client, configMaps, fixture.owner, { finalizer });
    await remove('owner');
    expect(await removeFinalizer(fixture.client, configMaps, await fresh(), finalizer)).toBeUndefined();
    expect(await read('owner')).toBeUndefined();
  });

  it('holdObject throws a conflict for an object that was recreated under the same name', async () => {
    await remove('owner');
    await put('owner', {});
    await expect(holdObject(fixture.client, configMaps, fixture.owner, { finalizer })).rejects.toSatisfy(isConflict);
    expect((await read('owner'))?.metadata.finalizers).toBeUndefined();
  });
});

describe('applyStatus', () => {
  const workload = async () =>
    applyObject(
      fixture.client,
      deployments,
      {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w', namespace: fixture.namespace } },
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: 'a' } },
          template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      },
      { fieldManager: 'test' },
    );
  const conditions = [
    {
      type: 'Ours',
      status: 'True',
      reason: 'R',
      message: '',
      lastUpdateTime: '2026-01-01T00:00:00Z',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ];
  const target = { apiVersion: 'apps/v1', kind: 'Deployment' };

  // The in-memory server accepts this write.
  it.runIf(inject('apiServer') === 'real')(
    'applyStatus is rejected for a stale resourceVersion, and for another object of the same name',
    async () => {
      const { metadata } = await workload();
      await patch(deployments, 'w', { metadata: { labels: { changed: '1' } } });
      const apply = (resourceVersion: string, uid: string) =>
        applyStatus(
          fixture.client,
          deployments,
          { ...target, key: metadata, resourceVersion, uid },
          { conditions },
          { fieldManager: 'ours' },
        );
      await expect(apply(metadata.resourceVersion ?? '', metadata.uid ?? '')).rejects.toSatisfy(isConflict);
      const now = await getObject(fixture.client, deployments, metadata);
      const other = apply(now?.metadata.resourceVersion ?? '', '00000000-0000-4000-8000-000000000000');
      await expect(other).rejects.toSatisfy((error) => isConflict(error) || isInvalidAt(error, 'metadata.uid'));
    },
  );
});

describe('recordEvent', () => {
  it('recordEvent called three times creates one Event with the count 3', async () => {
    const record = () =>
      recordEvent(fixture.client, {
        object: fixture.owner,
        type: 'Normal',
        reason: 'Made',
        message: 'it',
        reportingController: 'outrigger.dev/cases',
        now: () => new Date(),
      });
    expect(
      [await record(), await record(), await record()].map((outcome) => outcome.recorded && outcome.count),
    ).toEqual([1, 2, 3]);
    const found: unknown[] = [];
    for await (const page of listPages(fixture.client, eventsOf, {
      namespace: fixture.namespace,
      fieldSelector: 'reason=Made',
    }))
      found.push(...page.items);
    expect(found).toMatchObject([{ count: 3, message: 'it', involvedObject: { uid: fixture.owner.metadata.uid } }]);
  });
});

describe('listAndWatch', () => {
  const watchFrom = (start: string | undefined) =>
    listAndWatch(
      fixture.client,
      { resource: configMaps, namespace: fixture.namespace, labelSelector: 'seen=yes' },
      { start, signal: AbortSignal.timeout(20_000), wait: sleep, random: () => 0 },
    );

  it('listAndWatch yields existing, changed and deleted objects, and from a version the missed changes', async () => {
    await label('owner', 'yes');
    const seen: string[] = [];
    let listedAt = '';
    for await (const event of watchFrom(undefined)) {
      seen.push(format(event));
      if (event.type === 'listed') {
        listedAt = event.resourceVersion;
        await label('owner', 'no');
      }
      if (event.type === 'deleted') break;
    }
    expect(seen).toEqual(['listing initial', 'page owner', 'listed initial', 'deleted owner']);
    await put('late', {});
    await label('late', 'yes');
    const resumed: string[] = [];
    for await (const event of watchFrom(listedAt)) {
      resumed.push(format(event));
      if (event.type === 'changed') break;
    }
    expect(resumed).toEqual(['listing exact', 'page owner', 'listed exact', 'deleted owner', 'changed late']);
  });

  const label = (name: string, seen: string) => patch(configMaps, name, { metadata: { labels: { seen } } });
  const format = (event: ListWatchItem): string => {
    if (event.type === 'page') return `page ${event.items.map(({ name }) => name).join()}`;
    if (event.type === 'listing' || event.type === 'listed') return `${event.type} ${event.mode}`;
    return 'metadata' in event ? `${event.type} ${event.metadata.name}` : event.type;
  };
});

async function fresh(): Promise<KubeObject> {
  const object = await read('owner');
  if (object === undefined) throw new Error('the owner is gone');
  return object;
}
