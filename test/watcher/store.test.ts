// Only what is remembered of a collection while lists of it come, end and break off.
import { describe, expect, it } from 'vitest';
import type { Seen } from '../../src/runtime/forward.ts';
import { createStore } from '../../src/watcher/store.ts';

const seen = (resourceVersion: string): Seen => ({
  uid: 'u',
  resourceVersion,
  generation: 1,
  deleting: false,
  paused: false,
  requestedAt: undefined,
  refers: [],
});
const a = { namespace: 'shop', name: 'a' };
const b = { namespace: 'shop', name: 'b' };

it('objects of the same name in other namespaces, or in none, are others', () => {
  const store = createStore();
  const keys = [a, { namespace: 'vault', name: 'a' }, { name: 'a' }];
  for (const [index, key] of keys.entries()) store.put(key, seen(`${index}`));
  expect(keys.map((key) => store.get(key)?.resourceVersion)).toEqual(['0', '1', '2']);
  expect([...store.entries()].map(([key]) => key)).toEqual(keys);
  store.delete(a);
  expect([store.get(a), store.size()]).toEqual([undefined, 2]);
});

describe('lists', () => {
  it('what a list did not show is missing, and forgotten', () => {
    const store = createStore();
    store.put(a, seen('1'));
    store.put(b, seen('1'));
    store.beginListing();
    expect(store.get(a)).toEqual(seen('1'));
    store.put(a, seen('2'));
    expect(store.size()).toBe(2);
    expect(store.endListing()).toEqual([[b, seen('1')]]);
    expect([store.get(a), store.get(b)]).toEqual([seen('2'), undefined]);
  });

  it('a list that broke off takes nothing away, and the next one starts over', () => {
    const store = createStore();
    store.put(a, seen('1'));
    store.put(b, seen('1'));
    store.beginListing();
    store.put(a, seen('2'));
    store.beginListing();
    expect([store.get(a), store.get(b), store.size()]).toEqual([seen('2'), seen('1'), 2]);
    store.put(b, seen('3'));
    expect(store.endListing()).toEqual([[a, seen('2')]]);
  });
});
