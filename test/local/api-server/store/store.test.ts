// The store: versions, changes and lists of the past. Excluded: everything that is on the wire.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../../../src/apiserver/object.ts';
import { createStore, type Store } from '../../../../src/apiserver/store/store.ts';

const THINGS = 'example.org/things';

function thing(name: string, value = 0, namespace = 'a'): ApiObject {
  return { apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name, namespace }, value };
}

/** One step: put the object of a name, or remove it where it is there. */
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

function take(store: Store, { name, namespace, value, remove }: Step): void {
  const present = store.get(THINGS, { namespace, name });
  if (!remove) store.put(THINGS, thing(name, value, namespace));
  else if (present !== undefined) store.remove(THINGS, present);
}

describe('the store', () => {
  it('a list of the past is always what a list said then', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const store = createStore({ eventWindow: 1000 });
        const then: { version: number; all: readonly ApiObject[]; one: readonly ApiObject[] }[] = [];
        for (const step of taken) {
          then.push({ version: store.version(), all: store.list(THINGS), one: store.list(THINGS, 'b') });
          take(store, step);
        }
        for (const { version, all, one } of then) {
          expect(store.listAt(THINGS, version)).toEqual(all);
          expect(store.listAt(THINGS, version, 'b')).toEqual(one);
        }
      }),
    );
  });

  it('the changes since a version always lead from the list of then to the list of now', () => {
    fc.assert(
      fc.property(steps, fc.nat(40), (taken, cut) => {
        const store = createStore({ eventWindow: 1000 });
        for (const step of taken.slice(0, cut)) take(store, step);
        const from = store.version();
        const followed = new Map(store.list(THINGS).map((object) => [id(object), object]));
        for (const step of taken.slice(cut)) take(store, step);
        for (const { type, object } of store.changesSince(THINGS, from)) {
          if (type === 'DELETED') followed.delete(id(object));
          else followed.set(id(object), object);
        }
        const now = new Map(store.list(THINGS).map((object) => [id(object), object]));
        expect(followed).toEqual(now);
      }),
    );
  });

  it('versions rise with every change of any collection, and a deletion has one of its own', () => {
    const store = createStore({ eventWindow: 10 });
    const first = store.put(THINGS, thing('x'));
    store.put('example.org/others', thing('x'));
    const gone = store.remove(THINGS, first);
    const versions = [first, gone].map(({ metadata }) => Number(metadata.resourceVersion));
    expect(versions[1]).toBe((versions[0] ?? 0) + 2);
    expect(store.version()).toBe(versions[1]);
  });

  it('no more than a window of changes is remembered, and what is told to be remembered is', () => {
    const store = createStore({ eventWindow: 20 });
    for (let value = 0; value < 500; value++) store.put(THINGS, thing('x', value));
    expect(store.version() - store.oldest()).toBeGreaterThanOrEqual(20);
    expect(store.version() - store.oldest()).toBeLessThan(60);
    expect(store.changesSince(THINGS, store.oldest())).toHaveLength(store.version() - store.oldest());
    store.forget();
    expect(store.oldest()).toBe(store.version());
  });

  it('a follower hears every change of its collection after it began, and none after it ended', () => {
    const store = createStore({ eventWindow: 10 });
    const heard: string[] = [];
    store.put(THINGS, thing('before'));
    const end = store.follow(THINGS, ({ type, object }) => heard.push(`${type} ${object.metadata.name}`));
    const stored = store.put(THINGS, thing('x'));
    store.put('example.org/others', thing('other'));
    store.put(THINGS, { ...stored, value: 2 });
    store.remove(THINGS, stored);
    end();
    store.put(THINGS, thing('after'));
    expect(heard).toEqual(['ADDED x', 'MODIFIED x', 'DELETED x']);
  });
});

function id({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
