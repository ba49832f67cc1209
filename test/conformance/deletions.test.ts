// Conformance: deletion: of objects without and with finalizers, with preconditions, and of collections.
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { gadget, gadgetGroup, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

const twoFinalizers = { finalizers: ['example.org/a', 'example.org/b'] };

const { wire, namespace, createGadget } = await useSuite();

/** Creates a gadget with two finalizers and deletes it. Returns its path. */
const terminating = async (): Promise<string> => {
  const { main } = await createGadget({ size: 1 }, twoFinalizers);
  await wire.remove(main);
  return main;
};

it('a deletion of an object without finalizers removes it and returns a Status with its name and uid', async () => {
  const { main, made } = await createGadget();
  const removed = await wire.remove(main);
  expect(removed.status).toBe(200);
  expect(removed.body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'one', group: gadgetGroup, kind: 'gadgets', uid: made.metadata?.uid },
  });
  expect((await wire.get(main)).status).toBe(404);
  expect((await wire.remove(main)).body).toMatchObject({ code: 404, reason: 'NotFound' });
});

it('a creation under the name of an object that is being deleted is AlreadyExists, with that reason', async () => {
  const path = await terminating();
  const { body } = await wire.post(path.replace(/\/one$/, ''), gadget('one'));
  const message = `object is being deleted: gadgets.${gadgetGroup} "one" already exists`;
  expect(body).toMatchObject({ code: 409, reason: 'AlreadyExists', message });
});

it('the namespaces default and kube-system cannot be deleted', async () => {
  for (const name of ['default', 'kube-system']) {
    const { body } = await wire.remove(`/api/v1/namespaces/${name}`);
    const message = `namespaces "${name}" is forbidden: this namespace may not be deleted`;
    expect(body).toMatchObject({ code: 403, reason: 'Forbidden', message });
  }
});

it('a deletion of an object with finalizers sets deletionTimestamp and raises the generation by one', async () => {
  const { main } = await createGadget({ size: 1 }, twoFinalizers);
  const removed = await wire.remove(main);
  expect(removed.status).toBe(200);
  expect(removed.body).toMatchObject({
    kind: 'Gadget',
    metadata: { name: 'one', generation: 2, deletionGracePeriodSeconds: 0, finalizers: twoFinalizers.finalizers },
  });
  expect(removed.body.metadata?.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect((await wire.get(main)).body).toEqual(removed.body);
  await wire.mergePatch(main, { metadata: { finalizers: null } });
});

it('a second deletion of a terminating object changes nothing', async () => {
  const one = await terminating();
  const before = await wire.get(one);
  expect((await wire.remove(one)).body).toEqual(before.body);
  await wire.mergePatch(one, { metadata: { finalizers: null } });
});

it('an update of the spec of a terminating object raises its generation', async () => {
  const one = await terminating();
  const edited = await wire.mergePatch(one, { spec: { size: 3 } });
  expect(edited.body).toMatchObject({ metadata: { generation: 3 }, spec: { size: 3 } });
  const status = await wire.mergePatch(`${one}/status`, { status: { phase: 'Down' }, metadata: { finalizers: null } });
  expect(status.body).toMatchObject({
    metadata: { generation: 3, finalizers: twoFinalizers.finalizers },
    status: { phase: 'Down' },
  });
  await wire.mergePatch(one, { metadata: { finalizers: null } });
});

it('an update of a terminating object cannot remove deletionTimestamp or add a finalizer', async () => {
  const one = await terminating();
  const { metadata } = (await wire.get(one)).body;
  const undone = await wire.mergePatch(one, { metadata: { deletionTimestamp: null } });
  expect(undone.body.metadata?.deletionTimestamp).toBe(metadata?.deletionTimestamp);
  const added = await wire.mergePatch(one, {
    metadata: { finalizers: [...twoFinalizers.finalizers, 'example.org/c'] },
  });
  expect(added.status).toBe(422);
  expect(added.body.details?.causes?.[0]).toEqual({
    reason: 'FieldValueForbidden',
    message:
      'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ' +
      '[]string{"example.org/c"}',
    field: 'metadata.finalizers',
  });
  await wire.mergePatch(one, { metadata: { finalizers: null } });
});

const [background, foreground] = [{ propagationPolicy: 'Background' }, { propagationPolicy: 'Foreground' }];
it.each<[string, string[], object[], unknown]>([
  ['with a policy as finalizer has that policy', ['foregroundDeletion'], [{}], ['foregroundDeletion']],
  ['in the background removes the finalizer of a policy', ['foregroundDeletion'], [background], undefined],
  ['that orphans changes the finalizer of a policy', ['foregroundDeletion'], [{ orphanDependents: true }], ['orphan']],
  ['without a policy after one keeps it', [], [foreground, {}], ['foregroundDeletion']],
  ['in the background after one in the foreground ends that', [], [foreground, background], undefined],
])('a deletion %s', async (_what, finalizers, deletions, expected) => {
  const { ns, main, made } = await createGadget({ size: 1 }, { finalizers });
  const { apiVersion, kind, metadata: { name, uid } = {} } = made;
  // No collector removes the finalizer while a dependent is held.
  const ownerReferences = [{ apiVersion, kind, name, uid, blockOwnerDeletion: true }];
  const held = { metadata: { name: 'held', ownerReferences, finalizers: ['example.org/hold'] } };
  await wire.post(`/api/v1/namespaces/${ns}/configmaps`, held);
  const answers = [];
  for (const options of deletions) answers.push(await wire.remove(main, options));
  expect(answers.at(-1)?.body.metadata?.finalizers).toEqual(expected);
  await wire.mergePatch(`/api/v1/namespaces/${ns}/configmaps/held`, { metadata: { finalizers: null } });
});

it('a deletion of a Job without a policy keeps its pods, and warns', async () => {
  const jobs = `/apis/batch/v1/namespaces/${await namespace()}/jobs`;
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  await wire.post(jobs, { metadata: { name: 'one' }, spec: { suspend: true, template } });
  const { body, warnings } = await wire.remove(`${jobs}/one`);
  expect(body.metadata?.finalizers).toEqual(['orphan']);
  expect(warnings).toEqual([expect.stringContaining('child pods are preserved by default when jobs are deleted')]);
});

it('a terminating object is removed with its last finalizer, and a stale version is a Conflict', async () => {
  const one = await terminating();
  const stale = (await wire.get(one)).body.metadata?.resourceVersion;
  const first = await wire.mergePatch(one, { metadata: { resourceVersion: stale, finalizers: ['example.org/b'] } });
  expect(first.body.metadata?.finalizers).toEqual(['example.org/b']);
  const conflict = await wire.mergePatch(one, { metadata: { resourceVersion: stale, finalizers: [] } });
  expect(conflict.body).toMatchObject({ code: 409, reason: 'Conflict' });
  const version = first.body.metadata?.resourceVersion;
  const last = await wire.mergePatch(one, { metadata: { resourceVersion: version, finalizers: [] } });
  expect(last.status).toBe(200);
  expect(last.body).toMatchObject({ kind: 'Gadget', metadata: { name: 'one', resourceVersion: version } });
  expect((await wire.get(one)).status).toBe(404);
});

it('a replacement without finalizers removes a terminating object', async () => {
  const one = await terminating();
  const { body } = await wire.get(one);
  await wire.put(one, { ...body, metadata: { ...body.metadata, finalizers: [] } });
  expect((await wire.get(one)).status).toBe(404);
});

it('a watch sends MODIFIED for the deletionTimestamp and DELETED with the last finalizers', async () => {
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

it('a deletion with the current uid and version removes the object', async () => {
  const {
    main,
    made: { metadata },
  } = await createGadget();
  const preconditions = { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion };
  expect((await wire.remove(main, { preconditions })).status).toBe(200);
  expect((await wire.get(main)).status).toBe(404);
});

it('a deletion of a collection with a selector returns the deleted objects and keeps the others', async () => {
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

it('a namespace with a finalizer stays while it is terminating, with the conditions of its status', async () => {
  const path = `/api/v1/namespaces/${await namespace()}`;
  await wire.mergePatch(path, { metadata: { finalizers: ['example.org/a'] } });
  const conditions = [{ type: 'example.org/Ready', status: 'False', reason: 'No', message: '' }];
  await wire.mergePatch(`${path}/status`, { status: { conditions } });
  await wire.remove(path);
  await setImmediate();
  const { body } = await wire.get(path);
  expect(body).toMatchObject({ status: { phase: 'Terminating', conditions: [{ type: 'example.org/Ready' }] } });
  await wire.mergePatch(path, { metadata: { finalizers: null } });
});

it('a create in a terminating namespace is Forbidden with the cause NamespaceTerminating', async () => {
  const { ns, main } = await createGadget({ size: 1 }, { finalizers: ['example.org/a'] });
  expect((await wire.remove(`/api/v1/namespaces/${ns}`)).body).toMatchObject({ status: { phase: 'Terminating' } });
  const rejected = await wire.post(gadgets(ns), gadget('late'));
  expect(rejected.body).toMatchObject({
    code: 403,
    reason: 'Forbidden',
    details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
  });
  await wire.mergePatch(main, { metadata: { finalizers: null } });
});
