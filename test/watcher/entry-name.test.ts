// Only the names of a cursor's entries: an entry is for one collection and for those who read it.
import { describe, expect, it } from 'vitest';
import type { Subscriber, WatchedResource } from '../../src/core/watch-list.ts';
import { entryNameOf } from '../../src/watcher/entry-name.ts';

const tank = { group: 'plant.example.com', version: 'v1', plural: 'tanks', kind: 'Tank', namespaced: true };
const first: Subscriber = { controller: 'tank', as: 'primary', primary: tank, predicate: 'generation' };
const second: Subscriber = { controller: 'pump', as: 'watched', primary: tank, predicate: 'any' };
const tanks: WatchedResource = { ...tank, subscribers: [first, second] };

describe('the name of an entry', () => {
  it('may be a key of a ConfigMap', () => {
    expect(entryNameOf(tanks, { namespace: 'shop' })).toMatch(/^[-._a-zA-Z0-9]{1,253}$/);
    expect(entryNameOf({ ...tanks, group: '' })).toMatch(/^core_v1_tanks__[0-9a-f]{12}$/);
  });

  it('does not depend on the order of its readers', () => {
    expect(entryNameOf({ ...tanks, subscribers: [second, first] })).toBe(entryNameOf(tanks));
  });

  it.each<[string, WatchedResource, string?]>([
    ['another namespace', tanks, 'shop'],
    ['another selector', { ...tanks, labelSelector: 'colour=blue' }],
    ['another version', { ...tanks, version: 'v2' }],
    ['a reader more', { ...tanks, subscribers: [first, second, { ...second, controller: 'valve' }] }],
    ['a reader less', { ...tanks, subscribers: [first] }],
    ['a reader of other changes', { ...tanks, subscribers: [first, { ...second, predicate: 'generation' }] }],
  ])('is another one for %s', (_, resource, namespace) => {
    expect(entryNameOf(resource, { namespace })).not.toBe(entryNameOf(tanks));
  });
});
