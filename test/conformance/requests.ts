// Conformance: what makes a request acceptable at all: names, metadata, the body against its URL, media types, dry runs.
import { expect, it } from 'vitest';
import { API_VERSION, GROUP, gadget, gadgets, plinth } from './gadget.ts';
import type { Suite } from './suite.ts';

/** Declares the cases. */
export function requestCases({ wire, namespace }: Suite): void {
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
    const refused = await wire.post(gadgets(ns), gadget(name));
    expect(refused.body).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: { name, group: GROUP, kind: 'Gadget' },
    });
    expect(refused.body.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'metadata.name' });
    expect(refused.body.message).toContain(`Gadget.${GROUP} "${name}" is invalid`);
  });

  it('a name of 253 characters with dots and dashes is good', async () => {
    const ns = await namespace();
    const name = `a-1.${'b'.repeat(249)}`;
    expect((await wire.post(gadgets(ns), gadget(name))).status).toBe(201);
    expect((await wire.get(gadgets(ns, name))).body.metadata?.name).toBe(name);
  });

  it('an object without a name is Invalid', async () => {
    const ns = await namespace();
    const refused = await wire.post(gadgets(ns), { ...gadget('x'), metadata: {} });
    expect(refused.status).toBe(422);
    expect(refused.body.details?.causes).toContainEqual({
      reason: 'FieldValueRequired',
      message: 'Required value: name or generateName is required',
      field: 'metadata.name',
    });
  });

  it('generateName is completed by five characters, and cut so that the name fits', async () => {
    const ns = await namespace();
    const make = (generateName: string) => wire.post(gadgets(ns), { ...gadget('x'), metadata: { generateName } });
    const [first, second] = [await make('item-'), await make('item-')];
    expect(first.body.metadata?.name).toMatch(/^item-[a-z0-9]{5}$/);
    expect(first.body.metadata?.generateName).toBe('item-');
    expect(second.body.metadata?.name).not.toBe(first.body.metadata?.name);
    expect((await make('f'.repeat(80))).body.metadata?.name).toMatch(/^f{58}[a-z0-9]{5}$/);
  });

  it.each([
    ['a label key', { labels: { 'a b': 'x' } }, 'metadata.labels'],
    ['a label value', { labels: { a: 'b c' } }, 'metadata.labels'],
    ['a label value of 64 characters', { labels: { a: 'x'.repeat(64) } }, 'metadata.labels'],
    ['an annotation key', { annotations: { 'a b': 'x' } }, 'metadata.annotations'],
    ['a finalizer', { finalizers: ['a b'] }, 'metadata.finalizers'],
    [
      'an owner without uid',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x' }] },
      'metadata.ownerReferences.uid',
    ],
  ])('%s that breaks the rules is Invalid and names its field', async (_what, metadata, field) => {
    const ns = await namespace();
    const refused = await wire.post(gadgets(ns), gadget('one', { size: 1 }, metadata));
    expect(refused.status).toBe(422);
    expect(refused.body.details?.causes?.map((cause) => cause.field)).toContain(field);
  });

  it('annotations of more than 256 KiB are too long', async () => {
    const ns = await namespace();
    const refused = await wire.post(
      gadgets(ns),
      gadget('one', { size: 1 }, { annotations: { a: 'x'.repeat(262_144) } }),
    );
    expect(refused.body.details?.causes).toContainEqual({
      reason: 'FieldValueTooLong',
      message: 'Too long: may not be more than 262144 bytes',
      field: 'metadata.annotations',
    });
  });

  it('two owners cannot both be the controller', async () => {
    const ns = await namespace();
    const owner = { apiVersion: 'v1', kind: 'X', controller: true };
    const ownerReferences = [
      { ...owner, name: 'x', uid: '1' },
      { ...owner, name: 'y', uid: '2' },
    ];
    const refused = await wire.post(gadgets(ns), gadget('one', { size: 1 }, { ownerReferences }));
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain('Only one reference can have Controller set to true');
  });

  it.each([
    ['the namespace of another request', (ns: string) => gadget('q', { size: 1 }, { namespace: `not-${ns}` }), 400],
    ['another apiVersion', () => ({ ...gadget('q'), apiVersion: 'v1' }), 400],
    ['another kind', () => plinth('q'), 422],
    ['no kind', () => ({ apiVersion: API_VERSION, metadata: { name: 'q' }, spec: { size: 1 } }), 400],
    ['half of some JSON', () => '{"a":', 400],
    ['an array', () => '[]', 400],
    ['nothing', () => '', 400],
    ['a label that is a number', () => gadget('q', { size: 1 }, { labels: { a: 1 } }), 400],
  ])('a create with %s is refused', async (_what, content, status) => {
    const ns = await namespace();
    const refused = await wire.post(gadgets(ns), content(ns));
    expect(refused.status).toBe(status);
    expect(refused.body).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
  });

  it('a replacement must carry the name in its URL', async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one'));
    const other = await wire.put(gadgets(ns, 'one'), gadget('two', { size: 1 }, { resourceVersion: '1' }));
    expect(other.body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'the name of the object (two) does not match the name on the URL (one)',
    });
  });

  it('a body that is neither JSON nor YAML is an unsupported media type', async () => {
    const ns = await namespace();
    const refused = await wire.request('POST', gadgets(ns), gadget('one'), { contentType: 'text/plain' });
    expect(refused.body).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  });

  it('a body may be YAML', async () => {
    const ns = await namespace();
    const text = `apiVersion: ${API_VERSION}\nkind: Gadget\nmetadata: {name: one}\nspec:\n  size: 4\n`;
    const made = await wire.request('POST', gadgets(ns), text, { contentType: 'application/yaml' });
    expect(made.status).toBe(201);
    expect(made.body.spec).toMatchObject({ size: 4 });
  });

  it('an answer that cannot be given in an accepted media type is not given', async () => {
    const ns = await namespace();
    expect((await wire.get(gadgets(ns), {}, 'text/html')).body).toMatchObject({ code: 406, reason: 'NotAcceptable' });
    const choice = await wire.get(gadgets(ns), {}, 'application/vnd.kubernetes.protobuf;q=0.9,application/json');
    expect(choice.contentType).toBe('application/json');
  });

  it('a dry run answers like a real one and leaves nothing behind', async () => {
    const ns = await namespace();
    const made = await wire.post(gadgets(ns), gadget('one'), { dryRun: 'All' });
    expect(made.status).toBe(201);
    expect(made.body.metadata?.resourceVersion).toBeUndefined();
    expect((await wire.get(gadgets(ns, 'one'))).status).toBe(404);
    await wire.post(gadgets(ns), gadget('one'));
    expect((await wire.mergePatch(gadgets(ns, 'one'), { spec: { size: 7 } }, { dryRun: 'All' })).body.spec?.size).toBe(
      7,
    );
    expect((await wire.remove(gadgets(ns, 'one'), undefined, { dryRun: 'All' })).status).toBe(200);
    expect((await wire.get(gadgets(ns, 'one'))).body.spec?.size).toBe(1);
    expect((await wire.post(gadgets(ns), gadget('two', { size: -1 }), { dryRun: 'All' })).status).toBe(422);
  });

  it('a subresource that is not there, and a namespaced kind without a namespace, are not found', async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one'));
    expect((await wire.put(gadgets(ns, 'one', 'nonsense'), gadget('one'))).status).toBe(404);
    expect((await wire.post(`/apis/${API_VERSION}/gadgets`, gadget('one'))).status).toBe(404);
  });
}
