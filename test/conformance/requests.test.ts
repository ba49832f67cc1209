// Conformance: validation of requests: names, metadata, body and URL, media types, and dry runs.
import { expect, it } from 'vitest';
import { gadget, gadgetApiVersion, gadgetGroup, gadgets, plinth, plinths } from './gadget.ts';
import { useSuite } from './suite.ts';

const { wire, namespace, createGadget } = await useSuite();

it.each([
  'Bad_Name',
  '-a',
  'a-',
  'a..b',
  'a b',
  'a/b',
  `${'a'.repeat(254)}`,
])('the name %s is Invalid with a cause at metadata.name', async (name) => {
  const ns = await namespace();
  const rejected = await wire.post(gadgets(ns), gadget(name));
  expect(rejected.body).toMatchObject({
    code: 422,
    reason: 'Invalid',
    details: { name, group: gadgetGroup, kind: 'Gadget' },
  });
  expect(rejected.body.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'metadata.name' });
  expect(rejected.body.message).toContain(`Gadget.${gadgetGroup} "${name}" is invalid`);
});

it('a name of 253 characters with dots and dashes is accepted', async () => {
  const ns = await namespace();
  const name = `a-1.${'b'.repeat(249)}`;
  expect((await wire.post(gadgets(ns), gadget(name))).status).toBe(201);
  expect((await wire.get(gadgets(ns, name))).body.metadata?.name).toBe(name);
});

it('generateName gets a suffix of five characters, and a long prefix is cut', async () => {
  const ns = await namespace();
  const make = (generateName: string) => wire.post(gadgets(ns), { ...gadget('x'), metadata: { generateName } });
  const [first, second] = [await make('item-'), await make('item-')];
  expect(first.body.metadata?.name).toMatch(/^item-[a-z0-9]{5}$/);
  expect(first.body.metadata?.generateName).toBe('item-');
  expect(second.body.metadata?.name).not.toBe(first.body.metadata?.name);
  expect((await make('f'.repeat(80))).body.metadata?.name).toMatch(/^f{58}[a-z0-9]{5}$/);
});

const owner = { apiVersion: 'v1', kind: 'X', name: 'x' };
it.each([
  ['a label key', { labels: { 'a b': 'x' } }, 'metadata.labels'],
  ['a label value', { labels: { a: 'b c' } }, 'metadata.labels'],
  ['a label value of 64 characters', { labels: { a: 'x'.repeat(64) } }, 'metadata.labels'],
  ['an annotation key', { annotations: { 'a b': 'x' } }, 'metadata.annotations'],
  ['a finalizer', { finalizers: ['a b'] }, 'metadata.finalizers'],
  ['an owner without uid', { ownerReferences: [owner] }, 'metadata.ownerReferences.uid'],
])('%s that is not allowed is Invalid with a cause at its field', async (_what, metadata, field) => {
  const ns = await namespace();
  const rejected = await wire.post(gadgets(ns), gadget('one', { size: 1 }, metadata));
  expect(rejected.status).toBe(422);
  expect(rejected.body.details?.causes?.map((cause) => cause.field)).toContain(field);
});

const large = { a: 'x'.repeat(262_144) };
const tooLong = 'Too long: may not be more than 262144 bytes';
it.each([
  ['no name', { name: undefined }, 'Required', 'name', 'Required value: name or generateName is required'],
  ['annotations of more than 256 KiB', { annotations: large }, 'TooLong', 'annotations', tooLong],
])('an object with %s is Invalid', async (_what, metadata, reason, field, message) => {
  const rejected = await wire.post(gadgets(await namespace()), gadget('one', { size: 1 }, metadata));
  expect(rejected.status).toBe(422);
  const cause = { reason: `FieldValue${reason}`, field: `metadata.${field}`, message };
  expect(rejected.body.details?.causes).toContainEqual(cause);
});

it('two owner references with controller true are Invalid', async () => {
  const ownerReferences = ['1', '2'].map((uid) => ({ apiVersion: 'v1', kind: 'X', controller: true, name: uid, uid }));
  const rejected = await wire.post(gadgets(await namespace()), gadget('one', { size: 1 }, { ownerReferences }));
  expect(rejected.status).toBe(422);
  expect(rejected.body.message).toContain('Only one reference can have Controller set to true');
});

it.each([
  ['another namespace than the URL', (ns: string) => gadget('q', { size: 1 }, { namespace: `not-${ns}` }), 400],
  ['another apiVersion', () => ({ ...gadget('q'), apiVersion: 'v1' }), 400],
  ['another kind', () => plinth('q'), 422],
  ['no kind', () => ({ apiVersion: gadgetApiVersion, metadata: { name: 'q' }, spec: { size: 1 } }), 400],
  ['incomplete JSON', () => '{"a":', 400],
  ['an array', () => '[]', 400],
  ['an empty body', () => '', 400],
  ['a label that is a number', () => gadget('q', { size: 1 }, { labels: { a: 1 } }), 400],
])('a create with %s is rejected', async (_what, content, status) => {
  const ns = await namespace();
  const rejected = await wire.post(gadgets(ns), content(ns));
  expect(rejected.status).toBe(status);
  expect(rejected.body).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
});

it.each([
  ['application/yaml', `apiVersion: ${gadgetApiVersion}\nkind: Gadget\nmetadata: {name: one}\nspec:\n  size: 4\n`, 201],
  ['', gadget('one', { size: 4 }), 201],
  ['text/plain', gadget('one'), 415],
])('a create with the content type "%s" is read as YAML, JSON or not at all', async (contentType, content, status) => {
  const { body, status: received } = await wire.request('POST', gadgets(await namespace()), content, { contentType });
  expect(received).toBe(status);
  expect(body).toMatchObject(status === 201 ? { spec: { size: 4 } } : { code: 415, reason: 'UnsupportedMediaType' });
});

it('a read without an acceptable media type is NotAcceptable, and JSON as second choice is used', async () => {
  const ns = await namespace();
  expect((await wire.get(gadgets(ns), {}, 'text/html')).body).toMatchObject({ code: 406, reason: 'NotAcceptable' });
  const choice = await wire.get(gadgets(ns), {}, 'application/vnd.kubernetes.protobuf;q=0.9,application/json');
  expect(choice.contentType).toBe('application/json');
});

it('a dry run has the response of a real request and stores nothing', async () => {
  const ns = await namespace();
  const made = await wire.post(gadgets(ns), gadget('one'), { dryRun: 'All' });
  expect(made.status).toBe(201);
  expect(made.body.metadata?.resourceVersion).toBeUndefined();
  expect((await wire.get(gadgets(ns, 'one'))).status).toBe(404);
  await wire.post(gadgets(ns), gadget('one'));
  expect((await wire.mergePatch(gadgets(ns, 'one'), { spec: { size: 7 } }, { dryRun: 'All' })).body.spec?.size).toBe(7);
  expect((await wire.remove(gadgets(ns, 'one'), undefined, { dryRun: 'All' })).status).toBe(200);
  expect((await wire.get(gadgets(ns, 'one'))).body.spec?.size).toBe(1);
  expect((await wire.post(gadgets(ns), gadget('two', { size: -1 }), { dryRun: 'All' })).status).toBe(422);
});

it('a write to an unknown subresource, or to a namespaced kind without a namespace, is a 404', async () => {
  const { ns } = await createGadget();
  expect((await wire.put(gadgets(ns, 'one', 'nonsense'), gadget('one'))).status).toBe(404);
  expect((await wire.post(`/apis/${gadgetApiVersion}/gadgets`, gadget('one'))).status).toBe(404);
});

it('an object of the cluster loses its namespace, and an empty one is that of the URL', async () => {
  const ns = await namespace();
  expect((await wire.post(gadgets(ns), gadget('one', { size: 1 }, { namespace: '' }))).body.metadata?.namespace).toBe(
    ns,
  );
  const name = `${ns}-p`;
  const metadata = { namespace: ns, labels: { a: 'b' } };
  const writes = [
    await wire.post(plinths(), plinth(name, {}, { namespace: ns })),
    await wire.mergePatch(plinths(name), { metadata }),
    await wire.apply(plinths(name), 'alpha', plinth(name, {}, metadata)),
  ];
  expect(writes.map(({ body }) => body.metadata)).toEqual(writes.map(() => expect.objectContaining({ name })));
  for (const { body } of writes) expect(body.metadata?.namespace).toBeUndefined();
  await wire.remove(plinths(name));
});

const admission = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
const rule = { apiGroups: ['example.org'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['a'] };
const policy = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] };
it.each<[string, object | undefined]>([
  [`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.${gadgetGroup}`, undefined],
  [`${admission}ies/versionless.example.org`, policy],
  [`${admission}ybindings/versionless.example.org`, { policyName: 'none', validationActions: ['Deny'] }],
])('a replacement of %s without a version is Invalid', async (path, spec) => {
  const [, collection = '', name = ''] = /^(.*)\/(.*)$/.exec(path) ?? [];
  if (spec !== undefined) expect((await wire.post(collection, { metadata: { name }, spec })).status).toBe(201);
  const { metadata: _, ...live } = (await wire.get(path)).body;
  const { body } = await wire.put(path, { ...live, metadata: { name } });
  expect(body.details?.causes?.map((cause) => cause.field)).toEqual(['metadata.resourceVersion']);
  if (spec !== undefined) await wire.remove(path);
});
