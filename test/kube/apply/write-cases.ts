// Finalizers, statuses, Events and the watch that sees them, as cases that any API server must pass. Excluded: children
// (children-cases.ts).
import { describe, expect, it } from 'vitest';
import { applyObject, applyStatus } from '../../../src/kube/apply/apply.ts';
import type { Connection } from '../../../src/kube/connection.ts';
import { isConflict, isInvalidAt } from '../../../src/kube/client/errors.ts';
import { recordEvent } from '../../../src/kube/apply/events.ts';
import { ensureFinalizer, removeFinalizer } from '../../../src/kube/apply/finalizers.ts';
import type { KubeObject, ResourceName } from '../../../src/kube/client/object.ts';
import { getObject, listPages } from '../../../src/kube/client/read.ts';
import { waitReally } from '../../../src/core/time.ts';
import { type WatchEvent, watchHeads } from '../../../src/kube/watch.ts';
import { configMaps, deployments, useNamespace } from '../namespace.ts';

const eventsOf: ResourceName = { group: '', version: 'v1', plural: 'events', namespaced: true };
const finalizer = 'outrigger.dev/cases';

/** Declares the cases for a server. Each gets a namespace of its own. */
export function writeCases(connect: () => Connection): void {
  const place = useNamespace(connect);
  const { put, read, patch, remove } = place;

  describe('a finalizer', () => {
    it('is put on and taken off, and those of others survive', async () => {
      await patch(configMaps, 'owner', { metadata: { finalizers: ['example.com/theirs'] } });
      const before = await fresh();
      const on = await ensureFinalizer(place.client, configMaps, before, finalizer);
      expect(on.metadata.finalizers).toEqual(['example.com/theirs', finalizer]);
      await expect(
        removeFinalizer(
          place.client,
          configMaps,
          { ...before, metadata: { ...before.metadata, finalizers: [finalizer] } },
          finalizer,
        ),
      ).rejects.toSatisfy(isConflict);
      const off = await removeFinalizer(place.client, configMaps, on, finalizer);
      expect(off?.metadata.finalizers).toEqual(['example.com/theirs']);
      await patch(configMaps, 'owner', { metadata: { finalizers: null } });
    });

    it('taken off last lets the object go', async () => {
      await ensureFinalizer(place.client, configMaps, place.owner, finalizer);
      await remove('owner');
      expect(await removeFinalizer(place.client, configMaps, await fresh(), finalizer)).toBeUndefined();
      expect(await read('owner')).toBeUndefined();
    });

    it('is a conflict on an object that was made anew under the same name', async () => {
      await remove('owner');
      await put('owner', {});
      await expect(ensureFinalizer(place.client, configMaps, place.owner, finalizer)).rejects.toSatisfy(isConflict);
      expect((await read('owner'))?.metadata.finalizers).toBeUndefined();
    });
  });

  describe('a status', () => {
    const workload = async () =>
      applyObject(
        place.client,
        deployments,
        {
          ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w', namespace: place.namespace } },
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

    it('is refused at a version that is stale, and for another object of the name', async () => {
      const { metadata } = await workload();
      await patch(deployments, 'w', { metadata: { labels: { changed: '1' } } });
      const apply = (resourceVersion: string, uid: string) =>
        applyStatus(
          place.client,
          deployments,
          { ...target, key: metadata, resourceVersion, uid },
          { conditions },
          { fieldManager: 'ours' },
        );
      await expect(apply(metadata.resourceVersion ?? '', metadata.uid ?? '')).rejects.toSatisfy(isConflict);
      const now = await getObject(place.client, deployments, metadata);
      const other = apply(now?.metadata.resourceVersion ?? '', '00000000-0000-4000-8000-000000000000');
      await expect(other).rejects.toSatisfy((error) => isConflict(error) || isInvalidAt(error, 'metadata.uid'));
    });
  });

  describe('an Event', () => {
    it('said three times is one, counted', async () => {
      const say = () =>
        recordEvent(place.client, {
          object: place.owner,
          type: 'Normal',
          reason: 'Made',
          message: 'it',
          reportingController: 'outrigger.dev/cases',
          now: () => new Date(),
        });
      expect([await say(), await say(), await say()].map((outcome) => outcome.recorded && outcome.count)).toEqual([
        1, 2, 3,
      ]);
      const found: unknown[] = [];
      for await (const page of listPages(place.client, eventsOf, {
        namespace: place.namespace,
        fieldSelector: 'reason=Made',
      }))
        found.push(...page.items);
      expect(found).toMatchObject([{ count: 3, message: 'it', involvedObject: { uid: place.owner.metadata.uid } }]);
    });
  });

  describe('a watch', () => {
    const follow = (start: string | undefined) =>
      watchHeads(
        place.client,
        { resource: configMaps, namespace: place.namespace, labelSelector: 'seen=yes' },
        { start, signal: AbortSignal.timeout(20_000), wait: waitReally, random: () => 0 },
      );

    it('sees what is there, what changes and what goes, and from a version what was missed', async () => {
      await label('owner', 'yes');
      const seen: string[] = [];
      let listedAt = '';
      for await (const event of follow(undefined)) {
        seen.push(line(event));
        if (event.type === 'listed') {
          listedAt = event.resourceVersion;
          await label('owner', 'no');
        }
        if (event.type === 'deleted') break;
      }
      expect(seen).toEqual(['listing initial', 'page owner', 'listed initial', 'deleted owner']);
      await put('late', {});
      await label('late', 'yes');
      const again: string[] = [];
      for await (const event of follow(listedAt)) {
        again.push(line(event));
        if (event.type === 'changed') break;
      }
      expect(again).toEqual(['listing exact', 'page owner', 'listed exact', 'deleted owner', 'changed late']);
    });

    const label = (name: string, seen: string) => patch(configMaps, name, { metadata: { labels: { seen } } });
    const line = (event: WatchEvent): string => {
      if (event.type === 'page') return `page ${event.items.map(({ name }) => name).join()}`;
      if (event.type === 'listing' || event.type === 'listed') return `${event.type} ${event.mode}`;
      return 'head' in event ? `${event.type} ${event.head.name}` : event.type;
    };
  });

  async function fresh(): Promise<KubeObject> {
    const object = await read('owner');
    if (object === undefined) throw new Error('the owner is gone');
    return object;
  }
}
