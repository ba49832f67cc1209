// Writing to an API server through src/kube, as cases that any server must pass: children, finalizers, statuses, Events and
// the watch that sees them. Asserted on what is in the cluster afterwards, and on whether anything was written at all.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NotOwnedError } from '../../src/core/errors.ts';
import { applyObject, applyStatus } from '../../src/kube/apply.ts';
import {
  applyChildren,
  type ChildrenRequest,
  type ChildrenResult,
  type DesiredChild,
} from '../../src/kube/children.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { isConflict, isInvalidAt } from '../../src/kube/errors.ts';
import { recordEvent } from '../../src/kube/events.ts';
import { ensureFinalizer, removeFinalizer } from '../../src/kube/finalizers.ts';
import type { KubeObject, ResourceName } from '../../src/kube/object.ts';
import { collectionPath, objectPath } from '../../src/kube/path.ts';
import { getObject, listPages } from '../../src/kube/read.ts';
import { waitReally } from '../../src/kube/wait.ts';
import { type WatchEvent, watchHeads } from '../../src/kube/watch.ts';

const configMaps: ResourceName = { group: '', version: 'v1', plural: 'configmaps', namespaced: true };
const deployments: ResourceName = { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true };
const eventsOf: ResourceName = { group: '', version: 'v1', plural: 'events', namespaced: true };
const namespaces: ResourceName = { group: '', version: 'v1', plural: 'namespaces', namespaced: false };
const finalizer = 'outrigger.dev/cases';

/** Declares the cases for a server. Each gets a namespace of its own. */
export function writeCases(connect: () => Connection): void {
  let client: KubeClient;
  let requests: string[] = [];
  let namespace: string;
  let owner: KubeObject;
  let count = 0;

  beforeAll(() => {
    client = createClient(connect(), { onRequest: (method, path) => requests.push(`${method} ${path}`) });
  });
  afterAll(() => client.close());
  beforeEach(async () => {
    count += 1;
    namespace = `writes-${process.pid}-${count}`;
    await applyObject(
      client,
      namespaces,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { fieldManager: 'test' },
    );
    owner = await put('owner', { a: '1' });
    requests = [];
  });

  const put = (name: string, values: Record<string, string>) =>
    applyObject(
      client,
      configMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: values },
      { fieldManager: 'test' },
    );
  const read = (name: string) => getObject(client, configMaps, { namespace, name });
  const patch = (resource: ResourceName, name: string, body: object) =>
    client.request({
      method: 'PATCH',
      path: objectPath(resource, { namespace, name }),
      contentType: 'application/merge-patch+json',
      body,
    });
  const remove = (name: string) =>
    client.request({ method: 'DELETE', path: objectPath(configMaps, { namespace, name }) });
  const writes = () => requests.filter((request) => !request.startsWith('GET'));
  const child = (name: string, values: Record<string, string>): DesiredChild => ({ metadata: { name }, data: values });
  const children = (desired: readonly DesiredChild[], change: Partial<ChildrenRequest> = {}): Promise<ChildrenResult> =>
    applyChildren(client, {
      ...{ owner, controllerName: 'cases', resource: configMaps, apiVersion: 'v1', kind: 'ConfigMap', desired },
      ...{ prune: true, deleteAllowed: true },
      ...change,
    });

  describe('children', () => {
    it('are made with their owner, and a second time nothing is written', async () => {
      const first = await children([child('a', { x: '1' }), child('b', {})]);
      expect(first).toMatchObject({ writes: 2, noops: 0 });
      const reference = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'owner',
        uid: owner.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      };
      expect((await read('a'))?.metadata).toMatchObject({
        labels: { 'outrigger.dev/controller': 'cases', 'outrigger.dev/owner-uid': owner.metadata.uid },
        annotations: { 'outrigger.dev/owner': `${namespace}/owner` },
        ownerReferences: [reference],
      });
      requests = [];
      const second = await children([child('a', { x: '1' }), child('b', {})]);
      expect(second).toMatchObject({ writes: 0, noops: 0 });
      expect(second.objects.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
      expect(requests).toEqual([`GET ${collectionPath(configMaps, namespace)}`]);
    });

    it('that drifted are put right, fields no longer wanted go, and fields of others stay', async () => {
      await children([child('a', { x: '1', y: '1' })]);
      await patch(configMaps, 'a', { data: { x: 'drifted', theirs: '1' } });
      expect(await children([child('a', { x: '1' })])).toMatchObject({ writes: 1 });
      expect(await read('a')).toMatchObject({ data: { x: '1', theirs: '1' } });
      expect((await read('a'))?.data).not.toHaveProperty('y');
    });

    it('that are no longer wanted are deleted, unless they are to be kept', async () => {
      await children([child('a', {}), child('b', {})]);
      expect(await children([child('a', {})], { prune: false })).toMatchObject({ writes: 0 });
      expect(await children([child('a', {})], { deleteAllowed: false })).toMatchObject({ writes: 0 });
      expect(await read('b')).toBeDefined();
      expect(await children([child('a', {})])).toMatchObject({ writes: 1 });
      expect(await read('b')).toBeUndefined();
    });

    it('never touch what is not ours, an orphan included, and say so after the others are done', async () => {
      const orphan = await put('orphan', { theirs: '1' });
      const other = await put('other', {});
      await applyChildren(client, {
        owner: other,
        controllerName: 'cases',
        resource: configMaps,
        apiVersion: 'v1',
        kind: 'ConfigMap',
        desired: [child('cousin', { theirs: '1' })],
        prune: true,
        deleteAllowed: true,
      });
      const error: unknown = await children([
        child('orphan', { x: '1' }),
        child('cousin', { x: '1' }),
        child('mine', { x: '1' }),
      ]).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(NotOwnedError);
      expect(error).toMatchObject({ names: [`ConfigMap ${namespace}/orphan`, `ConfigMap ${namespace}/cousin`] });
      expect((await read('orphan'))?.metadata.resourceVersion).toBe(orphan.metadata.resourceVersion);
      expect((await read('cousin'))?.data).toEqual({ theirs: '1' });
      expect((await read('mine'))?.data).toEqual({ x: '1' });
    });

    it('handed over to another owner are neither changed nor deleted', async () => {
      await children([child('a', { x: '1' })]);
      await patch(configMaps, 'a', {
        metadata: {
          ownerReferences: [
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              name: 'heir',
              uid: (await put('heir', {})).metadata.uid,
              controller: true,
            },
          ],
        },
      });
      expect(await children([])).toMatchObject({ writes: 0 });
      await expect(children([child('a', { x: '2' })])).rejects.toThrow(NotOwnedError);
      expect(await read('a')).toMatchObject({ data: { x: '1' } });
    });

    it('that lost our labels are found by name and get them back', async () => {
      await children([child('a', { x: '1' })]);
      await patch(configMaps, 'a', { metadata: { labels: { 'outrigger.dev/controller': null } } });
      expect(await children([child('a', { x: '1' })])).toMatchObject({ writes: 1 });
      expect((await read('a'))?.metadata.labels).toMatchObject({ 'outrigger.dev/controller': 'cases' });
    });

    it('that are being deleted are left to it', async () => {
      await children([child('a', { x: '1' })]);
      await patch(configMaps, 'a', { metadata: { finalizers: ['example.com/keep'] } });
      await remove('a');
      requests = [];
      expect(await children([child('a', { x: '2' })])).toMatchObject({ writes: 0 });
      expect(await children([])).toMatchObject({ writes: 0 });
      expect(writes()).toEqual([]);
      await patch(configMaps, 'a', { metadata: { finalizers: null } });
    });

    it('of a workload with quantities, zero values and defaults converge, and their scale may be another’s', async () => {
      const template = {
        metadata: { labels: { app: 'a' } },
        spec: {
          hostNetwork: false,
          containers: [
            {
              name: 'c',
              image: 'i',
              env: [{ name: 'A', value: '' }],
              ports: [{ containerPort: 80 }],
              resources: { limits: { cpu: '0.5', memory: '1024Mi' } },
            },
          ],
        },
      };
      const workload = {
        metadata: { name: 'w' },
        spec: { paused: false, selector: { matchLabels: { app: 'a' } }, template },
      };
      const apply = () => children([workload], { resource: deployments, apiVersion: 'apps/v1', kind: 'Deployment' });
      expect(await apply()).toMatchObject({ writes: 1 });
      await patch(deployments, 'w', { spec: { replicas: 3 } });
      expect(await apply()).toMatchObject({ writes: 0, noops: 0, objects: [{ spec: { replicas: 3 } }] });
    });

    it.each<[string, readonly DesiredChild[]]>([
      ['two of one name', [{ metadata: { name: 'a' } }, { metadata: { name: 'a' } }]],
      ['one in another namespace', [{ metadata: { name: 'a', namespace: 'default' } }]],
    ])('cannot be %s, and then nothing is written', async (_, desired) => {
      await expect(children(desired)).rejects.toThrow(TypeError);
      expect(requests).toEqual([]);
    });
  });

  describe('a finalizer', () => {
    it('is put on and taken off, and those of others survive', async () => {
      await patch(configMaps, 'owner', { metadata: { finalizers: ['example.com/theirs'] } });
      const before = await fresh();
      const on = await ensureFinalizer(client, configMaps, before, finalizer);
      expect(on.metadata.finalizers).toEqual(['example.com/theirs', finalizer]);
      await expect(
        removeFinalizer(
          client,
          configMaps,
          { ...before, metadata: { ...before.metadata, finalizers: [finalizer] } },
          finalizer,
        ),
      ).rejects.toSatisfy(isConflict);
      const off = await removeFinalizer(client, configMaps, on, finalizer);
      expect(off?.metadata.finalizers).toEqual(['example.com/theirs']);
      await patch(configMaps, 'owner', { metadata: { finalizers: null } });
    });

    it('taken off last lets the object go', async () => {
      await ensureFinalizer(client, configMaps, owner, finalizer);
      await remove('owner');
      expect(await removeFinalizer(client, configMaps, await fresh(), finalizer)).toBeUndefined();
      expect(await read('owner')).toBeUndefined();
    });

    it('is a conflict on an object that was made anew under the same name', async () => {
      await remove('owner');
      await put('owner', {});
      await expect(ensureFinalizer(client, configMaps, owner, finalizer)).rejects.toSatisfy(isConflict);
      expect((await read('owner'))?.metadata.finalizers).toBeUndefined();
    });
  });

  describe('a status', () => {
    const workload = async () =>
      applyObject(
        client,
        deployments,
        {
          ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w', namespace } },
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
          client,
          deployments,
          { ...target, key: metadata, resourceVersion, uid },
          { conditions },
          { fieldManager: 'ours' },
        );
      await expect(apply(metadata.resourceVersion ?? '', metadata.uid ?? '')).rejects.toSatisfy(isConflict);
      const now = await getObject(client, deployments, metadata);
      const other = apply(now?.metadata.resourceVersion ?? '', '00000000-0000-4000-8000-000000000000');
      await expect(other).rejects.toSatisfy((error) => isConflict(error) || isInvalidAt(error, 'metadata.uid'));
    });
  });

  describe('an Event', () => {
    it('said three times is one, counted', async () => {
      const say = () =>
        recordEvent(client, {
          object: owner,
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
      for await (const page of listPages(client, eventsOf, { namespace, fieldSelector: 'reason=Made' }))
        found.push(...page.items);
      expect(found).toMatchObject([{ count: 3, message: 'it', involvedObject: { uid: owner.metadata.uid } }]);
    });
  });

  describe('a watch', () => {
    const follow = (start: string | undefined) =>
      watchHeads(
        client,
        { resource: configMaps, namespace, labelSelector: 'seen=yes' },
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
