// Conformance: what server-side apply does to single fields: what is dropped, what is shared, how lists and maps merge.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import type { Suite } from './suite.ts';

/** Declares the cases. */
export function applyFieldCases({ wire, namespace }: Suite): void {
  const path = async (): Promise<string> => gadgets(await namespace(), 'one');

  it('a field that its only manager no longer says is removed', async () => {
    const one = await path();
    const metadata = { labels: { a: 'b' }, annotations: { c: 'd' } };
    await wire.apply(one, 'alpha', gadget('one', { size: 1, color: 'red', free: { x: 1 } }, metadata));
    const { body } = await wire.apply(one, 'alpha', gadget('one', { size: 1 }));
    expect(body.spec).toEqual({ size: 1, finish: 'matt', box: { lid: 'closed' } });
    expect(body.metadata?.labels).toBeUndefined();
    expect(body.metadata?.annotations).toBeUndefined();
  });

  it('a field that another manager says too stays', async () => {
    const one = await path();
    await wire.apply(one, 'alpha', gadget('one', { size: 1, color: 'red' }));
    await wire.apply(one, 'beta', gadget('one', { size: 1, color: 'red' }));
    expect((await wire.apply(one, 'alpha', gadget('one', { size: 1 }))).body.spec?.color).toBe('red');
    expect((await wire.apply(one, 'beta', gadget('one', { size: 1 }))).body.spec?.color).toBeUndefined();
  });

  it('a field that was created by POST is never dropped by an apply', async () => {
    const one = await path();
    await wire.post(one.replace(/\/one$/, ''), gadget('one', { size: 1, color: 'red' }), { fieldManager: 'alpha' });
    await wire.apply(one, 'alpha', gadget('one', { size: 1, color: 'red' }));
    expect((await wire.apply(one, 'alpha', gadget('one', { size: 1 }))).body.spec?.color).toBe('red');
  });

  it('a field taken by a later update belongs to the updater', async () => {
    const one = await path();
    await wire.apply(one, 'alpha', gadget('one', { size: 1, color: 'red' }));
    await wire.mergePatch(one, { spec: { color: 'blue' } }, { fieldManager: 'hand' });
    expect((await wire.apply(one, 'alpha', gadget('one', { size: 1 }))).body.spec?.color).toBe('blue');
    const back = await wire.apply(one, 'alpha', gadget('one', { size: 1, color: 'red' }));
    expect(back.body.details?.causes).toMatchObject([{ field: '.spec.color' }]);
  });

  it('a dropped field with a default goes back to the default', async () => {
    const one = await path();
    await wire.apply(one, 'alpha', gadget('one', { size: 1, finish: 'gloss' }));
    expect((await wire.apply(one, 'alpha', gadget('one', { size: 1 }))).body.spec?.finish).toBe('matt');
  });

  it('entries of a list-map are owned one by one', async () => {
    const one = await path();
    await wire.apply(one, 'alpha', gadget('one', { size: 1, parts: [{ name: 'a', count: 2 }, { name: 'b' }] }));
    const both = await wire.apply(one, 'beta', gadget('one', { parts: [{ name: 'c', count: 3 }] }));
    expect(both.body.spec?.parts).toEqual([
      { name: 'a', count: 2 },
      { name: 'b', count: 1 },
      { name: 'c', count: 3 },
    ]);
    const dropped = await wire.apply(one, 'alpha', gadget('one', { size: 1, parts: [{ name: 'b' }] }));
    expect(dropped.body.spec?.parts).toEqual([
      { name: 'b', count: 1 },
      { name: 'c', count: 3 },
    ]);
    const conflict = await wire.apply(one, 'alpha', gadget('one', { size: 1, parts: [{ name: 'c', count: 4 }] }));
    expect(conflict.body.details?.causes).toMatchObject([{ field: '.spec.parts[name="c"].count' }]);
  });

  it('the managed fields of a list-map name each entry by its keys', async () => {
    const one = await path();
    const { body } = await wire.apply(one, 'alpha', gadget('one', { size: 1, parts: [{ name: 'a', count: 2 }] }));
    expect(body.metadata?.managedFields?.[0]?.fieldsV1).toEqual({
      'f:spec': { 'f:size': {}, 'f:parts': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:count': {} } } },
    });
  });

  it('values of a set are owned one by one', async () => {
    const one = await path();
    const first = await wire.apply(one, 'alpha', gadget('one', { size: 1, tags: ['p', 'q'] }));
    expect(first.body.metadata?.managedFields?.[0]?.fieldsV1).toMatchObject({
      'f:spec': { 'f:tags': { 'v:"p"': {}, 'v:"q"': {} } },
    });
    expect((await wire.apply(one, 'beta', gadget('one', { tags: ['r'] }))).body.spec?.tags).toEqual(['p', 'q', 'r']);
    expect((await wire.apply(one, 'alpha', gadget('one', { size: 1, tags: ['q'] }))).body.spec?.tags).toEqual([
      'q',
      'r',
    ]);
  });

  it('a plain list is one value: replaced by its manager, refused to others', async () => {
    const one = await path();
    await wire.apply(one, 'alpha', gadget('one', { size: 1, notes: ['a', 'b'] }));
    const refused = await wire.apply(one, 'beta', gadget('one', { notes: ['c'] }));
    expect(refused.body.details?.causes).toMatchObject([{ field: '.spec.notes' }]);
    expect((await wire.apply(one, 'alpha', gadget('one', { size: 1, notes: ['b'] }))).body.spec?.notes).toEqual(['b']);
  });

  it('keys of maps and of free-form objects are owned one by one', async () => {
    const one = await path();
    await wire.apply(one, 'alpha', gadget('one', { size: 1, labels: { a: '1' }, free: { x: 1, y: { z: 2 } } }));
    const both = await wire.apply(one, 'beta', gadget('one', { labels: { b: '2' }, free: { y: { w: 3 } } }));
    expect(both.body.spec).toMatchObject({ labels: { a: '1', b: '2' }, free: { x: 1, y: { z: 2, w: 3 } } });
    const dropped = await wire.apply(one, 'alpha', gadget('one', { size: 1 }));
    expect(dropped.body.spec).toMatchObject({ labels: { b: '2' } });
    expect(dropped.body.spec?.free).toEqual({ y: { w: 3 } });
  });

  it('labels, finalizers and owners are owned one by one', async () => {
    const one = await path();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u1' };
    const alpha = { labels: { a: '1' }, finalizers: ['example.org/a'], ownerReferences: [owner] };
    const beta = {
      labels: { b: '2' },
      finalizers: ['example.org/b'],
      ownerReferences: [{ ...owner, name: 'y', uid: 'u2' }],
    };
    await wire.apply(one, 'alpha', gadget('one', { size: 1 }, alpha), { dryRun: 'All' });
    const first = await wire.apply(one, 'alpha', gadget('one', { size: 1 }, { ...alpha, ownerReferences: [] }));
    expect(first.body.metadata?.managedFields?.[0]?.fieldsV1).toMatchObject({
      'f:metadata': { 'f:labels': { 'f:a': {} }, 'f:finalizers': { 'v:"example.org/a"': {} } },
    });
    const both = await wire.apply(one, 'beta', gadget('one', {}, { ...beta, ownerReferences: [] }));
    expect(both.body.metadata).toMatchObject({
      labels: { a: '1', b: '2' },
      finalizers: ['example.org/a', 'example.org/b'],
    });
    const dropped = await wire.apply(one, 'alpha', gadget('one', { size: 1 }));
    expect(dropped.body.metadata).toMatchObject({ labels: { b: '2' }, finalizers: ['example.org/b'] });
    await wire.apply(one, 'beta', gadget('one', {}));
  });

  it('an owner reference is one entry by its uid', async () => {
    const one = await path();
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u1', controller: true }];
    const { body } = await wire.apply(one, 'alpha', gadget('one', { size: 1 }, { ownerReferences }), { dryRun: 'All' });
    expect(body.metadata?.ownerReferences).toEqual(ownerReferences);
    expect(body.metadata?.managedFields?.[0]?.fieldsV1).toMatchObject({
      'f:metadata': { 'f:ownerReferences': { 'k:{"uid":"u1"}': {} } },
    });
  });

  it('managedFields are reset by writing one empty entry', async () => {
    const one = await path();
    await wire.apply(one, 'alpha', gadget('one', { size: 1, color: 'red' }));
    const reset = await wire.mergePatch(one, { metadata: { managedFields: [{}] } });
    expect(reset.body.metadata?.managedFields).toBeUndefined();
    expect(reset.body.spec?.color).toBe('red');
  });
}
