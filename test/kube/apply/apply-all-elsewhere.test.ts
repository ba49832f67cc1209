// Children in other namespaces than that of their owner, which have its labels and no reference to it; and objects that
// become children on request. Cases for any API server, with its garbage collector.
import { beforeEach, describe, expect, it } from 'vitest';
import { NotOwnedError } from '../../../src/core/errors.ts';
import { controllerLabel, ownerAnnotation, ownerUidLabel } from '../../../src/core/names.ts';
import type { ApplyAllRequest } from '../../../src/kube/apply/apply-all.ts';
import { objectPath } from '../../../src/kube/client/path.ts';
import { getObject } from '../../../src/kube/client/read.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { configMaps } from '../namespace.ts';
import { child, useChildren } from './apply-all-harness.ts';

const { connect } = await useApiServer();
const { fixture, children, beforeRequest } = useChildren(connect);
const far = () => `${fixture.namespace}-far`;
const farKey = (name: string) => ({ namespace: far(), name });
const farChild = (name: string, data: Record<string, string> = {}) => ({ metadata: farKey(name), data });
const anywhere = async (desired: ApplyAllRequest['desired'], change: Partial<ApplyAllRequest> = {}) =>
  await children(desired, { inAnyNamespace: true, ...change });
const read = async (name: string) => await getObject(fixture.client, configMaps, farKey(name));
const send = async (method: 'PATCH' | 'POST', path: string, body: object, query = {}) =>
  await fixture.client.request({
    method,
    path,
    body,
    query,
    ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}),
  });
const patchFar = async (name: string, body: object) => await send('PATCH', objectPath(configMaps, farKey(name)), body);
const createFar = async (name: string, metadata: object = {}) =>
  await send('POST', `/api/v1/namespaces/${far()}/configmaps`, {
    metadata: { name, ...metadata },
    data: { a: 'theirs' },
  });
const refused = async (applying: Promise<unknown>) => await expect(applying).rejects.toThrow(NotOwnedError);

beforeEach(async () => {
  await send('POST', '/api/v1/namespaces', { metadata: { name: far() } });
});

describe('a child in another namespace', () => {
  it('has the labels of its owner in place of a reference, and is written once, corrected, and pruned', async () => {
    expect(await anywhere([farChild('a', { x: '1' }), child('b', {})])).toMatchObject({ writes: 2 });
    const { uid } = fixture.owner.metadata;
    const metadata = (await read('a'))?.metadata;
    expect(metadata).toMatchObject({
      labels: { [controllerLabel]: 'cases', [ownerUidLabel]: uid },
      annotations: { [ownerAnnotation]: `${fixture.namespace}/owner` },
    });
    expect(metadata).not.toHaveProperty('ownerReferences');
    expect((await fixture.read('b'))?.metadata.ownerReferences).toHaveLength(1);
    expect(await anywhere([farChild('a', { x: '1' }), child('b', {})])).toMatchObject({ writes: 0, noops: 0 });
    await patchFar('a', { data: { x: 'drifted' } });
    expect(await anywhere([farChild('a', { x: '1' })])).toMatchObject({ writes: 2 });
    expect([(await read('a'))?.data, await fixture.read('b')]).toEqual([{ x: '1' }, undefined]);
    expect(await anywhere([])).toMatchObject({ writes: 1 });
    expect(await read('a')).toBeUndefined();
  });

  it('is refused without inAnyNamespace, and is not found by an applyAll without it', async () => {
    await expect(children([farChild('a')])).rejects.toThrow('give inAnyNamespace(ConfigMap) to owns and to this call');
    await anywhere([farChild('a')]);
    expect(await children([])).toMatchObject({ writes: 0 });
  });

  it('is pruned also while its owner is being deleted', async () => {
    await anywhere([farChild('a')]);
    const metadata = { ...fixture.owner.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(await anywhere([], { owner: { ...fixture.owner, metadata } })).toMatchObject({ writes: 1 });
    expect(await read('a')).toBeUndefined();
  });

  it('gets the label of its controller back in a thorough reconcile, or as a stray', async () => {
    const lost = async () => await patchFar('a', { metadata: { labels: { [controllerLabel]: null } } });
    await anywhere([farChild('a')]);
    await lost();
    expect(await anywhere([], { isThorough: true })).toMatchObject({ writes: 1 });
    await anywhere([farChild('a')]);
    await lost();
    expect(await anywhere([farChild('a')], { strays: [farKey('a')] })).toMatchObject({ writes: 1 });
    expect((await read('a'))?.metadata.labels?.[controllerLabel]).toBe('cases');
  });

  it('is another owner’s with the label of that owner, with a controller, or if the controller has not applied it', async () => {
    await anywhere([farChild('a')]);
    const { metadata } = { ...(await read('a')) };
    await patchFar('a', { metadata: { labels: { [ownerUidLabel]: 'another' } } });
    await refused(anywhere([farChild('a')]));
    const { labels, annotations } = { ...metadata };
    await createFar('copied', { labels, annotations });
    await refused(anywhere([farChild('copied')]));
    expect(await anywhere([])).toMatchObject({ writes: 0 });
    expect((await read('copied'))?.data).toEqual({ a: 'theirs' });
  });

  it('whose namespace is missing leaves the others to be applied', async () => {
    const missing = { metadata: { namespace: `${far()}-missing`, name: 'a' } };
    await expect(anywhere([missing, farChild('b')])).rejects.toMatchObject({ status: 404 });
    expect(await read('b')).toBeDefined();
  });
});

describe('an object that becomes a child on request', () => {
  const adopting = { adopt: true };
  const { put, patch } = fixture;

  it('nobody controls, and keeps the fields of others; without the request it is refused', async () => {
    await put('a', { theirs: '1', x: 'theirs' });
    await refused(children([child('a', { x: '1' })]));
    expect(await children([child('a', { x: '1' })], adopting)).toMatchObject({ objects: [{ data: { x: '1' } }] });
    const { metadata, data } = { ...(await fixture.read('a')) };
    expect(data).toEqual({ theirs: '1', x: '1' });
    expect(metadata?.ownerReferences).toMatchObject([{ uid: fixture.owner.metadata.uid, controller: true }]);
    expect(await children([child('a', { x: '1' })])).toMatchObject({ writes: 0 });
    expect(await children([])).toMatchObject({ writes: 1 });
  });

  it('is a child that has lost its labels and its reference', async () => {
    await children([child('a', { x: '1' })]);
    await patch(configMaps, 'a', { metadata: { labels: null, ownerReferences: null, managedFields: [{}] } });
    await refused(children([child('a', { x: '1' })]));
    expect(await children([child('a', { x: '1' })], adopting)).toMatchObject({ notes: [] });
    expect((await fixture.read('a'))?.metadata.labels).toMatchObject({ [controllerLabel]: 'cases' });
  });

  it('is that of a deleted owner of the same name, also in another namespace', async () => {
    const orphan = { labels: { [controllerLabel]: 'cases', [ownerUidLabel]: 'uid-of-the-former' } };
    const annotations = { [ownerAnnotation]: `${fixture.namespace}/owner` };
    await createFar('a', { ...orphan, annotations });
    await refused(anywhere([farChild('a')]));
    expect(await anywhere([farChild('a', { x: '1' })], adopting)).toMatchObject({ writes: 1 });
    expect((await read('a'))?.metadata.labels).toMatchObject({ [ownerUidLabel]: fixture.owner.metadata.uid });
    await createFar('b', { ...orphan, annotations: { [ownerAnnotation]: `${fixture.namespace}/other` } });
    await refused(anywhere([farChild('a', { x: '1' }), farChild('b')], adopting));
  });

  it('is never one with a controller, or with the label of another controller', async () => {
    await put('a', {});
    const { uid } = { ...(await fixture.read('a'))?.metadata };
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid, controller: true };
    await put('b', { x: 'theirs' });
    await patch(configMaps, 'b', { metadata: { ownerReferences: [owner] } });
    await put('c', { x: 'theirs' });
    await patch(configMaps, 'c', { metadata: { labels: { [controllerLabel]: 'another' } } });
    await refused(children([child('b', { x: '1' }), child('c', { x: '1' })], adopting));
    expect([(await fixture.read('b'))?.data, (await fixture.read('c'))?.data]).toEqual([
      { x: 'theirs' },
      { x: 'theirs' },
    ]);
  });

  it('is left to another controller that has taken it since the read', async () => {
    await put('a', { x: 'theirs' });
    const { uid } = { ...(await put('other', {})).metadata };
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid, controller: true };
    let isFirst = true;
    const client = beforeRequest('PATCH', async () => {
      if (isFirst) await patch(configMaps, 'a', { metadata: { ownerReferences: [owner] } });
      isFirst = false;
    });
    await refused(children([child('a', { x: '1' })], adopting, client));
    expect((await fixture.read('a'))?.metadata.ownerReferences).toMatchObject([{ name: 'other' }]);
    expect((await fixture.read('a'))?.data).toEqual({ x: 'theirs' });
  });
});
