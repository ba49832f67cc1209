// The store: versions, changes and lists at older versions. Excluded: HTTP.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../src/object.ts';
import { createStore, type Store } from '../../src/store/store.ts';

const thingsCollection = 'example.org/things';

function thing(name: string, value = 0, namespace = 'a'): ApiObject {
  return { apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name, namespace }, value };
}

/** One step: stores the object of a name, or removes it if it exists. */
const steps = fc.array(
  fc.record({
    name: fc.constantFrom('x', 'y', 'z'),
    namespace: fc.constantFrom('a', 'b'),
    value: fc.nat(9),
    remove: fc.boolean(),
  }),
  { maxLength: 40 },
);
type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;

function perform(store: Store, { name, namespace, value, remove }: Step): void {
  const present = store.get(thingsCollection, { namespace, name });
  if (!remove) store.put(thingsCollection, thing(name, value, namespace));
  else if (present !== undefined) store.remove(thingsCollection, present);
}

describe('the store', () => {
  it('listAt always returns the list of that version', () => {
    fc.assert(
      fc.property(steps, (allSteps) => {
        const store = createStore({ eventWindow: 1000 });
        const snapshots: { version: number; all: readonly ApiObject[]; one: readonly ApiObject[] }[] = [];
        for (const step of allSteps) {
          snapshots.push({
            version: store.version(),
            all: store.list(thingsCollection),
            one: store.list(thingsCollection, 'b'),
          });
          perform(store, step);
        }
        for (const { version, all, one } of snapshots) {
          expect(store.listAt(thingsCollection, version)).toEqual(all);
          expect(store.listAt(thingsCollection, version, 'b')).toEqual(one);
        }
      }),
    );
  });

  it('the oldest version is the first one after which no change is missing', () => {
    const store = createStore({ eventWindow: 2 });
    const versions: number[] = [];
    for (let value = 0; value < 200; value += 1) {
      versions.push(store.version());
      store.put(thingsCollection, thing('x', value));
      const isWhole = (since: number) => store.changesSince(thingsCollection, since).length === store.version() - since;
      expect(versions.find(isWhole)).toBe(store.oldest());
    }
  });

  it('changesSince applied to the list of a version always gives the current list', () => {
    fc.assert(
      fc.property(steps, fc.nat(40), (allSteps, splitAt) => {
        const store = createStore({ eventWindow: 1000 });
        for (const step of allSteps.slice(0, splitAt)) perform(store, step);
        const from = store.version();
        const replayed = new Map(store.list(thingsCollection).map((object) => [id(object), object]));
        for (const step of allSteps.slice(splitAt)) perform(store, step);
        for (const { type, object } of store.changesSince(thingsCollection, from)) {
          if (type === 'DELETED') replayed.delete(id(object));
          else replayed.set(id(object), object);
        }
        const now = new Map(store.list(thingsCollection).map((object) => [id(object), object]));
        expect(replayed).toEqual(now);
      }),
    );
  });

  it('versions increase with every change of any collection, including deletions', () => {
    const store = createStore({ eventWindow: 10 });
    const first = store.put(thingsCollection, thing('x'));
    store.put('example.org/others', thing('x'));
    const removed = store.remove(thingsCollection, first);
    const versions = [first, removed].map(({ metadata }) => Number(metadata.resourceVersion));
    expect(versions[1]).toBe((versions[0] ?? 0) + 2);
    expect(store.version()).toBe(versions[1]);
  });

  it('the store keeps at least eventWindow changes and a bounded number more', () => {
    const store = createStore({ eventWindow: 20 });
    for (let value = 0; value < 500; value++) store.put(thingsCollection, thing('x', value));
    expect(store.version() - store.oldest()).toBeGreaterThanOrEqual(20);
    expect(store.version() - store.oldest()).toBeLessThan(60);
    expect(store.changesSince(thingsCollection, store.oldest())).toHaveLength(store.version() - store.oldest());
    store.compact();
    expect(store.oldest()).toBe(store.version());
  });

  it('a subscriber receives every change of its collection from subscribe to unsubscribe', () => {
    const store = createStore({ eventWindow: 10 });
    const received: string[] = [];
    store.put(thingsCollection, thing('before'));
    const unsubscribe = store.subscribe(thingsCollection, ({ type, object }) =>
      received.push(`${type} ${object.metadata.name}`),
    );
    const stored = store.put(thingsCollection, thing('x'));
    store.put('example.org/others', thing('other'));
    store.put(thingsCollection, { ...stored, value: 2 });
    store.remove(thingsCollection, stored);
    unsubscribe();
    store.put(thingsCollection, thing('after'));
    expect(received).toEqual(['ADDED x', 'MODIFIED x', 'DELETED x']);
  });
});

function id({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
