// Only the decision of which keys a change concerns: predicates, owners, labels. No stream, no queue.
import { describe, expect, it } from 'vitest';
import type { Key } from '../../src/core/key.ts';
import type { Subscriber, WatchedResource } from '../../src/core/watch-list.ts';
import { controllerLabel, ownerAnnotation, ownerUidLabel } from '../../src/core/names.ts';
import { type ObjectHead, parseHead } from '../../src/kube/watch/partial-metadata.ts';
import { allTargets, forward, type Happening, toSeen, wantedOf } from '../../src/runtime/forward.ts';

const collection = (group: string, kind: string, namespaced = true) => ({
  group,
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced,
});
const dish = collection('kitchen.test', 'Dish');
const pot = collection('', 'Pot');
const range = collection('kitchen.test', 'Range', false);
const watched = (kind: typeof dish, ...subscribers: Subscriber[]): WatchedResource => ({ ...kind, subscribers });
const primary = (predicate: Subscriber['predicate'] = 'generation'): Subscriber => ({
  controller: 'dish',
  as: 'primary',
  primary: dish,
  predicate,
});
const owned = (more: Partial<Subscriber> = {}): Subscriber => ({
  controller: 'dish',
  as: 'owned',
  primary: dish,
  predicate: 'any',
  ...more,
});

const head = (metadata: object, of: WatchedResource): ObjectHead =>
  parseHead(
    { metadata: { name: 'one', namespace: 'shop', uid: 'u1', resourceVersion: '10', generation: 1, ...metadata } },
    wantedOf(of),
  );
const dishRef = (name: string, more: object = {}) => ({
  ownerReferences: [
    { apiVersion: 'kitchen.test/v1', kind: 'Dish', name, uid: `uid-of-${name}`, controller: true, ...more },
  ],
});
const made = (by: string, owner: string) => ({
  labels: { [controllerLabel]: by, [ownerUidLabel]: 'uid' },
  annotations: { [ownerAnnotation]: owner },
});

const key: Key = { namespace: 'shop', name: 'one' };
const names = (of: WatchedResource, before: object | undefined, happening: Happening, at = key) =>
  forward(
    { resource: of, cluster: 'c' },
    at,
    before === undefined ? undefined : toSeen(of, head(before, of)),
    happening,
  ).map(({ target }) => target.name);
const changed = (of: WatchedResource, metadata: object): Happening => ({
  type: 'changed',
  after: toSeen(of, head(metadata, of)),
});

describe('the predicate of a primary', () => {
  const of = watched(dish, primary());
  const requested = { annotations: { 'outrigger.dev/reconcile-requested-at': 'now' } };
  const paused = { annotations: { 'outrigger.dev/paused': 'true' } };
  it.each<[string, object, object, number]>([
    ['a status write', {}, { resourceVersion: '11' }, 0],
    ['a label', {}, { resourceVersion: '11', labels: { colour: 'blue' } }, 0],
    ['another annotation', {}, { resourceVersion: '11', annotations: { note: 'x' } }, 0],
    ['the same version once more', {}, {}, 0],
    ['a new generation', {}, { resourceVersion: '11', generation: 2 }, 1],
    ['an object created anew, at generation 1 again', {}, { resourceVersion: '12', uid: 'u2' }, 1],
    ['a deletionTimestamp', {}, { resourceVersion: '11', deletionTimestamp: '2026-01-01T00:00:00Z' }, 1],
    ['a reconcile that was asked for', {}, { resourceVersion: '11', ...requested }, 1],
    ['a pause', {}, { resourceVersion: '11', ...paused }, 1],
    ['the end of a pause', paused, { resourceVersion: '11' }, 1],
  ])('%s: %#', (_, before, after, count) => {
    expect(names(of, before, changed(of, after))).toHaveLength(count);
  });

  it('an object that was never seen counts', () => {
    expect(names(of, undefined, changed(of, {}))).toEqual(['one']);
  });

  it('a kind without a generation counts every version', () => {
    const pots = watched(pot, { ...primary('resourceVersion'), primary: pot });
    expect(
      names(pots, { generation: undefined }, changed(pots, { generation: undefined, resourceVersion: '11' })),
    ).toEqual(['one']);
    const unexpected = watched(dish, primary());
    const bare = { generation: undefined };
    expect(names(unexpected, bare, changed(unexpected, { ...bare, resourceVersion: '11' }))).toEqual(['one']);
  });
});

describe('owners', () => {
  const of = watched(pot, owned());
  it('a controller reference names the owner, in the namespace of the child', () => {
    const [only, ...none] = forward({ resource: of, cluster: 'c' }, key, undefined, changed(of, dishRef('soup')));
    expect(none).toEqual([]);
    expect(only).toEqual({
      target: {
        ...{ controller: 'dish', cluster: 'c', group: 'kitchen.test', resource: 'dishs' },
        ...{ namespace: 'shop', name: 'soup' },
      },
      source: { uid: 'u1', resourceVersion: '10' },
    });
  });

  it.each<[string, object]>([
    ['an owner of the same kind in another group', dishRef('soup', { apiVersion: 'other.test/v1' })],
    ['an owner of the same kind in the core group', dishRef('soup', { apiVersion: 'v1' })],
    ['an owner of another kind', dishRef('soup', { kind: 'Bowl' })],
    ['an owner that is not the controller', dishRef('soup', { controller: false })],
    ['an owner whose name is no name', dishRef('../secrets')],
    ['a label of another controller', made('baker', 'shop/soup')],
    ['an annotation without our label', { annotations: { [ownerAnnotation]: 'shop/soup' } }],
    ['a maker in another namespace', made('dish', 'vault/soup')],
    ['a maker whose name is no name', made('dish', 'shop/a/b')],
    ['nothing at all', {}],
  ])('%s wakes nobody', (_, metadata) => {
    expect(names(of, undefined, changed(of, metadata))).toEqual([]);
  });

  it('an older version of the owner’s API is the same kind', () => {
    expect(names(of, undefined, changed(of, dishRef('soup', { apiVersion: 'kitchen.test/v1alpha1' })))).toEqual([
      'soup',
    ]);
  });

  it('a child that changes hands wakes both owners', () => {
    const happening = changed(of, { ...dishRef('stew'), resourceVersion: '11' });
    expect(names(of, dishRef('soup'), happening)).toEqual(['soup', 'stew']);
  });

  it('a child that was handed over still wakes its maker', () => {
    const metadata = { ...dishRef('stew', { kind: 'Banquet' }), ...made('dish', 'shop/soup') };
    expect(names(of, undefined, changed(of, metadata))).toEqual(['soup']);
    const taken = { ...dishRef('stew'), ...made('dish', 'shop/soup') };
    expect(names(of, undefined, changed(of, taken))).toEqual(['stew', 'soup']);
  });

  it('a maker that is also the owner is woken once', () => {
    expect(names(of, undefined, changed(of, { ...dishRef('soup'), ...made('dish', 'shop/soup') }))).toEqual(['soup']);
  });

  it('a child that is gone wakes its owners, old and last', () => {
    const last = toSeen(of, head({ ...dishRef('stew'), resourceVersion: '19' }, of));
    expect(names(of, dishRef('soup'), { type: 'gone', version: '20', last })).toEqual(['soup', 'stew']);
    expect(names(of, undefined, { type: 'gone', version: '20', last })).toEqual(['stew']);
    expect(names(of, dishRef('soup'), { type: 'gone', version: '20' })).toEqual(['soup']);
  });

  it('a deletion is a source of its own, at the version that told of it', () => {
    const before = toSeen(of, head(dishRef('soup'), of));
    const [only] = forward({ resource: of, cluster: 'c' }, key, before, { type: 'gone', version: '20' });
    expect(only?.source).toEqual({ uid: 'u1', resourceVersion: '20', gone: true });
  });

  it('a narrowed predicate still sees a change of hands', () => {
    const narrow = watched(pot, owned({ predicate: 'generation' }));
    expect(names(narrow, dishRef('soup'), changed(narrow, { ...dishRef('soup'), resourceVersion: '11' }))).toEqual([]);
    expect(names(narrow, dishRef('soup'), changed(narrow, { ...dishRef('stew'), resourceVersion: '11' }))).toEqual([
      'soup',
      'stew',
    ]);
  });

  it('an owner without a namespace is named without one', () => {
    const ranges = watched(pot, owned({ primary: range }));
    const ref = dishRef('big', { kind: 'Range' });
    const [only] = forward({ resource: ranges, cluster: 'c' }, key, undefined, changed(ranges, ref));
    expect(only?.target).not.toHaveProperty('namespace');
    expect(names(ranges, undefined, changed(ranges, made('dish', 'big')))).toEqual(['big']);
  });

  it('an object without a namespace cannot be owned by one that has', () => {
    const happening = changed(of, { ...dishRef('soup'), namespace: undefined });
    expect(names(of, undefined, happening, { name: 'one' })).toEqual([]);
  });
});

describe('watched kinds', () => {
  it('a label’s value names the primary', () => {
    const of = watched(pot, owned({ as: 'watched', label: 'for' }));
    expect(names(of, undefined, changed(of, { labels: { for: 'soup' } }))).toEqual(['soup']);
    expect(names(of, undefined, changed(of, {}))).toEqual([]);
    expect(
      names(of, { labels: { for: 'soup' } }, changed(of, { resourceVersion: '11', labels: { for: 'stew' } })),
    ).toEqual(['soup', 'stew']);
  });

  it('without a label the watched object itself goes to the controller, for it to map', () => {
    const of = watched(pot, owned({ as: 'watched' }));
    const [only] = forward({ resource: of, cluster: 'c' }, key, undefined, changed(of, {}));
    expect(only?.target).toMatchObject({ controller: 'dish', group: '', resource: 'pots', ...key });
  });
});

describe('several subscribers', () => {
  it('each controller gets its own key', () => {
    const of = watched(dish, primary(), { ...primary('any'), controller: 'photographer' });
    const targets = (metadata: object) =>
      forward({ resource: of, cluster: 'c' }, key, toSeen(of, head({}, of)), changed(of, metadata)).map(
        ({ target }) => target.controller,
      );
    expect(targets({ resourceVersion: '11' })).toEqual(['photographer']);
    expect(targets({ resourceVersion: '11', generation: 2 })).toEqual(['dish', 'photographer']);
  });

  it('two controllers of one kind each get a key of one change, and each knows it by its own name', () => {
    const of = watched(dish, primary(), { ...primary(), controller: 'dish-taster' });
    const targets = forward(
      { resource: of, cluster: 'c' },
      key,
      toSeen(of, head({}, of)),
      changed(of, { generation: 2 }),
    );
    expect(targets.map(({ target }) => target)).toEqual(
      ['dish', 'dish-taster'].map((controller) => ({
        ...{ controller, cluster: 'c', group: 'kitchen.test', resource: 'dishs' },
        ...key,
      })),
    );
  });

  it('in bulk every key that an object concerns is sent, whatever the predicates say', () => {
    const of = watched(dish, primary(), owned({ controller: 'menu' }));
    const seen = toSeen(of, head(dishRef('soup'), of));
    expect(
      allTargets({ resource: of, cluster: 'c' }, key, seen).map(({ controller, name }) => [controller, name]),
    ).toEqual([
      ['dish', 'one'],
      ['menu', 'soup'],
    ]);
  });
});

it('only the labels and annotations that mapping needs are asked for', () => {
  expect(wantedOf(watched(dish, primary()))).toEqual({
    labels: [],
    annotations: ['outrigger.dev/reconcile-requested-at', 'outrigger.dev/paused'],
  });
  expect(wantedOf(watched(pot, owned(), owned({ as: 'watched', label: 'for' })))).toEqual({
    labels: ['for', controllerLabel],
    annotations: [ownerAnnotation],
  });
});
