// applyAll, as test cases for any API server: the objects in the cluster afterwards, and the number of writes.
import { describe, expect, inject, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../../src/api/custom-kind.ts';
import { NotOwnedError } from '../../../src/core/errors.ts';
import { crdOf } from '../../../src/generate/crd/crd.ts';
import { type ApplyAllRequest, type ApplyAllResult, applyAll } from '../../../src/kube/apply/apply-all.ts';
import type { DesiredChild } from '../../../src/kube/apply/child-object.ts';
import type { KubeClient, KubeRequest } from '../../../src/kube/client/client.ts';
import { ApiError } from '../../../src/kube/client/errors.ts';
import { type KubeObject, parseObject, type ResourceName } from '../../../src/kube/client/object.ts';
import { collectionPath, objectPath } from '../../../src/kube/client/path.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { applyDefinition } from '../../support/established.ts';
import { configMaps, deployments, type NamespaceFixture, useNamespace } from '../namespace.ts';

const services: ResourceName = { group: '', version: 'v1', plural: 'services', namespaced: true };

const { connect } = await useApiServer();
const fixture: NamespaceFixture = useNamespace(connect);
const { put, read, patch, remove } = fixture;
const writes = () => fixture.requests.filter((request) => !request.startsWith('GET'));
const child = (name: string, values: Record<string, string>): DesiredChild => ({ metadata: { name }, data: values });
const children = (
  desired: ApplyAllRequest['desired'],
  change: Partial<ApplyAllRequest> = {},
  client: KubeClient = fixture.client,
): Promise<ApplyAllResult> =>
  applyAll(client, {
    ...{ owner: fixture.owner, controllerName: 'cases', desired, prune: true },
    ...{ resource: configMaps, apiVersion: 'v1', kind: 'ConfigMap' },
    ...change,
  });
/** A client that first does something else before each request with this method. */
const beforeRequest = (method: string, act: (request: KubeRequest) => Promise<unknown>): KubeClient => ({
  ...fixture.client,
  request: async (request) => {
    if (request.method === method) await act(request);
    return await fixture.client.request(request);
  },
});
/** Applies the one Service `s`. */
const applyService = (ports: readonly object[], change: Partial<ApplyAllRequest> = {}) =>
  children([{ metadata: { name: 's' }, spec: { ports } }], { resource: services, kind: 'Service', ...change });

describe('applyAll', () => {
  it('applyAll creates children with their owner reference, and writes nothing the second time', async () => {
    const first = await children([child('a', { x: '1' }), child('b', {})]);
    expect(first).toMatchObject({ writes: 2, noops: 0 });
    const { uid } = fixture.owner.metadata;
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
    expect((await read('a'))?.metadata).toMatchObject({
      labels: { 'outrigger.dev/controller': 'cases', 'outrigger.dev/owner-uid': uid },
      annotations: { 'outrigger.dev/owner': `${fixture.namespace}/owner` },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    });
    fixture.requests.length = 0;
    const second = await children([child('a', { x: '1' }), child('b', {})]);
    expect(second).toMatchObject({ writes: 0, noops: 0 });
    expect(second.objects.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(fixture.requests).toEqual([`GET ${collectionPath(configMaps, fixture.namespace)}`]);
  });

  it('applyAll corrects drift, removes fields that are no longer desired, and keeps fields of others', async () => {
    await children([child('a', { x: '1', y: '1' })]);
    await patch(configMaps, 'a', { data: { x: 'drifted', theirs: '1' } });
    expect(await children([child('a', { x: '1' })])).toMatchObject({ writes: 1 });
    expect(await read('a')).toMatchObject({ data: { x: '1', theirs: '1' } });
    expect((await read('a'))?.data).not.toHaveProperty('y');
  });

  it('applyAll writes fields with names of Object.prototype once, and removes those that are no longer desired', async () => {
    const data = { constructor: '1', toString: '2', hasOwnProperty: '3' };
    expect(await children([child('a', { ...data, valueOf: '4' })])).toMatchObject({ writes: 1 });
    expect(await children([child('a', data)])).toMatchObject({ writes: 1 });
    expect((await read('a'))?.data).toEqual(data);
    expect(await children([child('a', data)])).toMatchObject({ writes: 0, noops: 0 });
    expect(await children([child('a', { toString: '2' })])).toMatchObject({ writes: 1 });
    expect((await read('a'))?.data).toEqual({ toString: '2' });
    expect(await children([child('a', { toString: '2' })])).toMatchObject({ writes: 0, noops: 0 });
  });

  it('applyAll stores null in a nullable field of a custom kind, also where its default or a zero value is, and back', async () => {
    const names = { group: 'nulls.example.com', version: 'v1' };
    const spec = z.object({ limit: z.int().nullable().default(5) });
    const kind = defineKind({ ...names, kind: 'Nullable', spec, status: z.object({}), conditions: [] });
    await applyDefinition(fixture.client, parseObject(crdOf(kind)));
    const { apiVersion } = kind;
    const limits: unknown[] = [];
    const resource = { ...names, plural: kind.plural, namespaced: true };
    // A real server responds with 429 while the cache of the kind fills.
    const path = collectionPath(resource, fixture.namespace);
    const isServed = () =>
      fixture.client.request({ method: 'GET', path }).then(
        () => true,
        () => false,
      );
    await expect.poll(isServed).toBe(true);
    const nullable = { resource, apiVersion, kind: 'Nullable' };
    for (const change of [{}, { limit: null }, { limit: null }, { limit: 0 }, { limit: null }]) {
      const desired = [{ metadata: { name: 'a' }, spec: change }];
      const { objects, writes } = await children(desired, { ...nullable, keepsNull: true });
      limits.push([objects[0]?.spec, writes]);
    }
    const [none, zero] = [{ limit: null }, { limit: 0 }];
    expect(limits).toEqual([
      [{ limit: 5 }, 1],
      [none, 1],
      [none, 0],
      [zero, 1],
      [none, 1],
    ]);
    // In the kind of another project null leaves the field to others: it may be one that an autoscaler sets.
    await fixture.client.request({
      ...{ method: 'PATCH', path: objectPath(resource, { name: 'a', namespace: fixture.namespace }) },
      ...{ contentType: 'application/merge-patch+json', body: { spec: { limit: 3 } } },
    });
    const { objects } = await children([{ metadata: { name: 'a' }, spec: { limit: null } }], nullable);
    expect(objects[0]?.spec).toEqual({ limit: 3 });
  });

  it('applyAll calls onChange for each created, updated and deleted child, and not without a write', async () => {
    const changes: unknown[] = [];
    const onChange: ApplyAllRequest['onChange'] = ({ type, child: { metadata, data }, ...was }) =>
      void changes.push([type, metadata.name, data, 'before' in was ? was.before.data : undefined]);
    await children([child('a', { x: '1' }), child('b', { y: '1' })], { onChange });
    expect(changes.splice(0)).toEqual([
      ['created', 'a', { x: '1' }, undefined],
      ['created', 'b', { y: '1' }, undefined],
    ]);
    await children([child('a', { x: '1' }), child('b', { y: '1' })], { onChange });
    expect(changes).toEqual([]);
    await children([child('a', { x: '2' })], { onChange });
    expect(changes).toEqual([
      ['updated', 'a', { x: '2' }, { x: '1' }],
      ['deleted', 'b', { y: '1' }, undefined],
    ]);
  });

  it('applyAll deletes children that are no longer desired, unless prune is false', async () => {
    await children([child('a', {}), child('b', {})]);
    expect(await children([child('a', {})], { prune: false })).toMatchObject({ writes: 0 });
    expect(await read('b')).toBeDefined();
    expect(await children([child('a', {})])).toMatchObject({ writes: 1 });
    expect(await read('b')).toBeUndefined();
  });

  it('applyAll passes existing children to a function, without objects that only have copied labels', async () => {
    await children([child('a', { x: '1' }), child('b', { x: '2' })]);
    const labels = (await read('a'))?.metadata.labels ?? {};
    await put('stray', {});
    await patch(configMaps, 'stray', { metadata: { labels } });
    const existingNames: string[] = [];
    const keepB = (existing: readonly KubeObject[]) => {
      existingNames.push(...existing.map(({ metadata }) => metadata.name));
      return [child('b', { x: '2' }), child('c', {})];
    };
    expect(await children(keepB)).toMatchObject({ writes: 2 });
    expect(existingNames.sort()).toEqual(['a', 'b']);
    expect([await read('a'), (await read('b'))?.data]).toEqual([undefined, { x: '2' }]);
  });

  it('an object that another client creates between the read and the write is neither merged, owned nor pruned', async () => {
    const theirs = { metadata: { name: 'a' }, data: { theirs: '1' } };
    const racing = beforeRequest('PATCH', () => put('a', theirs.data).catch(() => undefined));
    await expect(children([child('a', { x: '1' })], {}, racing)).rejects.toThrow(NotOwnedError);
    const left = await read('a');
    expect(left?.data).toEqual(theirs.data);
    expect(left?.metadata.ownerReferences).toBeUndefined();
    expect(await children([])).toMatchObject({ writes: 0 });
    expect(await read('a')).toBeDefined();
  });

  it('a child that another client replaces between the list and its deletion is not deleted', async () => {
    await children([child('a', { x: '1' })]);
    let replaced = false;
    const racing = beforeRequest('DELETE', async () => {
      if (replaced) return;
      replaced = true;
      await remove('a');
      await put('a', { theirs: '1' });
    });
    expect(await children([], {}, racing)).toMatchObject({ writes: 0 });
    expect((await read('a'))?.data).toEqual({ theirs: '1' });
  });

  it('a creation whose response is lost, and which is retried, ends with one child of the owner', async () => {
    let lost = 0;
    const losing = beforeRequest('PATCH', async (request) => {
      lost += 1;
      // What the transport does after a connection was lost: it sends the same request again.
      await fixture.client.request(request);
    });
    const { objects } = await children([child('a', { x: '1' })], {}, losing);
    expect(lost).toBe(1);
    expect(objects).toMatchObject([{ data: { x: '1' } }]);
    fixture.requests.length = 0;
    expect(await children([child('a', { x: '1' })])).toMatchObject({ writes: 0 });
  });

  it('applyAll with replaceLists removes items of others from a list, and keeps the server’s defaults', async () => {
    const apply = (port: number) => applyService([{ name: 'main', port }], { replaceLists: ['spec.ports'] });
    const [created] = (await apply(80)).objects;
    expect(await apply(80)).toMatchObject({ writes: 0, noops: 0 });
    const foreignPorts = [
      // Renumbered under the same name. The server would reject an apply, because of the repeated name.
      [{ name: 'main', port: 81 }],
      [
        { name: 'more', port: 82 },
        { name: 'main', port: 80 },
      ],
    ];
    for (const ports of foreignPorts) {
      await patch(services, 's', { spec: { ports } });
      const after = await apply(80);
      expect(after.objects).toMatchObject([{ spec: created?.spec }]);
      expect(await apply(80)).toMatchObject({ writes: 0, noops: 0 });
    }
    expect((await apply(90)).objects).toMatchObject([{ spec: { ports: [{ name: 'main', port: 90 }] } }]);
    expect(await apply(90)).toMatchObject({ writes: 0, noops: 0 });
  });

  // The in-memory server accepts this write.
  it.runIf(inject('apiServer') === 'real')(
    'applyAll removes an item of others from a list only if the server rejects the apply because of it',
    async () => {
      const ports = [{ name: 'main', port: 80 }];
      const apply = () => applyService(ports);
      const [created] = (await apply()).objects;
      await patch(services, 's', { spec: { ports: [...ports, { name: 'guest', port: 82 }] } });
      expect(await apply()).toMatchObject({ writes: 0 });
      // Renumbered under the same name. The server would reject an apply, because of the repeated name.
      await patch(services, 's', { spec: { ports: [{ name: 'main', port: 81 }] } });
      expect(await apply()).toMatchObject({ writes: 1, objects: [{ spec: created?.spec }] });
      expect(await apply()).toMatchObject({ writes: 0, noops: 0 });
    },
  );

  it('applyAll never changes an object of others or an orphan, and throws after the other children are applied', async () => {
    const orphan = await put('orphan', { theirs: '1' });
    const other = await put('other', {});
    await children([child('cousin', { theirs: '1' })], { owner: other });
    const desired = ['orphan', 'cousin', 'mine'].map((name) => child(name, { x: '1' }));
    const error: unknown = await children(desired).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotOwnedError);
    expect(error).toMatchObject({
      names: [`ConfigMap ${fixture.namespace}/orphan`, `ConfigMap ${fixture.namespace}/cousin`],
    });
    expect((await read('orphan'))?.metadata.resourceVersion).toBe(orphan.metadata.resourceVersion);
    expect((await read('cousin'))?.data).toEqual({ theirs: '1' });
    expect((await read('mine'))?.data).toEqual({ x: '1' });
  });

  it('applyAll applies the other children of refused ones, deletes none, and names each refused one', async () => {
    await children([child('old', {})]);
    const refused = (name: string) => ({ metadata: { name, labels: { a: 'b c' } } });
    const desired = [refused('a'), child('b', {}), refused('c')];
    await expect(children(desired)).rejects.toThrow(/configmaps\/a returned 422: .*configmaps\/c returned 422: /);
    await expect(children([child('d', {}), refused('a')])).rejects.toMatchObject({ status: 422 });
    const left = await Promise.all(['a', 'b', 'c', 'd', 'old'].map(read));
    expect(left.map((one) => one?.metadata.name)).toEqual([undefined, 'b', undefined, 'd', 'old']);
  });

  it('applyAll stops at an error that concerns the server, and at no number of refused children', async () => {
    let requests = 0;
    const failing = beforeRequest('PATCH', async () => {
      requests += 1;
      throw new ApiError('PATCH', 500, {});
    });
    await expect(children([child('a', {}), child('b', {})], {}, failing)).rejects.toMatchObject({ status: 500 });
    expect(requests).toBe(1);
    const refused = Array.from({ length: 12 }, (_, at) => ({ metadata: { name: `n${at}`, labels: { a: 'b c' } } }));
    const all = [...refused, child('good', {})];
    await expect(children(all)).rejects.toThrow(/n0 returned 422.*n9 returned 422[^;]*; and 2 more$/);
    expect(await read('good')).toBeDefined();
  });

  it.each([
    401, 429, 500,
  ])('applyAll goes on after a webhook’s %i for a child, and ends at the third', async (status) => {
    const answered: string[] = [];
    const failing = beforeRequest('PATCH', async ({ path }) => {
      const [, name = ''] = /configmaps\/(.*)/.exec(path) ?? [];
      answered.push(name);
      if (name !== 'good') throw new ApiError(path, status, { kind: 'Status', message: 'denied' });
    });
    await children([child('old', {})]);
    await expect(children([child('a', {}), child('good', {})], {}, failing)).rejects.toMatchObject({ status });
    expect([await read('good'), await read('old')]).not.toContain(undefined);
    answered.length = 0;
    const desired = ['a', 'b', 'c', 'd'].map((name) => child(name, {}));
    await expect(children(desired, {}, failing)).rejects.toThrow(/configmaps\/a .*configmaps\/c /);
    expect(answered).toEqual(['a', 'b', 'c']);
  });

  it.each([429, 503])('applyAll stops at once at a %i that names a delay: it is the API server’s', async (status) => {
    const throttling = beforeRequest('PATCH', async ({ path }) => {
      if (path.endsWith('/a')) throw new ApiError(path, status, { kind: 'Status' }, 1);
    });
    await expect(children([child('a', {}), child('b', {})], {}, throttling)).rejects.toMatchObject({ status });
    expect(await read('b')).toBeUndefined();
  });

  it('applyAll neither changes nor deletes a child that was handed over to another owner', async () => {
    await children([child('a', { x: '1' })]);
    const { uid } = (await put('heir', {})).metadata;
    const heir = { apiVersion: 'v1', kind: 'ConfigMap', name: 'heir', uid, controller: true };
    await patch(configMaps, 'a', { metadata: { ownerReferences: [heir] } });
    expect(await children([])).toMatchObject({ writes: 0 });
    await children([child('b', {})], { prune: false });
    await expect(children([child('a', { x: '2' })])).rejects.toThrow(NotOwnedError);
    expect(await read('a')).toMatchObject({ data: { x: '1' } });
    expect(await read('b')).toBeDefined();
  });

  it('applyAll finds a child without its labels by name, and restores them', async () => {
    await children([child('a', { x: '1' })]);
    await patch(configMaps, 'a', { metadata: { labels: { 'outrigger.dev/controller': null } } });
    expect(await children([child('a', { x: '1' })])).toMatchObject({ writes: 1 });
    expect((await read('a'))?.metadata.labels).toMatchObject({ 'outrigger.dev/controller': 'cases' });
  });

  it('applyAll keeps an existing child that the function returns, unless it has lost its labels, which are restored', async () => {
    await children([child('a', {}), child('b', {})]);
    const before = await read('a');
    await patch(configMaps, 'b', { metadata: { labels: null } });
    expect(await children((existing) => existing, { isThorough: true })).toMatchObject({ writes: 1 });
    expect(await read('a')).toEqual(before);
    expect((await read('b'))?.metadata.labels).toMatchObject({ 'outrigger.dev/controller': 'cases' });
  });

  it('applyAll that finds unlabelled children deletes none of another controller of the owner, or of another client', async () => {
    await children([child('a', { x: '1' })]);
    await children([child('b', { x: '1' })], { controllerName: 'others' });
    await put('c', {});
    await patch(configMaps, 'c', { metadata: { ownerReferences: (await read('b'))?.metadata.ownerReferences } });
    await children([child('d', { x: '1' })], { prune: false });
    await patch(configMaps, 'a', { metadata: { labels: null } });
    await patch(configMaps, 'd', { metadata: { labels: { 'outrigger.dev/owner-uid': null } } });
    expect(await children([], { isThorough: true })).toMatchObject({ writes: 2 });
    const left = await Promise.all(['a', 'b', 'c', 'd'].map(read));
    expect(left.map((one) => one?.metadata.name)).toEqual([undefined, 'b', 'c', undefined]);
  });

  it('applyAll that finds unlabelled children does not read the labelled children of other owners', async () => {
    await children([child('theirs', {})], { owner: await put('neighbour', {}) });
    const seen: string[] = [];
    const request: KubeClient['request'] = async (asked) => {
      const response = await fixture.client.request(asked);
      if (asked.method === 'GET') seen.push(JSON.stringify(response.body));
      return response;
    };
    await children([], { isThorough: true }, { ...fixture.client, request });
    expect(seen.join()).toContain('"neighbour"');
    expect(seen.join()).not.toContain('"theirs"');
  });

  it('applyAll writes nothing to a child that is being deleted', async () => {
    await children([child('a', { x: '1' })]);
    await patch(configMaps, 'a', { metadata: { finalizers: ['example.com/keep'] } });
    await remove('a');
    fixture.requests.length = 0;
    expect(await children([child('a', { x: '2' })])).toMatchObject({ writes: 0 });
    expect(await children([])).toMatchObject({ writes: 0 });
    expect(writes()).toEqual([]);
    await patch(configMaps, 'a', { metadata: { finalizers: null } });
  });

  it('applyAll of a Secret with stringData writes once, corrects drift, and removes a key that is no longer desired', async () => {
    const secrets = { resource: { ...configMaps, plural: 'secrets' }, kind: 'Secret' };
    const secret = (stringData: Record<string, string>) => [
      { metadata: { name: 's' }, data: { raw: 'Yg==' }, stringData },
    ];
    await children(secret({ user: 'ä', password: 'p' }), secrets);
    expect(await children(secret({ user: 'ä', password: 'p' }), secrets)).toMatchObject({ writes: 0, noops: 0 });
    await patch(secrets.resource, 's', { data: { user: 'YQ==' } });
    expect(await children(secret({ user: 'ä', password: 'p' }), secrets)).toMatchObject({ writes: 1 });
    const { objects } = await children(secret({ user: 'ä' }), secrets);
    expect(objects[0]?.data).toEqual({ raw: 'Yg==', user: 'w6Q=' });
  });

  it('applyAll converges for a workload with quantities, zero values, defaults and another’s scale', async () => {
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

  it('applyAll that changed nothing is repeated for another version or other fields only, or periodically', async () => {
    // The server fills the empty map with defaults, which the manager does not own.
    const spec = { sessionAffinity: 'ClientIP', sessionAffinityConfig: {} };
    const apply = (port: number, isThorough = false) =>
      children([{ metadata: { name: 's' }, spec: { ...spec, ports: [{ name: 'a', port }] } }], {
        ...{ resource: services, kind: 'Service', isThorough },
      });
    expect(await apply(80)).toMatchObject({ writes: 1 });
    expect(await apply(80)).toMatchObject({ writes: 0, noops: 1 });
    expect(await apply(80)).toMatchObject({ writes: 0, noops: 0 });
    expect(await apply(80, true)).toMatchObject({ writes: 0, noops: 1 });
    expect(await apply(90)).toMatchObject({ writes: 1 });
    await patch(services, 's', { spec: { publishNotReadyAddresses: true } });
    expect(await apply(90)).toMatchObject({ writes: 0, noops: 1 });
  });

  it('applyAll writes empty lists once, and again where another client has added to one that it does not merge', async () => {
    const container = { name: 'c', image: 'i', env: [], args: [] };
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container], volumes: [] } };
    const workload = { metadata: { name: 'w' }, spec: { selector: { matchLabels: { app: 'a' } }, template } };
    const apply = () => children([workload], { resource: deployments, apiVersion: 'apps/v1', kind: 'Deployment' });
    expect(await apply()).toMatchObject({ writes: 1 });
    expect(await apply()).toMatchObject({ writes: 0, noops: 0 });
    const containers = [{ name: 'c', image: 'i', args: ['--theirs'] }];
    await patch(deployments, 'w', { spec: { template: { spec: { containers } } } });
    const { objects, ...rest } = await apply();
    expect(rest).toMatchObject({ writes: 1 });
    expect(JSON.stringify(objects)).not.toContain('"--theirs"');
  });

  it.each<[string, readonly DesiredChild[]]>([
    ['two children of one name', [{ metadata: { name: 'a' } }, { metadata: { name: 'a' } }]],
    ['a child in another namespace', [{ metadata: { name: 'a', namespace: 'default' } }]],
  ])('applyAll throws a TypeError for %s, and writes nothing', async (_, desired) => {
    await expect(children(desired)).rejects.toThrow(TypeError);
    expect(writes()).toEqual([]);
  });
});
