// The children of an owner, as test cases for any API server: the objects in the cluster after an applyAll, and the
// number of writes. Kinds and fields that the server changes are apply-all-fields.test.ts, errors
// apply-all-failures.test.ts.
import { expect, it } from 'vitest';
import { NotOwnedError } from '../../../src/core/errors.ts';
import type { ApplyAllRequest } from '../../../src/kube/apply/apply-all.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/client/object.ts';
import { collectionPath } from '../../../src/kube/client/path.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { configMaps } from '../namespace.ts';
import { child, useChildren } from './apply-all-harness.ts';

const { connect } = await useApiServer();
const { fixture, children, beforeRequest, writes } = useChildren(connect);
const { put, read, patch, remove } = fixture;

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

// Control T121.
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

it('applyAll writes nothing if two desired children have one name, and the error has it', async () => {
  const twice = children([child('a', {}), child('b', {}), child('b', {})]);
  const text = `two desired children of kind ConfigMap have the name ${fixture.namespace}/b; give each its own`;
  await expect(twice).rejects.toThrow(new TypeError(text));
  expect(writes()).toEqual([]);
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

/** A client before whose first request with this method another client replaces the child `a`. */
function replacing(method: string): KubeClient {
  let replaced = false;
  return beforeRequest(method, async () => {
    if (replaced) return;
    replaced = true;
    await remove('a');
    await put('a', { theirs: '1' });
  });
}

it('a child that another client replaces between the list and its deletion is not deleted', async () => {
  await children([child('a', { x: '1' })]);
  expect(await children([], {}, replacing('DELETE'))).toMatchObject({ writes: 0 });
  expect((await read('a'))?.data).toEqual({ theirs: '1' });
});

it('a child that another client replaces between the list and its apply is not changed', async () => {
  await children([child('a', { x: '1' })]);
  await expect(children([child('a', { x: '2' })], {}, replacing('PATCH'))).rejects.toThrow(NotOwnedError);
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

it('a child that has lost its reference is one only while its owner is kept, as a deletion with --cascade=orphan removes it', async () => {
  await children([child('a', { x: '1' })]);
  await put('free', {});
  const before = (await patch(configMaps, 'a', { metadata: { ownerReferences: null } })).body;
  const owner = {
    ...fixture.owner,
    metadata: { ...fixture.owner.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  };
  for (const leaving of [{ owner }, { isOwnerKept: async () => false }]) {
    expect(await children([], leaving)).toMatchObject({ writes: 0 });
    await expect(children([child('a', { x: '2' })], leaving)).rejects.toThrow(NotOwnedError);
  }
  await expect(children([child('free', {})], { owner, adopt: true, prune: false })).rejects.toThrow(NotOwnedError);
  expect(await read('a')).toEqual(before);
  expect(await children([child('a', { x: '2' })], { isOwnerKept: async () => true })).toMatchObject({ writes: 1 });
  expect((await read('a'))?.metadata.ownerReferences).toMatchObject([{ uid: fixture.owner.metadata.uid }]);
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

it('X15: applyAll that finds unlabelled children deletes none that another controller of the owner has applied since', async () => {
  await children([child('a', { x: '1' })]);
  await children([child('a', { x: '1' })], { controllerName: 'others' });
  expect(await children([], { isThorough: true })).toMatchObject({ writes: 0 });
  expect((await read('a'))?.metadata.labels).toMatchObject({ 'outrigger.dev/controller': 'others' });
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

it('applyAll throws a TypeError for a child in another namespace, and writes nothing', async () => {
  await expect(children([{ metadata: { name: 'a', namespace: 'default' } }])).rejects.toThrow(TypeError);
  expect(writes()).toEqual([]);
});
