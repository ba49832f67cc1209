// Conformance: create, read and replace of one object, and the errors of these verbs.
import { expect, it } from 'vitest';
import { gadget, gadgetApiVersion, gadgets, plinth, plinths } from './gadget.ts';
import { useSuite } from './suite.ts';

const uidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const secondsPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

const { wire, namespace, createGadget } = await useSuite();

it('a created object gets a uid, a version, a creation time in whole seconds and generation 1', async () => {
  const { ns, main, made } = await createGadget({ size: 2 }, { labels: { a: 'b' } });
  expect(made).toMatchObject({
    apiVersion: gadgetApiVersion,
    kind: 'Gadget',
    metadata: { name: 'one', namespace: ns, generation: 1, labels: { a: 'b' } },
    spec: { size: 2 },
  });
  expect(made.metadata?.uid).toMatch(uidPattern);
  expect(made.metadata?.creationTimestamp).toMatch(secondsPattern);
  expect(made.metadata?.resourceVersion).toMatch(/^\d+$/);
  expect((await wire.get(main)).body).toEqual(made);
});

it('a create ignores uid, creationTimestamp, generation and deletionTimestamp in the body', async () => {
  const ns = await namespace();
  const time = '2001-01-01T00:00:00Z';
  const forged = { uid: 'x', generation: 7, creationTimestamp: time, deletionTimestamp: time };
  const { metadata } = (await wire.post(gadgets(ns), gadget('one', { size: 1 }, forged))).body;
  expect(metadata?.uid).toMatch(uidPattern);
  expect(metadata?.generation).toBe(1);
  expect(metadata?.creationTimestamp).not.toContain('2001');
  expect(metadata?.deletionTimestamp).toBeUndefined();
});

it('a re-created object has a new uid and generation 1', async () => {
  const { ns, main, made } = await createGadget();
  await wire.mergePatch(main, { spec: { size: 5 } });
  await wire.remove(main);
  const second = await wire.post(gadgets(ns), gadget('one'));
  expect(second.body.metadata?.uid).not.toBe(made.metadata?.uid);
  expect(second.body.metadata?.generation).toBe(1);
});

it('a replacement with another spec raises the generation by one and keeps uid and creation time', async () => {
  const { main, made } = await createGadget();
  const { metadata } = made;
  const version = { resourceVersion: metadata?.resourceVersion };
  const replaced = await wire.put(main, gadget('one', { size: 9 }, version));
  expect(replaced.status).toBe(200);
  expect(replaced.body.metadata).toMatchObject({
    uid: metadata?.uid,
    creationTimestamp: metadata?.creationTimestamp,
    generation: 2,
  });
  expect(replaced.body.metadata?.resourceVersion).not.toBe(metadata?.resourceVersion);
});

it('a change of labels, annotations or finalizers changes the version and not the generation', async () => {
  const { main, made } = await createGadget();
  const metadata = { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['example.org/hold'] };
  const changed = await wire.mergePatch(main, { metadata });
  expect(changed.body.metadata?.generation).toBe(1);
  expect(changed.body.metadata?.resourceVersion).not.toBe(made.metadata?.resourceVersion);
  await wire.mergePatch(main, { metadata: { finalizers: null } });
});

const binding = { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' } };
it.each<[string, string, object]>([
  ['/apis/coordination.k8s.io/v1', 'leases', { spec: { holderIdentity: 'a' } }],
  [
    '/apis/rbac.authorization.k8s.io/v1',
    'roles',
    { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  ],
  ['/apis/rbac.authorization.k8s.io/v1', 'rolebindings', binding],
  ['/api/v1', 'limitranges', { spec: { limits: [] } }],
  ['/api/v1', 'services', { spec: { ports: [{ port: 80 }] } }],
])('a replacement of a missing object in %s/%s creates it, at any version but not with a uid', async (group, plural, content) => {
  const ns = await namespace();
  const path = `${group}/namespaces/${ns}/${plural}/one`;
  const withUid = await wire.put(path, { metadata: { name: 'one', uid: 'x' }, ...content });
  expect(withUid.body).toMatchObject({ code: 409, message: expect.stringContaining('UID in precondition: x, UID in') });
  const query = { fieldManager: 'alpha' };
  expect((await wire.put(path, { metadata: { name: 'one' }, ...content }, { ...query, dryRun: 'All' })).status).toBe(
    201,
  );
  expect((await wire.get(path)).status).toBe(404);
  const made = await wire.put(path, { metadata: { name: 'one', resourceVersion: '7' }, ...content }, query);
  expect(made).toMatchObject({ status: 201, body: { metadata: { namespace: ns, name: 'one' } } });
  expect(made.body.metadata?.managedFields).toMatchObject([{ manager: 'alpha', operation: 'Update' }]);
  expect((await wire.put(path, made.body, query)).status).toBe(200);
});

it('a replacement of a missing object of another kind, and a patch of one, are NotFound', async () => {
  const ns = await namespace();
  const maps = `/api/v1/namespaces/${ns}/configmaps/one`;
  expect((await wire.put(maps, { metadata: { name: 'one' } })).status).toBe(404);
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases/one`;
  expect((await wire.mergePatch(lease, { spec: { holderIdentity: 'a' } })).status).toBe(404);
});

it('a replacement without a change keeps the version', async () => {
  const { main, made: body } = await createGadget();
  const again = await wire.put(main, body);
  expect(again.status).toBe(200);
  expect(again.body.metadata?.resourceVersion).toBe(body.metadata?.resourceVersion);
});

it('a version that is no number is an error of the server in an update, and does not count in a create', async () => {
  const { ns, main, made } = await createGadget();
  const metadata = { ...made.metadata, resourceVersion: 'x' };
  const message = 'strconv.ParseUint: parsing "x": invalid syntax';
  expect((await wire.put(main, { ...made, metadata })).body).toMatchObject({ code: 500, message });
  for (const resourceVersion of ['x', '0', '0x7']) {
    const two = gadget(`two-${resourceVersion}`, { size: 1 }, { resourceVersion });
    expect((await wire.post(gadgets(ns), two)).status).toBe(201);
  }
  const three = gadget('three', { size: 1 }, { resourceVersion: '7' });
  expect((await wire.post(gadgets(ns), three, { dryRun: 'All' })).status).toBe(201);
  expect((await wire.post(gadgets(ns), three)).status).toBe(500);
});

it('a change outside metadata raises the generation of a kind without status subresource', async () => {
  const made = await wire.post(plinths(), plinth(`p-${crypto.randomUUID()}`, { status: { seen: 1 } }));
  const path = plinths(made.body.metadata?.name);
  expect(made.body.status).toEqual({ seen: 1 });
  expect((await wire.mergePatch(path, { status: { seen: 2 } })).body.metadata?.generation).toBe(2);
  expect((await wire.mergePatch(path, { metadata: { labels: { a: 'b' } } })).body.metadata?.generation).toBe(2);
  expect((await wire.put(`${path}/status`, made.body)).status).toBe(404);
  await wire.remove(path);
});

it('N2: fields come in the order of the server, and the keys of maps are sorted', async () => {
  const ns = await namespace();
  const metadata = { labels: { z: '1', a: '2' }, name: 'one' };
  const core = `/api/v1/namespaces/${ns}`;
  const { body: map } = await wire.post(`${core}/configmaps`, { data: { b: '1', a: '2' }, metadata });
  expect(Object.keys(Object(map.data))).toEqual(['a', 'b']);
  expect(Object.keys(Object(map.metadata?.labels))).toEqual(['a', 'z']);
  const spec = { selector: { z: '1', a: '2' }, ports: [{ targetPort: 81, port: 80, name: 'b' }] };
  const { body: service } = await wire.post(`${core}/services`, { spec, metadata });
  expect(Object.keys(Object(service))).toEqual(['kind', 'apiVersion', 'metadata', 'spec', 'status']);
  expect(JSON.stringify(service.spec)).toMatch(
    /^\{"ports":\[\{"name":"b","protocol":"TCP","port":80,"targetPort":81\}\],"selector":\{"a":"2","z":"1"\},"clusterIP":/,
  );
  const { metadata: ours, ...rest } = gadget('one', { size: 1 }, metadata);
  await wire.post(gadgets(ns), { metadata: ours, ...rest });
  const { body: made } = await wire.mergePatch(gadgets(ns, 'one'), { metadata: { annotations: { y: '1', b: '2' } } });
  expect(Object.keys(Object(made))).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
  expect(Object.keys(Object(made.metadata)).slice(0, 2)).toEqual(['annotations', 'creationTimestamp']);
  expect(Object.keys(Object(made.metadata?.annotations))).toEqual(['b', 'y']);
});
