// The writes that add and remove finalizers, as test cases for any API server.
import { expect, it } from 'vitest';
import { holdObject, removeFinalizer } from '../../../src/kube/apply/finalizers.ts';
import { ApiError, isConflict } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/client/object.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { interceptRequests } from '../../support/intercept-requests.ts';
import { configMaps, useNamespace } from '../namespace.ts';

const finalizer = 'outrigger.dev/cases';
const { connect } = await useApiServer();
const fixture = useNamespace(connect);
const { put, read, remove } = fixture;
const hold = (object: KubeObject) =>
  holdObject(fixture.client, configMaps, object, { finalizer }, { fieldManager: 'm' });
const release = (object: KubeObject) => removeFinalizer(fixture.client, configMaps, object, finalizer);
const setFinalizers = (finalizers: readonly string[] | null) =>
  fixture.patch(configMaps, 'owner', { metadata: { finalizers } });

async function fresh(): Promise<KubeObject> {
  const object = await read('owner');
  if (object === undefined) throw new Error('the owner is gone');
  return object;
}

it('holdObject appends the finalizer to others, as its field manager, and removeFinalizer keeps those', async () => {
  await setFinalizers(['example.com/a']);
  const on = await hold(await fresh());
  expect(on.metadata.finalizers).toEqual(['example.com/a', finalizer]);
  expect(on.metadata.managedFields).toContainEqual(expect.objectContaining({ manager: 'm', operation: 'Update' }));
  await setFinalizers(['example.com/a', finalizer, 'example.com/b']);
  expect((await release(await fresh()))?.metadata.finalizers).toEqual(['example.com/a', 'example.com/b']);
  await setFinalizers(null);
});

it('holdObject and removeFinalizer write nothing if there is nothing to change or the object is being deleted', async () => {
  const free = await fresh();
  await setFinalizers(['example.com/a', finalizer]);
  const held = await fresh();
  await remove('owner');
  await setFinalizers(['example.com/a']);
  const deleting = await fresh();
  fixture.requests.length = 0;
  expect(await release(free)).toBe(free);
  expect(await hold(held)).toBe(held);
  expect(await hold(deleting)).toBe(deleting);
  expect(fixture.requests).toEqual([]);
  await setFinalizers(null);
});

it('removeFinalizer of the last finalizer deletes an object that is being deleted, and of a missing one does nothing', async () => {
  await hold(fixture.owner);
  await remove('owner');
  const deleting = await fresh();
  expect(await release(deleting)).toBeUndefined();
  expect(await read('owner')).toBeUndefined();
  expect(await release(deleting)).toBeUndefined();
});

it('removeFinalizer throws a 404 of the write, as of a load balancer, while the object exists with the finalizer', async () => {
  await hold(fixture.owner);
  await remove('owner');
  const deleting = await fresh();
  const balanced = interceptRequests(fixture.client, ({ method, path }) => {
    if (method === 'PATCH') throw new ApiError(`PATCH ${path}`, 404, 'no such backend');
  });
  await expect(removeFinalizer(balanced, configMaps, deleting, finalizer)).rejects.toThrow('returned 404');
  expect((await fresh()).metadata.finalizers).toEqual([finalizer]);
  await release(deleting);
  await put('owner', {});
  expect(await removeFinalizer(balanced, configMaps, deleting, finalizer)).toBeUndefined();
});

it('holdObject and removeFinalizer throw a conflict for an object that has changed, or was recreated, since the read', async () => {
  const before = await hold(fixture.owner);
  await setFinalizers([finalizer, 'example.com/a']);
  await expect(release(before)).rejects.toSatisfy(isConflict);
  await setFinalizers(null);
  await expect(hold(fixture.owner)).rejects.toSatisfy(isConflict);
  await remove('owner');
  await put('owner', {});
  await expect(hold(fixture.owner)).rejects.toSatisfy(isConflict);
  expect((await read('owner'))?.metadata.finalizers).toBeUndefined();
});
