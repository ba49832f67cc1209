// Conformance: the core kinds that controllers use most, where they differ from custom resources: no generation, PUT
// without a version, the data of Secrets. Also Events of both APIs.
import { expect, it } from 'vitest';
import { gadgetApiVersion, pathOf } from './gadget.ts';
import { useSuite } from './suite.ts';

const { wire, namespace } = await useSuite();

const core = (ns: string, resource: string, name?: string): string =>
  pathOf(`/api/v1/namespaces/${ns}/${resource}`, name);

it.each([
  ['configmaps', { data: { a: 'b' } }, { data: { a: 'c' } }],
  ['secrets', { data: { a: 'Yg==' } }, { data: { a: 'Yw==' } }],
  ['services', { spec: { ports: [{ port: 80 }] } }, { spec: { ports: [{ port: 81 }] } }],
])('%s have no generation, and a change raises the version', async (resource, content, change) => {
  const ns = await namespace();
  const made = await wire.post(core(ns, resource), { metadata: { name: 'one' }, ...content });
  expect(made.status).toBe(201);
  expect(made.body.metadata?.generation).toBeUndefined();
  const changed = await wire.mergePatch(core(ns, resource, 'one'), change);
  expect(changed.body.metadata?.generation).toBeUndefined();
  expect(Number(changed.body.metadata?.resourceVersion)).toBeGreaterThan(Number(made.body.metadata?.resourceVersion));
});

it('a namespace has no generation, has its name as a label, and is Active', async () => {
  const ns = await namespace();
  const { body } = await wire.get(`/api/v1/namespaces/${ns}`);
  expect(body.metadata?.generation).toBeUndefined();
  const label = { 'kubernetes.io/metadata.name': ns };
  expect(body.metadata?.labels).toMatchObject(label);
  const renamed = { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } };
  expect((await wire.mergePatch(`/api/v1/namespaces/${ns}`, renamed)).body.metadata?.labels).toMatchObject(label);
  expect(body.status).toEqual({ phase: 'Active' });
});

it('the namespaces default and kube-system exist', async () => {
  expect((await wire.get('/api/v1/namespaces/default')).status).toBe(200);
  expect((await wire.get('/api/v1/namespaces/kube-system')).body.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
});

it('a core object without kind and apiVersion is accepted, and a PUT without a version replaces it', async () => {
  const ns = await namespace();
  const made = await wire.post(core(ns, 'configmaps'), { metadata: { name: 'one' }, data: { a: 'b' } });
  expect(made.body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
  const replaced = await wire.put(core(ns, 'configmaps', 'one'), { metadata: { name: 'one' }, data: { c: 'd' } });
  expect(replaced.body.data).toEqual({ c: 'd' });
  expect(replaced.body.metadata?.uid).toBe(made.body.metadata?.uid);
});

it('a null in labels, annotations or the data of a config map is an empty string', async () => {
  const ns = await namespace();
  const metadata = { name: 'one', labels: { a: null }, annotations: { b: null } };
  const made = await wire.post(core(ns, 'configmaps'), { metadata, data: { c: null } });
  expect(made.body).toMatchObject({ metadata: { labels: { a: '' }, annotations: { b: '' } }, data: { c: '' } });
});

it('a config map with an invalid key, and a change of an immutable config map, are Invalid', async () => {
  const ns = await namespace();
  const rejected = await wire.post(core(ns, 'configmaps'), { metadata: { name: 'one' }, data: { 'a b': 'c' } });
  expect(rejected.body).toMatchObject({ code: 422, details: { causes: [{ field: 'data[a b]' }] } });
  await wire.post(core(ns, 'configmaps'), { metadata: { name: 'two' }, data: { a: 'b' }, immutable: true });
  const fixed = await wire.mergePatch(core(ns, 'configmaps', 'two'), { data: { a: 'c' } });
  expect(fixed.body).toMatchObject({
    code: 422,
    details: { causes: [{ field: 'data', reason: 'FieldValueForbidden' }] },
  });
});

it('a secret stores stringData as data, has the default type Opaque, and rejects invalid base64', async () => {
  const ns = await namespace();
  const made = await wire.post(core(ns, 'secrets'), {
    metadata: { name: 'one' },
    stringData: { a: 'b' },
    data: { c: 'ZA==' },
  });
  expect(made.body).toMatchObject({ kind: 'Secret', data: { a: 'Yg==', c: 'ZA==' }, type: 'Opaque' });
  expect(JSON.stringify(made.body)).not.toContain('stringData');
  const rejected = await wire.post(core(ns, 'secrets'), { metadata: { name: 'two' }, data: { c: '%%' } });
  expect(rejected.body).toMatchObject({ code: 400, reason: 'BadRequest' });
});

it('keys of an applied config map have separate owners', async () => {
  const ns = await namespace();
  const map = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data });
  const path = core(ns, 'configmaps', 'one');
  const made = await wire.apply(path, 'alpha', map({ a: 'b', c: 'd' }));
  expect(made.status).toBe(201);
  expect(made.body.metadata?.managedFields?.[0]?.fieldsV1).toEqual({ 'f:data': { 'f:a': {}, 'f:c': {} } });
  await wire.apply(path, 'beta', map({ e: 'f' }));
  const dropped = await wire.apply(path, 'alpha', map({ a: 'b' }));
  expect(dropped.body.data).toEqual({ a: 'b', e: 'f' });
  const again = await wire.apply(path, 'alpha', map({ a: 'b' }));
  expect(again.body.metadata?.resourceVersion).toBe(dropped.body.metadata?.resourceVersion);
});

it('keys that are names of Object.prototype are data like others in writes, applies and patches', async () => {
  const ns = await namespace();
  const path = core(ns, 'configmaps', 'one');
  const read = async (): Promise<unknown> => Object.entries((await wire.get(path)).body.data ?? {}).toSorted();
  const map = (data: string): string =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":${data}}`;
  await wire.post(core(ns, 'configmaps'), map('{"__proto__":"a","constructor":"b"}'));
  expect(await read()).toEqual(Object.entries(JSON.parse('{"__proto__":"a","constructor":"b"}')));
  await wire.apply(path, 'alpha', map('{"toString":"c","valueOf":"d"}'));
  await wire.mergePatch(path, '{"data":{"__proto__":"e","constructor":null,"hasOwnProperty":"f"}}');
  await wire.jsonPatch(path, [{ op: 'add', path: '/data/isPrototypeOf', value: 'g' }]);
  await wire.apply(path, 'alpha', map('{"valueOf":"d"}'));
  expect(await read()).toEqual([
    ['__proto__', 'e'],
    ['hasOwnProperty', 'f'],
    ['isPrototypeOf', 'g'],
    ['valueOf', 'd'],
  ]);
  const missing = await wire.jsonPatch(path, [{ op: 'remove', path: '/data/constructor' }]);
  expect(missing.status).toBe(422);
});

it('a service of type NodePort has a port of each node, which later writes keep', async () => {
  const one = core(await namespace(), 'services', 'one');
  const service = (spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'one' }, spec });
  const affinity = { sessionAffinity: 'ClientIP', sessionAffinityConfig: {} };
  const spec = { type: 'NodePort', ...affinity, ports: [{ port: 80, targetPort: 0 }] };
  const made = await wire.apply(one, 'alpha', service(spec));
  const ports = [{ port: 80, protocol: 'TCP', targetPort: 80, nodePort: expect.any(Number) }];
  const sessionAffinityConfig = { clientIP: { timeoutSeconds: 10_800 } };
  expect(made.body.spec).toMatchObject({ externalTrafficPolicy: 'Cluster', sessionAffinityConfig, ports });
  const again = await wire.apply(one, 'alpha', service({ ...spec, selector: { a: 'b' } }));
  expect(again.body.spec?.ports).toEqual(made.body.spec?.ports);
});

it('config maps are selected by label and name, services by their type, namespaces by their phase', async () => {
  const ns = await namespace();
  await wire.post(core(ns, 'configmaps'), { metadata: { name: 'one', labels: { ours: 'yes' } } });
  await wire.post(core(ns, 'configmaps'), { metadata: { name: 'two' } });
  await wire.post(core(ns, 'services'), { metadata: { name: 'one' }, spec: { ports: [{ port: 80 }] } });
  const named = async (path: string, query: Readonly<Record<string, string>>) =>
    (await wire.get(path, query)).body.items?.map((item) => item.metadata?.name);
  expect(await named(core(ns, 'configmaps'), { labelSelector: 'ours=yes' })).toEqual(['one']);
  expect(await named(core(ns, 'configmaps'), { fieldSelector: 'metadata.name=two' })).toEqual(['two']);
  expect(await named(core(ns, 'services'), { fieldSelector: 'spec.type=ClusterIP' })).toEqual(['one']);
  expect(await named(core(ns, 'services'), { fieldSelector: 'spec.type=NodePort' })).toEqual([]);
  const spaces = { fieldSelector: `status.phase=Active,metadata.name=${ns}` };
  expect(await named('/api/v1/namespaces', spaces)).toEqual([ns]);
  const { body } = await wire.get(core(ns, 'configmaps'), { fieldSelector: 'data.a=b' });
  expect(body).toMatchObject({ code: 400, message: expect.stringContaining('is not a known field selector') });
});

it.each<[string, string, object]>([
  ['a value of a wrong type', 'patch', { data: { a: 1 } }],
  ['a finalizer without a domain', 'metadata.finalizers[0]', { metadata: { finalizers: ['mine'] } }],
])('a merge patch of a config map with %s is Invalid at %s', async (_what, field, patch) => {
  const ns = await namespace();
  await wire.post(core(ns, 'configmaps'), { metadata: { name: 'one' } });
  const { body } = await wire.mergePatch(core(ns, 'configmaps', 'one'), patch);
  expect(body).toMatchObject({ code: 422, reason: 'Invalid' });
  expect(body.details?.causes).toContainEqual(expect.objectContaining({ reason: 'FieldValueInvalid', field }));
});

it('items of a list of a core kind have no kind', async () => {
  const ns = await namespace();
  await wire.post(core(ns, 'configmaps'), { metadata: { name: 'one' } });
  const { body } = await wire.get(core(ns, 'configmaps'));
  expect(body.kind).toBe('ConfigMapList');
  expect(body.items?.map(({ kind }) => kind)).not.toContain('ConfigMap');
});

it('an event of an object in another namespace is Invalid, and a field selector finds it by object', async () => {
  const ns = await namespace();
  const involvedObject = { apiVersion: gadgetApiVersion, kind: 'Gadget', name: 'one', namespace: ns };
  const event = {
    metadata: { name: 'one.1' },
    involvedObject,
    reason: 'Filled',
    message: 'm',
    type: 'Normal',
    count: 1,
  };
  expect((await wire.post(core(ns, 'events'), event)).status).toBe(201);
  const elsewhere = { ...event, involvedObject: { ...involvedObject, namespace: 'default' } };
  expect((await wire.post(core(ns, 'events'), elsewhere)).body).toMatchObject({
    code: 422,
    details: { causes: [{ field: 'involvedObject.namespace' }] },
  });
  const found = await wire.get(core(ns, 'events'), { fieldSelector: 'involvedObject.name=one,type=Normal' });
  expect(found.body.items?.map((item) => item.reason)).toEqual(['Filled']);
  const none = await wire.get(core(ns, 'events'), { fieldSelector: 'involvedObject.name=two' });
  expect(none.body.items).toEqual([]);
});

it('an event of events.k8s.io is readable as a v1 event with other field names, and has no generation', async () => {
  const ns = await namespace();
  const events = `/apis/events.k8s.io/v1/namespaces/${ns}/events`;
  const regarding = { apiVersion: gadgetApiVersion, kind: 'Gadget', name: 'one', namespace: ns };
  const event = {
    metadata: { name: 'one.1' },
    regarding,
    reason: 'Filled',
    action: 'Reconcile',
    note: 'full',
    type: 'Normal',
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'example.org/c',
    reportingInstance: 'i',
  };
  const made = await wire.post(events, event);
  expect(made.status).toBe(201);
  expect(made.body.metadata?.generation).toBeUndefined();
  const old = JSON.parse((await wire.get(core(ns, 'events', 'one.1'))).text);
  expect(old).toMatchObject({
    kind: 'Event',
    message: 'full',
    involvedObject: regarding,
    reportingComponent: 'example.org/c',
  });
  const series = { series: { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' } };
  expect((await wire.mergePatch(`${events}/one.1`, series)).status).toBe(200);
  const withoutTime = { ...event, metadata: { name: 'one.2' }, eventTime: null };
  expect((await wire.post(events, withoutTime)).body.details?.causes).toContainEqual({
    reason: 'FieldValueRequired',
    message: 'Required value',
    field: 'eventTime',
  });
});

it.each([
  '2026-01-01t00:00:00Z',
  '2026-01-01T00:00:00z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:00+99:00',
])('the time %s is a bad request in a core kind', async (firstTimestamp) => {
  const events = core(await namespace(), 'events');
  const made = await wire.post(events, { metadata: { name: 'one' }, involvedObject: {}, firstTimestamp });
  expect(made).toMatchObject({ status: 400, text: expect.stringContaining('parsing time') });
});

it('a time is stored in UTC and in whole seconds', async () => {
  const events = core(await namespace(), 'events');
  const times = { firstTimestamp: '2026-01-01T02:00:00.9+02:00', lastTimestamp: '2026-01-01T00:00:01Z' };
  const more = { eventTime: '2026-01-01T01:00:00.123456+01:00', action: 'Reconcile', reason: 'Filled', type: 'Normal' };
  const by = { reportingComponent: 'example.org/c', reportingInstance: 'i' };
  const involvedObject = { apiVersion: 'v1', kind: 'Namespace', name: 'x', namespace: events.split('/')[4] };
  const made = await wire.post(events, { metadata: { name: 'one' }, involvedObject, ...times, ...more, ...by });
  expect(made.body).toMatchObject({
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:01Z',
    eventTime: '2026-01-01T00:00:00.123456Z',
  });
});
