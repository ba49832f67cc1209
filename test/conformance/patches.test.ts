// Conformance: merge patches and JSON patches of a custom resource. Server-side apply is in apply.ts.
import { expect, it } from 'vitest';
import { useSuite } from './suite.ts';

const { wire, createGadget } = await useSuite();

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

it('BK8: a merge patch with a stale version is a Conflict, even without a change', async () => {
  const path = await one();
  const { metadata } = (await wire.get(path)).body;
  await wire.mergePatch(path, { spec: { size: 2 } });
  const stale = await wire.mergePatch(path, { metadata: { resourceVersion: metadata?.resourceVersion } });
  expect(stale.body).toMatchObject({ code: 409, reason: 'Conflict' });
  expect((await wire.mergePatch(path, { spec: { size: 3 } })).status).toBe(200);
});

it('a merge patch with another name or uid is rejected', async () => {
  const path = await one();
  expect((await wire.mergePatch(path, { metadata: { name: 'two' } })).status).toBe(400);
  const uid = await wire.mergePatch(path, { metadata: { uid: '00000000-0000-4000-8000-000000000000' } });
  expect(uid.status).toBe(422);
  expect(uid.body.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'metadata.uid' });
  expect(uid.body.message).toContain('field is immutable');
});

it('a patch with an invalid result is Invalid and changes nothing', async () => {
  const path = await one();
  const before = await wire.get(path);
  expect((await wire.mergePatch(path, { spec: { size: 1000 } })).status).toBe(422);
  expect((await wire.mergePatch(path, { spec: null })).body.details?.causes?.[0]).toMatchObject({ field: 'spec' });
  expect((await wire.jsonPatch(path, [{ op: 'remove', path: '/spec/size' }])).status).toBe(422);
  expect((await wire.get(path)).body).toEqual(before.body);
});

it('a patch of an object that does not exist is NotFound', async () => {
  const path = `${await one()}-not`;
  expect((await wire.mergePatch(path, { spec: { size: 1 } })).body).toMatchObject({ code: 404, reason: 'NotFound' });
  expect((await wire.jsonPatch(path, [])).body).toMatchObject({ code: 404, reason: 'NotFound' });
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

it.each([
  ['a failing test', [{ op: 'test', path: '/spec/size', value: 77 }]],
  ['an add to a missing parent', [{ op: 'add', path: '/spec/nope/x', value: 1 }]],
  ['a remove of a missing field', [{ op: 'remove', path: '/spec/nope' }]],
  ['an unknown operation', [{ op: 'fly', path: '/spec/size' }]],
])('a JSON patch with %s is Invalid and changes nothing', async (_what, operations) => {
  const path = await one();
  const before = await wire.get(path);
  const rejected = await wire.jsonPatch(path, [{ op: 'replace', path: '/spec/size', value: 9 }, ...operations]);
  expect(rejected.body).toMatchObject({ code: 422, reason: 'Invalid' });
  expect((await wire.get(path)).body).toEqual(before.body);
});

it('a replace in a JSON patch creates a missing field, which RFC 6902 forbids', async () => {
  const path = await one();
  const { body } = await wire.jsonPatch(path, [{ op: 'replace', path: '/spec/code', value: 'abc' }]);
  expect(body.spec?.code).toBe('abc');
});

it('a JSON patch counts a negative index from the end of the list: an added item is the last', async () => {
  const path = await one({ size: 1, notes: ['a', 'b'] });
  const added = await wire.jsonPatch(path, [{ op: 'add', path: '/spec/notes/-1', value: 'c' }]);
  expect(added.body.spec?.notes).toEqual(['a', 'b', 'c']);
  const removed = await wire.jsonPatch(path, [{ op: 'remove', path: '/spec/notes/-1' }]);
  expect(removed.body.spec?.notes).toEqual(['a', 'b']);
});

it('a patch with force, or with a field manager that is too long or not printable, is Invalid', async () => {
  const path = await one();
  const patch = async (query: Readonly<Record<string, string>>) =>
    (await wire.mergePatch(path, { spec: { size: 2 } }, query)).body.message;
  expect(await patch({ force: 'true' })).toContain('force: Forbidden: may not be specified for non-apply patch');
  expect(await patch({ fieldManager: 'm'.repeat(129) })).toContain('may not be more than 128 bytes');
  expect(await patch({ fieldManager: 'a\nb' })).toContain('invalid character U+000A (at position 1)');
  expect((await wire.mergePatch(path, { spec: { size: 2 } }, { fieldManager: 'a b' })).status).toBe(200);
});

it.each([
  ['merge', '[]'],
  ['merge', '{'],
  ['merge', '"text"'],
  ['JSON', '{"op":"remove"}'],
])('a %s patch that is %s is a bad request', async (type, content) => {
  const path = await one();
  const patch = type === 'merge' ? wire.mergePatch : wire.jsonPatch;
  expect((await patch(path, content)).body).toMatchObject({ code: 400, reason: 'BadRequest' });
});

it.each([
  'application/strategic-merge-patch+json',
  'application/json',
])('a patch of a custom resource as %s is an unsupported media type', async (contentType) => {
  const path = await one();
  const rejected = await wire.request('PATCH', path, { spec: { size: 2 } }, { contentType });
  expect(rejected.body).toMatchObject({
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      'the body of the request was in an unknown format - accepted media types include: ' +
      'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  });
});
