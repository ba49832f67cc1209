// TrackedObjects: which objects are known while lists of their collection begin, end and fail. No watch and no queue.
import { expect, it } from 'vitest';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import {
  createTrackedObjects,
  desiredMetadata,
  type TrackedObject,
  toTrackedObject,
} from '../../src/forwarding/tracked-objects.ts';
import { parsePartialMetadata } from '../../src/kube/watch/partial-metadata.ts';

const tracked = (resourceVersion: string): TrackedObject => ({
  uid: 'u',
  resourceVersion,
  generation: 1,
  deleting: false,
  paused: false,
  requestedAt: undefined,
  references: [],
});
const a = { namespace: 'shop', name: 'a' };
const b = { namespace: 'shop', name: 'b' };

it('TrackedObjects separates objects of the same name by namespace', () => {
  const objects = createTrackedObjects();
  const keys = [a, { namespace: 'vault', name: 'a' }, { name: 'a' }];
  for (const [index, key] of keys.entries()) objects.put(key, tracked(`${index}`));
  expect(keys.map((key) => objects.get(key)?.resourceVersion)).toEqual(['0', '1', '2']);
  expect([...objects.entries()].map(([key]) => key)).toEqual(keys);
  objects.delete(a);
  expect([objects.get(a), objects.size()]).toEqual([undefined, 2]);
});

it('an object that a list did not show is returned as missing and forgotten', () => {
  const objects = createTrackedObjects();
  objects.put(a, tracked('1'));
  objects.put(b, tracked('1'));
  objects.beginListing();
  expect(objects.get(a)).toEqual(tracked('1'));
  objects.put(a, tracked('2'));
  expect(objects.size()).toBe(2);
  expect(objects.endListing()).toEqual([[b, tracked('1')]]);
  expect([objects.get(a), objects.get(b)]).toEqual([tracked('2'), undefined]);
});

it('a list that failed removes no object, and the next list starts over', () => {
  const objects = createTrackedObjects();
  objects.put(a, tracked('1'));
  objects.put(b, tracked('1'));
  objects.beginListing();
  objects.put(a, tracked('2'));
  objects.beginListing();
  expect([objects.get(a), objects.get(b), objects.size()]).toEqual([tracked('2'), tracked('1'), 2]);
  objects.put(b, tracked('3'));
  expect(objects.endListing()).toEqual([[a, tracked('2')]]);
});

// Control T143.
it('what is remembered of an object has a limit, however long its annotations and the names of its owners are', () => {
  const primary = { group: 'cafe.example.com', version: 'v1', kind: 'Cafe', plural: 'cafes', namespaced: true };
  const of = (as: 'primary' | 'owned') => ({ controller: 'cafe', as, predicate: 'generation', primary }) as const;
  const resource: WatchedResource = { ...primary, subscribers: [of('primary'), of('owned')] };
  const remembered = (text: string) => {
    const ownerReferences = [
      { apiVersion: 'cafe.example.com/v1', kind: 'Cafe', name: text, uid: 'o', controller: true },
    ];
    const annotations = { 'outrigger.dev/reconcile-requested-at': text, 'outrigger.dev/owner': `shop/${text}` };
    const labels = { 'outrigger.dev/controller': 'cafe', 'outrigger.dev/owner-uid': 'o' };
    const metadata = { uid: 'u', resourceVersion: '1', ...a, annotations, labels, ownerReferences };
    return toTrackedObject(resource, parsePartialMetadata({ metadata }, desiredMetadata(resource)));
  };
  const long = 'x'.repeat(200_000);
  expect(JSON.stringify(remembered(long)).length).toBeLessThan(500);
  expect(remembered(long).requestedAt).not.toBe(remembered(`${long}y`).requestedAt);
  expect(remembered('a').references).toEqual([{ subscriber: 1, name: 'a' }]);
});
