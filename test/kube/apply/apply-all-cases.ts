// Children, as cases that any API server must pass: what is in the cluster afterwards, and whether anything was written at all.
import { describe, expect, it } from 'vitest';
import { NotOwnedError } from '../../../src/core/errors.ts';
import type { DesiredChild } from '../../../src/kube/apply/child-object.ts';
import { applyChildren, type ChildrenRequest, type ChildrenResult } from '../../../src/kube/children.ts';
import type { Connection } from '../../../src/kube/connection.ts';
import type { KubeObject, ResourceName } from '../../../src/kube/client/object.ts';
import { collectionPath } from '../../../src/kube/client/path.ts';
import { configMaps, deployments, type Place, useNamespace } from '../namespace.ts';

const services: ResourceName = { group: '', version: 'v1', plural: 'services', namespaced: true };

/** Declares the cases for a server. Each gets a namespace of its own. */
export function childrenCases(connect: () => Connection): void {
  const place: Place = useNamespace(connect);
  const { put, read, patch, remove } = place;
  const writes = () => place.requests.filter((request) => !request.startsWith('GET'));
  const child = (name: string, values: Record<string, string>): DesiredChild => ({ metadata: { name }, data: values });
  const children = (
    desired: ChildrenRequest['desired'],
    change: Partial<ChildrenRequest> = {},
  ): Promise<ChildrenResult> =>
    applyChildren(place.client, {
      ...{
        owner: place.owner,
        controllerName: 'cases',
        resource: configMaps,
        apiVersion: 'v1',
        kind: 'ConfigMap',
        desired,
      },
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
        uid: place.owner.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      };
      expect((await read('a'))?.metadata).toMatchObject({
        labels: { 'outrigger.dev/controller': 'cases', 'outrigger.dev/owner-uid': place.owner.metadata.uid },
        annotations: { 'outrigger.dev/owner': `${place.namespace}/owner` },
        ownerReferences: [reference],
      });
      place.requests.length = 0;
      const second = await children([child('a', { x: '1' }), child('b', {})]);
      expect(second).toMatchObject({ writes: 0, noops: 0 });
      expect(second.objects.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
      expect(place.requests).toEqual([`GET ${collectionPath(configMaps, place.namespace)}`]);
    });

    it('that drifted are put right, fields no longer wanted go, and fields of others stay', async () => {
      await children([child('a', { x: '1', y: '1' })]);
      await patch(configMaps, 'a', { data: { x: 'drifted', theirs: '1' } });
      expect(await children([child('a', { x: '1' })])).toMatchObject({ writes: 1 });
      expect(await read('a')).toMatchObject({ data: { x: '1', theirs: '1' } });
      expect((await read('a'))?.data).not.toHaveProperty('y');
    });

    it('are told of when they are made, changed and deleted, with how they were, and not when nothing is written', async () => {
      const told: unknown[] = [];
      const onChange: ChildrenRequest['onChange'] = ({ type, child: { metadata, data }, ...was }) =>
        void told.push([type, metadata.name, data, 'before' in was ? was.before.data : undefined]);
      await children([child('a', { x: '1' }), child('b', { y: '1' })], { onChange });
      expect(told.splice(0)).toEqual([
        ['created', 'a', { x: '1' }, undefined],
        ['created', 'b', { y: '1' }, undefined],
      ]);
      await children([child('a', { x: '1' }), child('b', { y: '1' })], { onChange });
      expect(told).toEqual([]);
      await children([child('a', { x: '2' })], { onChange });
      expect(told).toEqual([
        ['changed', 'a', { x: '2' }, { x: '1' }],
        ['deleted', 'b', { y: '1' }, undefined],
      ]);
    });

    it('that are no longer wanted are deleted, unless they are to be kept', async () => {
      await children([child('a', {}), child('b', {})]);
      expect(await children([child('a', {})], { prune: false })).toMatchObject({ writes: 0 });
      expect(await children([child('a', {})], { deleteAllowed: false })).toMatchObject({ writes: 0 });
      expect(await read('b')).toBeDefined();
      expect(await children([child('a', {})])).toMatchObject({ writes: 1 });
      expect(await read('b')).toBeUndefined();
    });

    it('may be planned over those that there are, which a copy of their labels is not', async () => {
      await children([child('a', { x: '1' }), child('b', { x: '2' })]);
      const labels = (await read('a'))?.metadata.labels ?? {};
      await put('stray', {});
      await patch(configMaps, 'stray', { metadata: { labels } });
      const seen: string[] = [];
      const keepB = (existing: readonly KubeObject[]) => {
        seen.push(...existing.map(({ metadata }) => metadata.name));
        return [child('b', { x: '2' }), child('c', {})];
      };
      expect(await children(keepB)).toMatchObject({ writes: 2 });
      expect(seen.sort()).toEqual(['a', 'b']);
      expect([await read('a'), (await read('b'))?.data]).toEqual([undefined, { x: '2' }]);
    });

    it('have lists that are ours alone: what others put there goes, and what the server filled in stays', async () => {
      const service = (port: number) => ({ metadata: { name: 's' }, spec: { ports: [{ name: 'main', port }] } });
      const apply = (port: number) =>
        children([service(port)], { resource: services, apiVersion: 'v1', kind: 'Service', whole: ['spec.ports'] });
      const [made] = (await apply(80)).objects;
      expect(await apply(80)).toMatchObject({ writes: 0, noops: 0 });
      const strays = [
        // Renumbered, under our name: an apply alone would be refused for the name that is there twice.
        [{ name: 'main', port: 81 }],
        [
          { name: 'more', port: 82 },
          { name: 'main', port: 80 },
        ],
      ];
      for (const ports of strays) {
        await patch(services, 's', { spec: { ports } });
        const after = await apply(80);
        expect(after.objects).toMatchObject([{ spec: made?.spec }]);
        expect(await apply(80)).toMatchObject({ writes: 0, noops: 0 });
      }
      expect((await apply(90)).objects).toMatchObject([{ spec: { ports: [{ name: 'main', port: 90 }] } }]);
      expect(await apply(90)).toMatchObject({ writes: 0, noops: 0 });
    });

    it('are put right although what others put beside ours stands in the way, which alone makes it go', async () => {
      const ports = [{ name: 'main', port: 80 }];
      const apply = () =>
        children([{ metadata: { name: 's' }, spec: { ports } }], {
          ...{ resource: services, apiVersion: 'v1', kind: 'Service' },
        });
      const [made] = (await apply()).objects;
      await patch(services, 's', { spec: { ports: [...ports, { name: 'guest', port: 82 }] } });
      expect(await apply()).toMatchObject({ writes: 0 });
      // Renumbered, under our name: an apply alone would be refused for the name that is there twice.
      await patch(services, 's', { spec: { ports: [{ name: 'main', port: 81 }] } });
      expect(await apply()).toMatchObject({ writes: 1, objects: [{ spec: made?.spec }] });
      expect(await apply()).toMatchObject({ writes: 0, noops: 0 });
    });

    it('never touch what is not ours, an orphan included, and say so after the others are done', async () => {
      const orphan = await put('orphan', { theirs: '1' });
      const other = await put('other', {});
      await applyChildren(place.client, {
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
      expect(error).toMatchObject({
        names: [`ConfigMap ${place.namespace}/orphan`, `ConfigMap ${place.namespace}/cousin`],
      });
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
      place.requests.length = 0;
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
      expect(writes()).toEqual([]);
    });
  });
}
