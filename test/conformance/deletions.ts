// Conformance: deleting: at once, held by finalizers, guarded by preconditions, many at a time.
import { expect, it } from 'vitest';
import { GROUP, gadget, gadgets } from './gadget.ts';
import type { Suite } from './suite.ts';

const HELD = { finalizers: ['example.org/a', 'example.org/b'] };

/** Declares the cases. */
export function deletionCases({ wire, namespace }: Suite): void {
  /** Creates a gadget with two finalizers and deletes it. Returns its path. */
  const deleting = async (): Promise<string> => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one', { size: 1 }, HELD));
    await wire.remove(gadgets(ns, 'one'));
    return gadgets(ns, 'one');
  };

  it('an object without finalizers is gone at once, and the answer says which one it was', async () => {
    const ns = await namespace();
    const made = await wire.post(gadgets(ns), gadget('one'));
    const removed = await wire.remove(gadgets(ns, 'one'));
    expect(removed.status).toBe(200);
    expect(removed.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'one', group: GROUP, kind: 'gadgets', uid: made.body.metadata?.uid },
    });
    expect((await wire.get(gadgets(ns, 'one'))).status).toBe(404);
    expect((await wire.remove(gadgets(ns, 'one'))).body).toMatchObject({ code: 404, reason: 'NotFound' });
  });

  it('an object with finalizers stays, with a deletion time and one generation more', async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one', { size: 1 }, HELD));
    const removed = await wire.remove(gadgets(ns, 'one'));
    expect(removed.status).toBe(200);
    expect(removed.body).toMatchObject({
      kind: 'Gadget',
      metadata: { name: 'one', generation: 2, deletionGracePeriodSeconds: 0, finalizers: HELD.finalizers },
    });
    expect(removed.body.metadata?.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect((await wire.get(gadgets(ns, 'one'))).body).toEqual(removed.body);
    await wire.mergePatch(gadgets(ns, 'one'), { metadata: { finalizers: null } });
  });

  it('a second deletion of a held object changes nothing', async () => {
    const one = await deleting();
    const before = await wire.get(one);
    expect((await wire.remove(one)).body).toEqual(before.body);
    await wire.mergePatch(one, { metadata: { finalizers: null } });
  });

  it('a held object can be edited, which raises its generation further', async () => {
    const one = await deleting();
    const edited = await wire.mergePatch(one, { spec: { size: 3 } });
    expect(edited.body).toMatchObject({ metadata: { generation: 3 }, spec: { size: 3 } });
    const status = await wire.mergePatch(`${one}/status`, {
      status: { phase: 'Down' },
      metadata: { finalizers: null },
    });
    expect(status.body).toMatchObject({
      metadata: { generation: 3, finalizers: HELD.finalizers },
      status: { phase: 'Down' },
    });
    await wire.mergePatch(one, { metadata: { finalizers: null } });
  });

  it('the deletion time cannot be taken back, and no finalizer can be added', async () => {
    const one = await deleting();
    const { metadata } = (await wire.get(one)).body;
    const undone = await wire.mergePatch(one, { metadata: { deletionTimestamp: null } });
    expect(undone.body.metadata?.deletionTimestamp).toBe(metadata?.deletionTimestamp);
    const added = await wire.mergePatch(one, { metadata: { finalizers: [...HELD.finalizers, 'example.org/c'] } });
    expect(added.status).toBe(422);
    expect(added.body.details?.causes?.[0]).toEqual({
      reason: 'FieldValueForbidden',
      message:
        'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.org/c"}',
      field: 'metadata.finalizers',
    });
    await wire.mergePatch(one, { metadata: { finalizers: null } });
  });

  it('removing finalizers one by one at the version that was read ends the object with the last', async () => {
    const one = await deleting();
    const stale = (await wire.get(one)).body.metadata?.resourceVersion;
    const first = await wire.mergePatch(one, { metadata: { resourceVersion: stale, finalizers: ['example.org/b'] } });
    expect(first.body.metadata?.finalizers).toEqual(['example.org/b']);
    const late = await wire.mergePatch(one, { metadata: { resourceVersion: stale, finalizers: [] } });
    expect(late.body).toMatchObject({ code: 409, reason: 'Conflict' });
    const version = first.body.metadata?.resourceVersion;
    const last = await wire.mergePatch(one, { metadata: { resourceVersion: version, finalizers: [] } });
    expect(last.status).toBe(200);
    expect(last.body).toMatchObject({ kind: 'Gadget', metadata: { name: 'one', resourceVersion: version } });
    expect((await wire.get(one)).status).toBe(404);
  });

  it('a replacement without finalizers ends the object too', async () => {
    const one = await deleting();
    const { body } = await wire.get(one);
    await wire.put(one, { ...body, metadata: { ...body.metadata, finalizers: [] } });
    expect((await wire.get(one)).status).toBe(404);
  });

  it('a watch shows the deletion time as MODIFIED and the end as DELETED with the finalizers it last had', async () => {
    const ns = await namespace();
    const one = gadgets(ns, 'one');
    const made = await wire.post(gadgets(ns), gadget('one', { size: 1 }, { finalizers: ['example.org/a'] }));
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: made.body.metadata?.resourceVersion ?? '' });
    await wire.remove(one);
    const modified = await watch.next();
    expect(modified).toMatchObject({ type: 'MODIFIED', object: { metadata: { generation: 2 } } });
    expect(modified.object.metadata?.deletionTimestamp).toBeDefined();
    await wire.mergePatch(one, { metadata: { finalizers: null } });
    const ended = await watch.next();
    expect(ended).toMatchObject({ type: 'DELETED', object: { metadata: { finalizers: ['example.org/a'] } } });
    const versions = [modified, ended].map(({ object }) => Number(object.metadata?.resourceVersion));
    expect(versions[1]).toBeGreaterThan(versions[0] ?? 0);
  });

  it.each([
    ['uid', { uid: 'nope' }, 'the UID in the precondition (nope) does not match the UID in record'],
    ['version', { resourceVersion: '1' }, 'the ResourceVersion in the precondition (1) does not match'],
  ])('a deletion of another %s is a Conflict', async (_what, preconditions, message) => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one'));
    const refused = await wire.remove(gadgets(ns, 'one'), { preconditions });
    expect(refused.body).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(refused.body.message).toContain(message);
    expect((await wire.get(gadgets(ns, 'one'))).status).toBe(200);
  });

  it('a deletion of the right uid and version goes through', async () => {
    const ns = await namespace();
    const { metadata } = (await wire.post(gadgets(ns), gadget('one'))).body;
    const preconditions = { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion };
    expect((await wire.remove(gadgets(ns, 'one'), { preconditions })).status).toBe(200);
    expect((await wire.get(gadgets(ns, 'one'))).status).toBe(404);
  });

  it('an unknown propagation policy is Invalid', async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one'));
    const refused = await wire.remove(gadgets(ns, 'one'), { propagationPolicy: 'Sideways' });
    expect(refused.body).toMatchObject({ code: 422, details: { causes: [{ field: 'propagationPolicy' }] } });
  });

  it('a collection is deleted by selector, and the answer lists what it was', async () => {
    const ns = await namespace();
    for (const [name, group] of [
      ['a', 'x'],
      ['b', 'y'],
      ['c', 'x'],
    ] as const) {
      await wire.post(gadgets(ns), gadget(name, { size: 1 }, { labels: { group } }));
    }
    const removed = await wire.remove(gadgets(ns), undefined, { labelSelector: 'group=x' });
    expect(removed.body.kind).toBe('GadgetList');
    expect(removed.body.items?.map((item) => item.metadata?.name)).toEqual(['a', 'c']);
    expect((await wire.get(gadgets(ns))).body.items?.map((item) => item.metadata?.name)).toEqual(['b']);
  });

  it('nothing can be created in a namespace that is being deleted, and the cause says so', async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one', { size: 1 }, { finalizers: ['example.org/a'] }));
    expect((await wire.remove(`/api/v1/namespaces/${ns}`)).body).toMatchObject({ status: { phase: 'Terminating' } });
    const refused = await wire.post(gadgets(ns), gadget('late'));
    expect(refused.body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    });
    await wire.mergePatch(gadgets(ns, 'one'), { metadata: { finalizers: null } });
  });
}
