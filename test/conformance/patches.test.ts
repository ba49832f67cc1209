// Conformance: merge patches and JSON patches of a custom resource. Server-side apply is in apply.test.ts.
import { expect, it } from 'vitest';
import { useSuite } from './suite.ts';

const { wire, namespace, createGadget } = await useSuite();

const one = async (spec: object = { size: 1, color: 'red', notes: ['a'] }): Promise<string> => {
  const { main } = await createGadget(spec, { labels: { a: 'b', c: 'd' } });
  return main;
};

it('a merge patch merges objects, replaces lists and removes fields by null', async () => {
  const path = await one();
  const { body } = await wire.mergePatch(path, {
    metadata: { labels: { a: null, e: 'f' } },
    spec: { color: null, notes: ['b', 'c'], box: { depth: 3 } },
  });
  expect(body.metadata?.labels).toEqual({ c: 'd', e: 'f' });
  expect(body.spec).toEqual({ size: 1, notes: ['b', 'c'], finish: 'matt', box: { lid: 'closed', depth: 3 } });
  expect(body.metadata?.generation).toBe(2);
});

it('a JSON patch tests, adds, replaces, removes, moves and copies', async () => {
  const path = await one();
  const { body } = await wire.jsonPatch(path, [
    { op: 'test', path: '/spec/size', value: 1 },
    { op: 'add', path: '/metadata/labels/example.org~1x', value: 'y' },
    { op: 'replace', path: '/spec/size', value: 5 },
    { op: 'remove', path: '/metadata/labels/a' },
    { op: 'add', path: '/spec/notes/0', value: 'first' },
    { op: 'add', path: '/spec/notes/-', value: 'last' },
    { op: 'copy', from: '/spec/color', path: '/spec/nickname' },
    { op: 'move', from: '/metadata/labels/c', path: '/metadata/labels/d' },
  ]);
  expect(body.metadata?.labels).toEqual({ 'example.org/x': 'y', d: 'd' });
  expect(body.spec).toMatchObject({ size: 5, notes: ['first', 'a', 'last'], nickname: 'red' });
});

it('a replace in a JSON patch creates a missing field, which RFC 6902 forbids', async () => {
  const path = await one();
  const { body } = await wire.jsonPatch(path, [{ op: 'replace', path: '/spec/code', value: 'abc' }]);
  expect(body.spec?.code).toBe('abc');
});

it('a JSON patch that replaces the whole document stores the new one', async () => {
  const path = await one();
  const { body: live } = await wire.get(path);
  const { body } = await wire.jsonPatch(path, [{ op: 'replace', path: '', value: { ...live, spec: { size: 7 } } }]);
  expect(body.spec).toMatchObject({ size: 7 });
  expect(body.spec?.color).toBeUndefined();
});

it('a test of the whole document in a JSON patch compares all of it, and a difference is Invalid', async () => {
  const path = await one();
  const { body: live } = await wire.get(path);
  const tested = (value: object) =>
    wire.jsonPatch(path, [
      { op: 'test', path: '', value },
      { op: 'replace', path: '/spec/size', value: 4 },
    ]);
  expect(await tested({ ...live, spec: { ...live.spec, size: 3 } })).toMatchObject({ status: 422 });
  expect(await tested(live)).toMatchObject({ status: 200, body: { spec: { size: 4 } } });
});

it('a JSON patch counts a negative index from the end of the list: an added item is the last', async () => {
  const path = await one({ size: 1, notes: ['a', 'b'] });
  const added = await wire.jsonPatch(path, [{ op: 'add', path: '/spec/notes/-1', value: 'c' }]);
  expect(added.body.spec?.notes).toEqual(['a', 'b', 'c']);
  const removed = await wire.jsonPatch(path, [{ op: 'remove', path: '/spec/notes/-1' }]);
  expect(removed.body.spec?.notes).toEqual(['a', 'b']);
});

const merged = 'application/strategic-merge-patch+json';
it.each<[string, object, string]>([
  ['an item without its merge key', { name: 'b' }, 'map: map[name:b] does not contain declared merge key: port'],
  [
    'a deleted item without its merge key',
    { $patch: 'delete', name: 'a' },
    'does not contain declared merge key: port',
  ],
  [
    'an unknown directive in an item',
    { $patch: 'drop', port: 80 },
    'unknown patch type: drop in map: map[$patch:drop port:80]',
  ],
])('a strategic merge patch with %s is an error of the server', async (_what, item, message) => {
  const path = `/api/v1/namespaces/${await namespace()}/services`;
  await wire.post(path, { metadata: { name: 'one' }, spec: { ports: [{ port: 80 }] } });
  const patch = { spec: { ports: [item] } };
  const { body } = await wire.request('PATCH', `${path}/one`, patch, { contentType: merged });
  expect(body).toMatchObject({ code: 500, message: expect.stringContaining(message) });
  expect(body.reason).toBeUndefined();
});

it.each([
  'merge',
  'replace',
  'drop',
])('a strategic merge patch %s of what the object does not have is dropped', async ($patch) => {
  const path = `/api/v1/namespaces/${await namespace()}/configmaps`;
  await wire.post(path, { metadata: { name: 'one' } });
  const patch = { data: { $patch, a: 'b' }, metadata: { ownerReferences: [{ $patch, uid: 'x' }] } };
  const { status, body } = await wire.request('PATCH', `${path}/one`, patch, { contentType: merged });
  expect(status).toBe(200);
  expect(body.data).toBeUndefined();
  expect(body.metadata?.ownerReferences).toBeUndefined();
});

it('a strategic merge patch of a list that the object does not have needs no merge key', async () => {
  const path = `/api/v1/namespaces/${await namespace()}/pods`;
  await wire.post(path, { metadata: { name: 'one' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const patch = { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x' }] } };
  const { body } = await wire.request('PATCH', `${path}/one`, patch, { contentType: merged });
  // A real server checks the metadata of a pod several times.
  const fields = body.details?.causes?.map((cause) => cause.field);
  expect([...new Set(fields)]).toEqual(['metadata.ownerReferences.uid']);
});
