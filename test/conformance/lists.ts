// Conformance: lists, their pages and selectors, and lists of the past. Lists of a compacted past are in history.ts.
import { expect, it } from 'vitest';
import type { Body } from './body.ts';
import { API_VERSION, gadget, gadgets } from './gadget.ts';
import type { Suite } from './suite.ts';

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const FAR_FUTURE = '99999999999';

/** Declares the cases. */
export function listCases({ wire, namespace }: Suite): void {
  /** Creates a to e: a and b red, the rest blue; a to c labelled group=x, the rest group=y. Returns the namespace. */
  const five = async (): Promise<string> => {
    const ns = await namespace();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const labels = { group: name < 'd' ? 'x' : 'y' };
      await wire.post(gadgets(ns), gadget(name, { size: 1, color: name < 'c' ? 'red' : 'blue' }, { labels }));
    }
    return ns;
  };

  it('an empty list has no items, a version and the name of its kind', async () => {
    const ns = await namespace();
    const { body } = await wire.get(gadgets(ns));
    expect(body).toMatchObject({ apiVersion: API_VERSION, kind: 'GadgetList', items: [] });
    expect(body.metadata?.resourceVersion).toMatch(/^\d+$/);
    expect((await wire.get(gadgets('no-such-namespace'))).body.items).toEqual([]);
  });

  it('a list is ordered by name, its items carry their kind, and its version is not older than any of them', async () => {
    const ns = await namespace();
    for (const name of ['c', 'a', 'b']) await wire.post(gadgets(ns), gadget(name));
    const { body } = await wire.get(gadgets(ns));
    expect(names(body)).toEqual(['a', 'b', 'c']);
    expect(body.items?.[0]).toMatchObject({ apiVersion: API_VERSION, kind: 'Gadget' });
    for (const item of body.items ?? []) expect(version(body)).toBeGreaterThanOrEqual(version(item));
  });

  it('a list without a namespace covers all of them, ordered by namespace and name', async () => {
    const spaces = [await five(), await five()].sort();
    const { body } = await wire.get(`/apis/${API_VERSION}/gadgets`, { labelSelector: 'group=y' });
    const ours = body.items?.filter((item) => spaces.includes(item.metadata?.namespace ?? '')) ?? [];
    expect(ours.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)).toEqual(
      spaces.flatMap((space) => [`${space}/d`, `${space}/e`]),
    );
  });

  it('pages go on where the last one ended, at the version of the first, whatever has changed since', async () => {
    const ns = await five();
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

  it('a page of a selection does not say how many items remain', async () => {
    const ns = await five();
    const first = await wire.get(gadgets(ns), { limit: 1, labelSelector: 'group=x' });
    expect(names(first.body)).toEqual(['a']);
    expect(first.body.metadata?.remainingItemCount).toBeUndefined();
    expect(first.body.metadata?.continue).toMatch(/./);
  });

  it('a continue token that is none, or comes with a version, is refused', async () => {
    const ns = await five();
    expect((await wire.get(gadgets(ns), { limit: 2, continue: 'abc' })).body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
    });
    const { metadata } = (await wire.get(gadgets(ns), { limit: 2 })).body;
    const both = { continue: metadata?.continue ?? '', resourceVersion: metadata?.resourceVersion ?? '' };
    expect((await wire.get(gadgets(ns), both)).status).toBe(400);
  });

  it.each([
    ['group=x', ['a', 'b', 'c']],
    ['group==y', ['d', 'e']],
    ['group!=x', ['d', 'e']],
    ['group in (y,z)', ['d', 'e']],
    ['group notin (x)', ['d', 'e']],
    ['group', ['a', 'b', 'c', 'd', 'e']],
    ['!group', []],
    ['group=x,!other', ['a', 'b', 'c']],
    ['other!=1', ['a', 'b', 'c', 'd', 'e']],
    ['', ['a', 'b', 'c', 'd', 'e']],
  ])('the label selector "%s" selects %j', async (labelSelector, expected) => {
    const ns = await five();
    expect(names((await wire.get(gadgets(ns), { labelSelector })).body)).toEqual(expected);
  });

  it.each(['group in x', 'group===x', 'a b', '=x'])('the label selector "%s" is refused', async (labelSelector) => {
    const ns = await namespace();
    expect((await wire.get(gadgets(ns), { labelSelector })).body).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  it.each([
    ['metadata.name=b', ['b']],
    ['metadata.name!=b', ['a', 'c', 'd', 'e']],
    ['spec.color=red', ['a', 'b']],
    ['spec.color=red,metadata.name=b', ['b']],
  ])('the field selector "%s" selects %j', async (fieldSelector, expected) => {
    const ns = await five();
    expect(names((await wire.get(gadgets(ns), { fieldSelector })).body)).toEqual(expected);
  });

  it('a field that was not declared selectable is refused', async () => {
    const ns = await namespace();
    const refused = await wire.get(gadgets(ns), { fieldSelector: 'spec.size=1' });
    expect(refused.body).toMatchObject({ code: 400, message: 'field label not supported: spec.size' });
  });

  it('an exact list shows the past as it was', async () => {
    const ns = await five();
    const then = (await wire.get(gadgets(ns))).body.metadata?.resourceVersion ?? '';
    await wire.remove(gadgets(ns, 'a'));
    await wire.mergePatch(gadgets(ns, 'b'), { spec: { size: 2 } });
    const past = await wire.get(gadgets(ns), { resourceVersion: then, resourceVersionMatch: 'Exact' });
    expect(past.body.metadata?.resourceVersion).toBe(then);
    expect(names(past.body)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(past.body.items?.[1]?.spec?.size).toBe(1);
    const limited = await wire.get(gadgets(ns), { resourceVersion: then, resourceVersionMatch: 'Exact', limit: 1 });
    expect(names(limited.body)).toEqual(['a']);
  });

  it('a list at or after a version shows the present', async () => {
    const ns = await five();
    const then = (await wire.get(gadgets(ns))).body.metadata?.resourceVersion ?? '';
    await wire.remove(gadgets(ns, 'a'));
    for (const query of [{ resourceVersion: then }, { resourceVersion: then, resourceVersionMatch: 'NotOlderThan' }]) {
      const { body } = await wire.get(gadgets(ns), query);
      expect(Number(body.metadata?.resourceVersion)).toBeGreaterThanOrEqual(Number(then));
    }
    expect(names((await wire.get(gadgets(ns))).body)).toEqual(['b', 'c', 'd', 'e']);
  });

  it('a version of the future times out and says that it is too large', async () => {
    const ns = await namespace();
    const early = await wire.get(gadgets(ns), { resourceVersion: FAR_FUTURE, resourceVersionMatch: 'Exact' });
    expect(early.body).toMatchObject({
      code: 504,
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
    });
  });

  it.each([
    [{ resourceVersionMatch: 'Exact' }, 422],
    [{ resourceVersion: '0', resourceVersionMatch: 'Exact' }, 422],
    [{ resourceVersion: '1', resourceVersionMatch: 'Nearly' }, 422],
    [{ resourceVersion: 'abc' }, 400],
    [{ limit: 'many' }, 400],
  ])('a list with %j is refused with %d', async (query, status) => {
    const ns = await namespace();
    expect((await wire.get(gadgets(ns), query)).body).toMatchObject({ kind: 'Status', code: status });
  });

  it('a metadata-only list carries metadata and nothing else, managedFields included', async () => {
    const ns = await five();
    const { body } = await wire.get(gadgets(ns), { limit: 1 }, METADATA_LIST);
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
  });

  it('one object can be read as metadata only', async () => {
    const ns = await five();
    const { body } = await wire.get(
      gadgets(ns, 'a'),
      {},
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    );
    expect(Object.keys(body).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(body).toMatchObject({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadata',
      metadata: { name: 'a' },
    });
  });
}

function names(list: Body): (string | undefined)[] | undefined {
  return list.items?.map((item) => item.metadata?.name);
}

function version(body: Body): number {
  return Number(body.metadata?.resourceVersion);
}
