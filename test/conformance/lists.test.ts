// Conformance: lists, their pages and selectors, and lists of older versions. Lists of compacted versions are in
// history.test.ts.
import { expect, it } from 'vitest';
import type { Body } from './body.ts';
import { gadget, gadgetApiVersion, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

const metadataType = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataListType = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const farFuture = '99999999999';

const { wire, namespace } = await useSuite();

/**
 * Creates the gadgets a to e in a new namespace and returns it. The colour of a and b is red, that of the others
 * blue. The label of a to c is group=x, that of the others group=y.
 */
const createFive = async (): Promise<string> => {
  const ns = await namespace();
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const labels = { group: name < 'd' ? 'x' : 'y' };
    await wire.post(gadgets(ns), gadget(name, { size: 1, color: name < 'c' ? 'red' : 'blue' }, { labels }));
  }
  return ns;
};

let five: Promise<string> | undefined;
/** The namespace of five gadgets that every test may read and none may change. */
const readFive = async (): Promise<string> => {
  five ??= createFive();
  return await five;
};

it('an empty list has no items, but a version and its kind', async () => {
  const ns = await namespace();
  const { body } = await wire.get(gadgets(ns));
  expect(body).toMatchObject({ apiVersion: gadgetApiVersion, kind: 'GadgetList', items: [] });
  expect(body.metadata?.resourceVersion).toMatch(/^\d+$/);
  expect((await wire.get(gadgets('no-such-namespace'))).body.items).toEqual([]);
});

it('a list of 128 KiB is compressed for a client that accepts gzip, and a smaller one is not', async () => {
  const ns = await namespace();
  const read = async (gzip: boolean) => await wire.request('GET', gadgets(ns), undefined, { gzip });
  const notes = Array.from({ length: 100 }, (_, index) => `${index} `.repeat(100));
  await wire.post(gadgets(ns), gadget('a', { size: 1, notes }));
  expect((await read(true)).contentEncoding).toBeUndefined();
  for (const name of ['b', 'c', 'd', 'e', 'f']) await wire.post(gadgets(ns), gadget(name, { size: 1, notes }));
  const [compressed, plain] = [await read(true), await read(false)];
  expect([compressed.contentEncoding, plain.contentEncoding]).toEqual(['gzip', undefined]);
  expect(plain.text.length).toBeGreaterThan(128 * 1024);
  // Other tests write to the same server, so the version of the list may be newer.
  expect(compressed.body.items).toEqual(plain.body.items);
});

it('a list is sorted by name, its items have a kind, and no item is newer than the list', async () => {
  const ns = await namespace();
  for (const name of ['c', 'a', 'b']) await wire.post(gadgets(ns), gadget(name));
  const { body } = await wire.get(gadgets(ns));
  expect(names(body)).toEqual(['a', 'b', 'c']);
  expect(body.items?.[0]).toMatchObject({ apiVersion: gadgetApiVersion, kind: 'Gadget' });
  for (const item of body.items ?? []) expect(version(body)).toBeGreaterThanOrEqual(version(item));
});

it('a list of all namespaces is sorted by namespace and name', async () => {
  const namespaces = [await createFive(), await createFive()].sort();
  const { body } = await wire.get(`/apis/${gadgetApiVersion}/gadgets`, { labelSelector: 'group=y' });
  const items = body.items?.filter((item) => namespaces.includes(item.metadata?.namespace ?? '')) ?? [];
  expect(items.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)).toEqual(
    namespaces.flatMap((space) => [`${space}/d`, `${space}/e`]),
  );
});

it('a page continues after the last item of the previous page, at the version of the first page', async () => {
  const ns = await createFive();
  const first = await wire.get(gadgets(ns), { limit: 2 });
  expect(names(first.body)).toEqual(['a', 'b']);
  expect(first.body.metadata?.remainingItemCount).toBe(3);
  await wire.remove(gadgets(ns, 'c'));
  await wire.post(gadgets(ns), gadget('cc'));
  const second = await wire.get(gadgets(ns), { limit: 2, continue: first.body.metadata?.continue ?? '' });
  expect(names(second.body)).toEqual(['c', 'd']);
  expect(second.body.metadata?.remainingItemCount).toBe(1);
  const third = await wire.get(gadgets(ns), { limit: 2, continue: second.body.metadata?.continue ?? '' });
  expect(names(third.body)).toEqual(['e']);
  expect(third.body.metadata?.continue ?? '').toBe('');
  expect(third.body.metadata?.remainingItemCount).toBeUndefined();
  expect(third.body.metadata?.resourceVersion).toBe(first.body.metadata?.resourceVersion);
});

it('a page of a list with a selector has no remainingItemCount', async () => {
  const ns = await readFive();
  const first = await wire.get(gadgets(ns), { limit: 1, labelSelector: 'group=x' });
  expect(names(first.body)).toEqual(['a']);
  expect(first.body.metadata?.remainingItemCount).toBeUndefined();
  expect(first.body.metadata?.continue).toMatch(/./);
});

it('a list with an invalid continue token, or with a token and a version, is a bad request', async () => {
  const ns = await readFive();
  expect((await wire.get(gadgets(ns), { limit: 2, continue: 'abc' })).body).toMatchObject({
    code: 400,
    reason: 'BadRequest',
  });
  const { metadata } = (await wire.get(gadgets(ns), { limit: 2 })).body;
  const both = { continue: metadata?.continue ?? '', resourceVersion: metadata?.resourceVersion ?? '' };
  expect((await wire.get(gadgets(ns), both)).status).toBe(400);
});

it.each([
  [{ labelSelector: 'group=x' }, ['a', 'b', 'c']],
  [{ labelSelector: 'group==y' }, ['d', 'e']],
  [{ labelSelector: 'group!=x' }, ['d', 'e']],
  [{ labelSelector: 'group in (y,z)' }, ['d', 'e']],
  [{ labelSelector: 'group notin (x)' }, ['d', 'e']],
  [{ labelSelector: 'group' }, ['a', 'b', 'c', 'd', 'e']],
  [{ labelSelector: '!group' }, []],
  [{ labelSelector: 'group=x,!other' }, ['a', 'b', 'c']],
  [{ labelSelector: ' group  in(x , z),! other ' }, ['a', 'b', 'c']],
  [{ labelSelector: 'group notin (,x)' }, ['d', 'e']],
  [{ labelSelector: 'in notin (in),notin!=in' }, ['a', 'b', 'c', 'd', 'e']],
  [{ labelSelector: '!constructor,toString!=a' }, ['a', 'b', 'c', 'd', 'e']],
  [{ labelSelector: 'other notin (a,b),group in (y,,)' }, ['d', 'e']],
  [{ labelSelector: 'group=' }, []],
  [{ labelSelector: 'group notin ()' }, ['a', 'b', 'c', 'd', 'e']],
  [{ labelSelector: 'other!=1' }, ['a', 'b', 'c', 'd', 'e']],
  [{ labelSelector: '' }, ['a', 'b', 'c', 'd', 'e']],
  [{ fieldSelector: 'metadata.name=b' }, ['b']],
  [{ fieldSelector: 'metadata.name!=b' }, ['a', 'c', 'd', 'e']],
  [{ fieldSelector: 'spec.color=red' }, ['a', 'b']],
  [{ fieldSelector: 'spec.color=red,metadata.name=b' }, ['b']],
] as const)('a list with %j has %j', async (query, expected) => {
  expect(names((await wire.get(gadgets(await readFive()), query)).body)).toEqual(expected);
});

it('a label selector with > or < compares labels that are whole numbers', async () => {
  const ns = await namespace();
  for (const [name, rank] of Object.entries({ a: '9', b: '10', c: 'high' }))
    await wire.post(gadgets(ns), gadget(name, { size: 1 }, { labels: { rank } }));
  await wire.post(gadgets(ns), gadget('d'));
  const selected = async (labelSelector: string) => names((await wire.get(gadgets(ns), { labelSelector })).body);
  expect(await selected('rank>9')).toEqual(['b']);
  expect(await selected('rank < 10')).toEqual(['a']);
});

it('an exact list at an older version returns the objects of that version', async () => {
  const ns = await createFive();
  const oldVersion = (await wire.get(gadgets(ns))).body.metadata?.resourceVersion ?? '';
  await wire.remove(gadgets(ns, 'a'));
  await wire.mergePatch(gadgets(ns, 'b'), { spec: { size: 2 } });
  const past = await wire.get(gadgets(ns), { resourceVersion: oldVersion, resourceVersionMatch: 'Exact' });
  expect(past.body.metadata?.resourceVersion).toBe(oldVersion);
  expect(names(past.body)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(past.body.items?.[1]?.spec?.size).toBe(1);
  const limited = await wire.get(gadgets(ns), { resourceVersion: oldVersion, resourceVersionMatch: 'Exact', limit: 1 });
  expect(names(limited.body)).toEqual(['a']);
});

it('a list that is not older than a version returns the current objects', async () => {
  const ns = await createFive();
  const oldVersion = (await wire.get(gadgets(ns))).body.metadata?.resourceVersion ?? '';
  await wire.remove(gadgets(ns, 'a'));
  for (const query of [
    { resourceVersion: oldVersion },
    { resourceVersion: oldVersion, resourceVersionMatch: 'NotOlderThan' },
  ]) {
    const { body } = await wire.get(gadgets(ns), query);
    expect(Number(body.metadata?.resourceVersion)).toBeGreaterThanOrEqual(Number(oldVersion));
  }
  expect(names((await wire.get(gadgets(ns))).body)).toEqual(['b', 'c', 'd', 'e']);
});

it('an exact list at a future version is a Timeout with the cause ResourceVersionTooLarge', async () => {
  const ns = await namespace();
  const rejected = await wire.get(gadgets(ns), { resourceVersion: farFuture, resourceVersionMatch: 'Exact' });
  expect(rejected.body).toMatchObject({
    code: 504,
    reason: 'Timeout',
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
  });
});

it.each([
  ['group in x', "unable to parse requirement: found 'x' expected: '('"],
  ['group in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ['group in (x,', "unable to parse requirement: found '', expected: ',', or identifier"],
  ['group in (x y)', "unable to parse requirement: found 'y', expected: ',' or ')'"],
  ['group in (x', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['group===x', "unable to parse requirement: found '=', expected: identifier"],
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ['!a=b', "found '=', expected: ',' or 'end of string'"],
  ['=x', "found '=', expected: !, identifier, or 'end of string'"],
  ['a,', "found '', expected: identifier after ','"],
  ['a,,b', "found ',', expected: identifier after ','"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  ['a/b/c', 'unable to parse requirement: <nil>: Invalid value: "a/b/c": a '],
  ['a in (b,-)', 'unable to parse requirement: values[0][a]: Invalid value: "-": a valid label must be'],
  [
    'rank>high',
    `unable to parse requirement: values[0]: Invalid value: "high": for 'Gt', 'Lt' operators, the value must`,
  ],
  ['rank<9223372036854775808', 'unable to parse requirement: values[0]: Invalid value: "9223372036854775808": for'],
])('the label selector %j is refused with the error of Kubernetes', async (labelSelector, message) => {
  const { body } = await wire.get(gadgets(await readFive()), { labelSelector });
  expect(body).toMatchObject({ kind: 'Status', code: 400, reason: 'BadRequest' });
  expect(body.message).toContain(message);
});

it.each([
  [{ resourceVersionMatch: 'Exact' }, 422],
  [{ resourceVersion: '0', resourceVersionMatch: 'Exact' }, 422],
  [{ resourceVersion: '1', resourceVersionMatch: 'Nearly' }, 422],
  [{ resourceVersion: 'abc' }, 400],
  [{ limit: 'many' }, 400],
  [{ fieldSelector: 'spec.size=1' }, 400],
] as const)('a list with %j is rejected with %d', async (query, code) => {
  const { body } = await wire.get(gadgets(await readFive()), query);
  expect(body).toMatchObject({ kind: 'Status', code, reason: code === 400 ? 'BadRequest' : 'Invalid' });
  if ('fieldSelector' in query) expect(body.message).toBe('field label not supported: spec.size');
});

it('a metadata-only list has only metadata, including managedFields, and so has a read of one object', async () => {
  const ns = await readFive();
  const { body } = await wire.get(gadgets(ns), { limit: 1 }, metadataListType);
  expect(body).toMatchObject({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadataList' });
  const [item] = body.items ?? [];
  expect(Object.keys(item ?? {}).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
  expect(item).toMatchObject({
    apiVersion: 'meta.k8s.io/v1',
    kind: 'PartialObjectMetadata',
    metadata: { name: 'a', generation: 1 },
  });
  expect(item?.metadata?.managedFields).toHaveLength(1);
  expect(body.metadata).toMatchObject({ remainingItemCount: 4 });
  expect((await wire.get(gadgets(ns, 'a'), {}, metadataType)).body).toEqual(item);
});

function names(list: Body): (string | undefined)[] | undefined {
  return list.items?.map((item) => item.metadata?.name);
}

function version(body: Body): number {
  return Number(body.metadata?.resourceVersion);
}
