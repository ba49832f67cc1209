// Conformance: server-side apply of single fields: which are removed, which are shared, and how lists and maps merge.
import { expect, it } from 'vitest';
import type { Body } from './body.ts';
import { gadget } from './gadget.ts';
import { useSuite } from './suite.ts';

const { wire, namespace, gadgetToApply } = await useSuite();

it('an apply without a field removes it if the manager was its only owner', async () => {
  const { apply } = await gadgetToApply();
  const metadata = { labels: { a: 'b' }, annotations: { c: 'd' } };
  await apply('alpha', { size: 1, color: 'red', free: { x: 1 } }, metadata);
  const { body } = await apply('alpha', { size: 1 });
  expect(body.spec).toEqual({ size: 1, finish: 'matt', box: { lid: 'closed' } });
  expect(body.metadata?.labels).toBeUndefined();
  expect(body.metadata?.annotations).toBeUndefined();
});

it('an apply without a field keeps it if another manager owns it too', async () => {
  const { apply } = await gadgetToApply();
  await apply('alpha', { size: 1, color: 'red' });
  await apply('beta', { size: 1, color: 'red' });
  expect((await apply('alpha', { size: 1 })).body.spec?.color).toBe('red');
  expect((await apply('beta', { size: 1 })).body.spec?.color).toBeUndefined();
});

it('an applied empty object keeps what a default has put into it, and loses what its manager applied before', async () => {
  const { apply } = await gadgetToApply();
  const tray = { lining: 'felt' };
  expect((await apply('alpha', { size: 1, tray: {} })).body.spec?.tray).toEqual(tray);
  const again = await apply('alpha', { size: 1, tray: {} });
  expect(again.body).toMatchObject({ metadata: { generation: 1 }, spec: { tray } });
  await apply('alpha', { size: 1, tray: { depth: 2 } });
  expect((await apply('alpha', { size: 1, tray: {} })).body.spec?.tray).toEqual(tray);
});

it('an apply to a field that preserves unknown fields accepts lists of objects', async () => {
  const anything = [1, { a: { b: 2 } }, [{ c: 3 }]];
  const { status, body } = await (await gadgetToApply()).apply('alpha', { size: 1, anything });
  expect([status, body.spec?.anything]).toEqual([201, anything]);
});

it('an apply without a field keeps it if a POST created it', async () => {
  const { one, apply } = await gadgetToApply();
  await wire.post(one.replace(/\/one$/, ''), gadget('one', { size: 1, color: 'red' }), { fieldManager: 'alpha' });
  await apply('alpha', { size: 1, color: 'red' });
  expect((await apply('alpha', { size: 1 })).body.spec?.color).toBe('red');
});

it('a field that an update changed is owned by the updater', async () => {
  const { one, apply } = await gadgetToApply();
  await apply('alpha', { size: 1, color: 'red' });
  await wire.mergePatch(one, { spec: { color: 'blue' } }, { fieldManager: 'hand' });
  expect((await apply('alpha', { size: 1 })).body.spec?.color).toBe('blue');
  const back = await apply('alpha', { size: 1, color: 'red' });
  expect(back.body.details?.causes).toMatchObject([{ field: '.spec.color' }]);
});

it('an apply without a field that has a default resets it to the default', async () => {
  const { apply } = await gadgetToApply();
  await apply('alpha', { size: 1, finish: 'gloss' });
  expect((await apply('alpha', { size: 1 })).body.spec?.finish).toBe('matt');
});

it('entries of a list of type map have separate owners', async () => {
  const { apply } = await gadgetToApply();
  await apply('alpha', { size: 1, parts: [{ name: 'a', count: 2 }, { name: 'b' }] });
  const both = await apply('beta', { parts: [{ name: 'c', count: 3 }] });
  expect(both.body.spec?.parts).toEqual([
    { name: 'a', count: 2 },
    { name: 'b', count: 1 },
    { name: 'c', count: 3 },
  ]);
  const dropped = await apply('alpha', { size: 1, parts: [{ name: 'b' }] });
  expect(dropped.body.spec?.parts).toEqual([
    { name: 'b', count: 1 },
    { name: 'c', count: 3 },
  ]);
  const conflict = await apply('alpha', { size: 1, parts: [{ name: 'c', count: 4 }] });
  expect(conflict.body.details?.causes).toMatchObject([{ field: '.spec.parts[name="c"].count' }]);
});

it('the managed fields of a list of type map identify each entry by its keys', async () => {
  const { apply } = await gadgetToApply();
  const { body } = await apply('alpha', { size: 1, parts: [{ name: 'a', count: 2 }] });
  expect(body.metadata?.managedFields?.[0]?.fieldsV1).toEqual({
    'f:spec': { 'f:size': {}, 'f:parts': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:count': {} } } },
  });
});

it('values of a set have separate owners', async () => {
  const { apply } = await gadgetToApply();
  const first = await apply('alpha', { size: 1, tags: ['p', 'q'] });
  expect(first.body.metadata?.managedFields?.[0]?.fieldsV1).toMatchObject({
    'f:spec': { 'f:tags': { 'v:"p"': {}, 'v:"q"': {} } },
  });
  expect((await apply('beta', { tags: ['r'] })).body.spec?.tags).toEqual(['p', 'q', 'r']);
  expect((await apply('alpha', { size: 1, tags: ['q'] })).body.spec?.tags).toEqual(['q', 'r']);
});

it('the fields of a conflict are listed by level', async () => {
  const { apply } = await gadgetToApply();
  await apply('alpha', { size: 1, box: { lid: 'open' } });
  const conflict = await apply('beta', { size: 2, box: { lid: 'shut' } });
  const causes = conflict.body.details?.causes?.map(({ field }) => field);
  expect(causes).toEqual(['.spec.size', '.spec.box.lid']);
});

it('an atomic map that is applied empty replaces what its owner had applied', async () => {
  const policy = `/apis/networking.k8s.io/v1/namespaces/${await namespace()}/networkpolicies/one`;
  const selecting = (podSelector: object) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'one' },
    spec: { podSelector, policyTypes: ['Ingress'] },
  });
  await wire.apply(policy, 'alpha', selecting({ matchLabels: { a: 'b' } }));
  expect((await wire.apply(policy, 'alpha', selecting({}))).body.spec?.podSelector).toEqual({});
  await wire.mergePatch(policy, { spec: { podSelector: { matchLabels: { c: 'd' } } } }, { fieldManager: 'hand' });
  const conflict = await wire.apply(policy, 'alpha', selecting({}));
  expect(conflict.body.details?.causes).toMatchObject([{ field: '.spec.podSelector' }]);
});

it('an atomic list is replaced by its owner and is a conflict for other managers', async () => {
  const { apply } = await gadgetToApply();
  await apply('alpha', { size: 1, notes: ['a', 'b'] });
  const rejected = await apply('beta', { notes: ['c'] });
  expect(rejected.body.details?.causes).toMatchObject([{ field: '.spec.notes' }]);
  expect((await apply('alpha', { size: 1, notes: ['b'] })).body.spec?.notes).toEqual(['b']);
});

it('keys of maps and of objects without a schema have separate owners', async () => {
  const { apply } = await gadgetToApply();
  await apply('alpha', { size: 1, labels: { a: '1' }, free: { x: 1, y: { z: 2 } } });
  const both = await apply('beta', { labels: { b: '2' }, free: { y: { w: 3 } } });
  expect(both.body.spec).toMatchObject({ labels: { a: '1', b: '2' }, free: { x: 1, y: { z: 2, w: 3 } } });
  const dropped = await apply('alpha', { size: 1 });
  expect(dropped.body.spec).toMatchObject({ labels: { b: '2' } });
  expect(dropped.body.spec?.free).toEqual({ y: { w: 3 } });
});

it('labels and finalizers have separate owners', async () => {
  const { apply } = await gadgetToApply();
  const first = await apply('alpha', { size: 1 }, { labels: { a: '1' }, finalizers: ['example.org/a'] });
  expect(first.body.metadata?.managedFields?.[0]?.fieldsV1).toMatchObject({
    'f:metadata': { 'f:labels': { 'f:a': {} }, 'f:finalizers': { 'v:"example.org/a"': {} } },
  });
  const both = await apply('beta', {}, { labels: { b: '2' }, finalizers: ['example.org/b'] });
  expect(both.body.metadata).toMatchObject({
    labels: { a: '1', b: '2' },
    finalizers: ['example.org/a', 'example.org/b'],
  });
  const dropped = await apply('alpha', { size: 1 });
  expect(dropped.body.metadata).toMatchObject({ labels: { b: '2' }, finalizers: ['example.org/b'] });
  await apply('beta', {});
});

it('an owner reference is one managed field, identified by its uid', async () => {
  const { apply } = await gadgetToApply();
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u1', controller: true }];
  const { body } = await apply('alpha', { size: 1 }, { ownerReferences }, { dryRun: 'All' });
  expect(body.metadata?.ownerReferences).toEqual(ownerReferences);
  expect(body.metadata?.managedFields?.[0]?.fieldsV1).toMatchObject({
    'f:metadata': { 'f:ownerReferences': { 'k:{"uid":"u1"}': {} } },
  });
});

it('a patch with a single empty entry resets managedFields', async () => {
  const { one, apply } = await gadgetToApply();
  await apply('alpha', { size: 1, color: 'red' });
  const reset = await wire.mergePatch(one, { metadata: { managedFields: [{}] } });
  expect(reset.body.metadata?.managedFields).toBeUndefined();
  expect(reset.body.spec?.color).toBe('red');
});

const unreadable = { manager: 'z', operation: 'Update', apiVersion: 'v1', fieldsV1: { 'f:data': {} } };
it.each([
  ['an empty list', [], []],
  ['an empty entry', [{}], []],
  ['two empty entries', [{}, {}], ['alpha']],
  ['an entry that cannot be read', [unreadable], ['alpha']],
  ['an entry without a known field', [{ ...unreadable, fieldsType: 'FieldsV1', fieldsV1: { 'x:y': {} } }], []],
])('N2: a merge patch and a PUT with %s of managedFields leave these managers of a ConfigMap', async (_, given, left) => {
  const path = `/api/v1/namespaces/${await namespace()}/configmaps/one`;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: 'b' } };
  const managers = ({ metadata }: Body) => (metadata?.managedFields ?? []).map(({ manager }) => manager);
  await wire.apply(path, 'alpha', object);
  expect(managers((await wire.mergePatch(path, { metadata: { managedFields: given } })).body)).toEqual(left);
  const { body } = await wire.apply(path, 'alpha', object, { force: true });
  const put = await wire.put(path, { ...body, metadata: { ...body.metadata, managedFields: given } });
  expect(managers(put.body)).toEqual(left.length === 0 ? [] : managers(body));
});

const inYaml = 'error decoding YAML: error converting YAML to JSON: yaml: ';
it.each([
  ['U+0099', '"x\u0099y"', `${inYaml}control characters are not allowed`],
  ['U+FFFE', '"x\ufffey"', `${inYaml}control characters are not allowed`],
  ['half a character', '"x\\ud800y"', `${inYaml}found invalid Unicode character escape code`],
  ['an escaped pair', '"\\ud83d\\ude00"', `${inYaml}found invalid Unicode character escape code`],
  ['an escaped slash', '"x\\/y"', `${inYaml}found unknown escape character`],
  ['U+0085', '"x \u0085 y"', 'x y'],
  ['U+2028', '"x \u2028 y"', 'x\u2028y'],
  ['escapes', '"\\u0099\\u0085\\ufffe\\u2028\\\\ud800"', '\u0099\u0085\ufffe\u2028\\ud800'],
])('K5: an apply reads a text of JSON with %s as YAML has it', async (_, text, expected) => {
  const path = `/api/v1/namespaces/${await namespace()}/configmaps/one`;
  const sent = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":${text}}}`;
  const { body } = await wire.apply(path, 'alpha', sent);
  expect([body.message, Object(body).data?.a]).toContain(expected);
});

it('K5: a merge patch stores half a character as U+FFFD', async () => {
  const path = `/api/v1/namespaces/${await namespace()}/configmaps/one`;
  await wire.apply(path, 'alpha', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } });
  const { body } = await wire.mergePatch(path, { data: { a: '\ud800 \u{1f600}\udc00' } });
  expect(body).toMatchObject({ data: { a: '\ufffd \u{1f600}\ufffd' } });
});
