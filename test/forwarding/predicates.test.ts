// Which keys a change affects: predicates, owners, labels. Pure decisions, without a watch or a queue.
import { describe, expect, it } from 'vitest';
import type { Key } from '../../src/core/key.ts';
import { controllerLabel, ownerAnnotation, ownerUidLabel } from '../../src/core/names.ts';
import type { Subscriber, WatchedResource } from '../../src/core/watch-list.ts';
import { affectedKeys, allOwners, type ObjectChange } from '../../src/forwarding/predicates.ts';
import { desiredMetadata, toTrackedObject } from '../../src/forwarding/tracked-objects.ts';
import { type PartialObjectMetadata, parsePartialMetadata } from '../../src/kube/watch/partial-metadata.ts';

const collection = (group: string, kind: string, namespaced = true) => ({
  group,
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced,
});
/** What changes, the metadata before and after it, and how many keys it affects. */
const rowsOf = (rows: readonly (readonly [what: string, before: object, after: object, count: number])[]) =>
  rows.map(([what, before, after, count]) => ({ what, before, after, count }));
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

const head = (metadata: object, of: WatchedResource): PartialObjectMetadata =>
  parsePartialMetadata(
    { metadata: { name: 'one', namespace: 'shop', uid: 'u1', resourceVersion: '10', generation: 1, ...metadata } },
    desiredMetadata(of),
  );
const dishRef = (name: string, more: object = {}) => ({
  ownerReferences: [
    { apiVersion: 'kitchen.test/v1', kind: 'Dish', name, uid: `uid-of-${name}`, controller: true, ...more },
  ],
});
const createdBy = (controller: string, owner: string) => ({
  labels: { [controllerLabel]: controller, [ownerUidLabel]: 'uid' },
  annotations: { [ownerAnnotation]: owner },
});

const key: Key = { namespace: 'shop', name: 'one' };
const affected = (of: WatchedResource, before: object | undefined, change: ObjectChange, at = key) =>
  affectedKeys({ resource: of, cluster: 'c' }, at, before === undefined ? undefined : trackedOf(of, before), change);
const names = (...given: Parameters<typeof affected>) => affected(...given).map(({ target }) => target.name);
const trackedOf = (of: WatchedResource, metadata: object) => toTrackedObject(of, head(metadata, of));
const changed = (of: WatchedResource, metadata: object): ObjectChange => ({
  type: 'changed',
  after: trackedOf(of, metadata),
});

describe('the predicate of a primary resource', () => {
  const of = watched(dish, primary());
  const requested = { annotations: { 'outrigger.dev/reconcile-requested-at': 'now' } };
  const paused = { annotations: { 'outrigger.dev/paused': 'true' } };
  it.each(
    rowsOf([
      ['a status write', {}, { resourceVersion: '11' }, 0],
      ['a label', {}, { resourceVersion: '11', labels: { colour: 'blue' } }, 0],
      ['another annotation', {}, { resourceVersion: '11', annotations: { note: 'x' } }, 0],
      ['the same version again', {}, {}, 0],
      ['a new generation', {}, { resourceVersion: '11', generation: 2 }, 1],
      ['a re-created object, at generation 1 again', {}, { resourceVersion: '12', uid: 'u2' }, 1],
      ['a deletionTimestamp', {}, { resourceVersion: '11', deletionTimestamp: '2026-01-01T00:00:00Z' }, 1],
      ['a requested reconcile', {}, { resourceVersion: '11', ...requested }, 1],
      ['a pause', {}, { resourceVersion: '11', ...paused }, 1],
      ['a resume', paused, { resourceVersion: '11' }, 1],
    ]),
  )('for a primary with predicate generation, $what affects $count key(s)', ({ before, after, count }) => {
    expect(names(of, before, changed(of, after))).toHaveLength(count);
  });

  const compared = watched(dish, primary('metadata'));
  const noted = { annotations: { 'observed.outrigger.dev/dish': 'x' } };
  it.each(
    rowsOf([
      ['a status write', {}, {}, 0],
      ['what a controller notes of itself', {}, noted, 0],
      ['labels in another order', { labels: { a: '1', b: '2' } }, { labels: { b: '2', a: '1' } }, 0],
      ['a label', {}, { labels: { colour: 'blue' } }, 1],
      ['an annotation', { annotations: { note: 'x' } }, {}, 1],
      ['a finalizer', {}, { finalizers: ['kitchen.test/clean'] }, 1],
      ['an owner', {}, dishRef('soup'), 1],
      ['a new generation', {}, { generation: 2 }, 1],
      ['a deletionTimestamp', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }, 1],
      [
        'a label of a kind without a generation',
        { generation: undefined },
        { generation: undefined, labels: { a: '1' } },
        1,
      ],
      ['a status of a kind without a generation', { generation: undefined }, { generation: undefined }, 0],
    ]),
  )('for a primary with predicate metadata, $what affects $count key(s)', ({ before, after, count }) => {
    expect(names(compared, before, changed(compared, { resourceVersion: '11', ...after }))).toHaveLength(count);
  });

  it('every new version affects the key if the kind has no generation', () => {
    const pots = watched(pot, { ...primary('resourceVersion'), primary: pot });
    expect(
      names(pots, { generation: undefined }, changed(pots, { generation: undefined, resourceVersion: '11' })),
    ).toEqual(['one']);
    const unexpected = watched(dish, primary());
    const bare = { generation: undefined };
    expect(names(unexpected, bare, changed(unexpected, { ...bare, resourceVersion: '11' }))).toEqual(['one']);
  });
});

describe('the owner of a changed child', () => {
  const of = watched(pot, owned());
  it('a controller reference affects the owner in the namespace of the child', () => {
    const labels = { [controllerLabel]: 'dish', [ownerUidLabel]: 'uid-of-soup' };
    const [only, ...none] = affected(of, undefined, changed(of, { ...dishRef('soup'), labels }));
    expect(none).toEqual([]);
    expect(only).toEqual({
      target: {
        controller: 'dish',
        cluster: 'c',
        group: 'kitchen.test',
        resource: 'dishs',
        namespace: 'shop',
        name: 'soup',
      },
      source: { uid: 'u1', resourceVersion: '10', object: ['', 'pots', 'shop', 'one'] },
    });
  });

  it.each<[string, object]>([
    ['an owner of the same kind in another group', dishRef('soup', { apiVersion: 'other.test/v1' })],
    ['an owner of the same kind in the core group', dishRef('soup', { apiVersion: 'v1' })],
    ['an owner of another kind', dishRef('soup', { kind: 'Bowl' })],
    ['an owner that is not the controller', dishRef('soup', { controller: false })],
    ['an owner whose name is not a path segment', dishRef('../secrets')],
    ['a label of another controller', createdBy('baker', 'shop/soup')],
    ['an annotation without our label', { annotations: { [ownerAnnotation]: 'shop/soup' } }],
    ['an annotated owner in another namespace', createdBy('dish', 'vault/soup')],
    ['an annotated owner whose name is not a path segment', createdBy('dish', 'shop/a/b')],
    ['a child without an owner', {}],
  ])('%s affects no key', (_, metadata) => {
    expect(names(of, undefined, changed(of, metadata))).toEqual([]);
  });

  it('an owner reference with an older version of the owner’s API affects the owner', () => {
    expect(names(of, undefined, changed(of, dishRef('soup', { apiVersion: 'kitchen.test/v1alpha1' })))).toEqual([
      'soup',
    ]);
  });

  it('a child whose owner changes affects both owners', () => {
    const change = changed(of, { ...dishRef('stew'), resourceVersion: '11' });
    expect(names(of, dishRef('soup'), change)).toEqual(['soup', 'stew']);
  });

  it('a child that was handed over to another owner still affects the owner that created it', () => {
    const metadata = { ...dishRef('stew', { kind: 'Banquet' }), ...createdBy('dish', 'shop/soup') };
    expect(names(of, undefined, changed(of, metadata))).toEqual(['soup']);
    const taken = { ...dishRef('stew'), ...createdBy('dish', 'shop/soup') };
    expect(names(of, undefined, changed(of, taken))).toEqual(['stew', 'soup']);
  });

  it('a deleted child affects its last owner and the one before', () => {
    const last = trackedOf(of, { ...dishRef('stew'), resourceVersion: '19' });
    expect(names(of, dishRef('soup'), { type: 'gone', version: '20', last })).toEqual(['soup', 'stew']);
    expect(names(of, undefined, { type: 'gone', version: '20', last })).toEqual(['stew']);
    expect(names(of, dishRef('soup'), { type: 'gone', version: '20' })).toEqual(['soup']);
  });

  it('a deletion is a source of its own, with the version at which it was observed', () => {
    const [only] = affected(of, dishRef('soup'), { type: 'gone', version: '20' });
    expect(only?.source).toMatchObject({ uid: 'u1', resourceVersion: '20', gone: true });
  });

  const selected = { ...of, labelSelector: `${controllerLabel}=dish` };
  const labels = { [controllerLabel]: 'dish', [ownerUidLabel]: 'uid-of-soup' };
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  it.each<[string, boolean, WatchedResource, 'changed' | 'gone', object]>([
    ['leaves a watch with a label selector', true, selected, 'gone', { labels }],
    ['leaves it while it is being deleted', false, selected, 'gone', { labels, deletionTimestamp }],
    ['leaves a watch of all objects', false, of, 'gone', { labels }],
    ['changes and has its labels', false, of, 'changed', { labels }],
    ['changes and has none of its labels', true, of, 'changed', {}],
    [
      'changes and has the label of another controller',
      true,
      of,
      'changed',
      { labels: { ...labels, [controllerLabel]: 'pan' } },
    ],
    ['changes and has not the uid of its owner', true, of, 'changed', { labels: { [controllerLabel]: 'dish' } }],
  ])('K12, K19: a child that %s may be a stray: %s', (_, isStray, watch, type, metadata) => {
    const last = { ...dishRef('soup'), ...metadata, resourceVersion: '11' };
    const change: ObjectChange =
      type === 'changed' ? changed(watch, last) : { type, version: '12', last: trackedOf(watch, last) };
    const [only] = affected(watch, { ...dishRef('soup'), labels }, change);
    expect(only?.source.isStray ?? false).toBe(isStray);
  });

  it('a change of the owner affects both owners even if the predicate is generation', () => {
    const narrow = watched(pot, owned({ predicate: 'generation' }));
    expect(names(narrow, dishRef('soup'), changed(narrow, { ...dishRef('soup'), resourceVersion: '11' }))).toEqual([]);
    expect(names(narrow, dishRef('soup'), changed(narrow, { ...dishRef('stew'), resourceVersion: '11' }))).toEqual([
      'soup',
      'stew',
    ]);
  });

  it('the key of a cluster-scoped owner has no namespace', () => {
    const ranges = watched(pot, owned({ primary: range }));
    const ref = dishRef('big', { kind: 'Range' });
    const [only] = affected(ranges, undefined, changed(ranges, ref));
    expect(only?.target).not.toHaveProperty('namespace');
    expect(names(ranges, undefined, changed(ranges, createdBy('dish', 'big')))).toEqual(['big']);
  });

  it('a cluster-scoped object does not affect a namespaced owner', () => {
    const change = changed(of, { ...dishRef('soup'), namespace: undefined });
    expect(names(of, undefined, change, { name: 'one' })).toEqual([]);
  });
});

it('the value of a label is the name of the affected primary', () => {
  const of = watched(pot, owned({ as: 'watched', label: 'for' }));
  expect(names(of, undefined, changed(of, { labels: { for: 'soup' } }))).toEqual(['soup']);
  expect(names(of, undefined, changed(of, {}))).toEqual([]);
  expect(
    names(of, { labels: { for: 'soup' } }, changed(of, { resourceVersion: '11', labels: { for: 'stew' } })),
  ).toEqual(['soup', 'stew']);
});

it('a watched object without a label affects its own key, which the controller maps', () => {
  const of = watched(pot, owned({ as: 'watched' }));
  const [only] = affected(of, undefined, changed(of, {}));
  expect(only?.target).toMatchObject({ controller: 'dish', group: '', resource: 'pots', ...key });
});

describe('a kind with several subscribers', () => {
  it('each controller gets a key according to its own predicate', () => {
    const of = watched(dish, primary(), { ...primary('any'), controller: 'photographer' });
    const targets = (metadata: object) =>
      affected(of, {}, changed(of, metadata)).map(({ target }) => target.controller);
    expect(targets({ resourceVersion: '11' })).toEqual(['photographer']);
    expect(targets({ resourceVersion: '11', generation: 2 })).toEqual(['dish', 'photographer']);
  });

  it('two controllers that read the owner from labels of their own each get their own owner', () => {
    const of = watched(
      pot,
      owned({ as: 'watched', label: 'for' }),
      owned({ controller: 'cook', as: 'watched', label: 'by' }),
    );
    const targets = affected(of, undefined, changed(of, { labels: { for: 'soup', by: 'kim' } }));
    expect(targets.map(({ target: { controller, name } }) => [controller, name])).toEqual([
      ['dish', 'soup'],
      ['cook', 'kim'],
    ]);
  });

  it('of two controllers with selectors, the one whose selector matches gets the key', () => {
    const select = (controller: string, course: string): Subscriber => ({
      ...primary(),
      controller,
      matchLabels: { course },
    });
    const of = watched(dish, select('starters', 'first'), select('desserts', 'last'));
    const targets = affected(of, undefined, changed(of, { labels: { course: 'last' } }));
    expect(targets.map(({ target }) => target.controller)).toEqual(['desserts']);
  });

  it('an object that enters or leaves the selection of a primary counts without a new generation', () => {
    const of = watched(dish, { ...primary(), matchLabels: { course: 'first' } });
    const selected = { labels: { course: 'first' } };
    expect(names(of, {}, changed(of, selected))).toEqual(['one']);
    expect(names(of, selected, changed(of, {}))).toEqual(['one']);
  });

  it.each([
    primary(),
    owned({ as: 'watched' }),
  ])('an object that gets or loses an annotation of the selector counts, and one without it does not (row %#)', (one) => {
    const of = watched(dish, { ...one, annotations: ['menu.test/course'] });
    const selected = { annotations: { 'menu.test/course': 'first' } };
    expect(desiredMetadata(of).annotations).toContain('menu.test/course');
    expect(names(of, {}, changed(of, selected))).toEqual(['one']);
    expect(names(of, selected, changed(of, {}))).toEqual(['one']);
    expect(names(of, undefined, changed(of, { annotations: { other: 'first' } }))).toEqual([]);
  });

  it('an object in another namespace than those of a primary affects no key', () => {
    const within = (...namespaces: string[]) => watched(dish, { ...primary(), namespaces });
    expect(names(within('shop'), undefined, changed(within('shop'), {}))).toEqual(['one']);
    expect(names(within('office'), undefined, changed(within('office'), {}))).toEqual([]);
    // It may have a finalizer of the controller from before the selector.
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(names(within('office'), {}, changed(within('office'), { deletionTimestamp }))).toEqual(['one']);
  });

  it('a child that differs from its owner by the group alone is the source of the change', () => {
    const of = watched(pot, owned({ primary: collection('kitchen.test', 'Pot') }));
    const owner = { apiVersion: 'kitchen.test/v1', kind: 'Pot', name: 'one', uid: 'u0', controller: true };
    const [only] = affected(of, undefined, changed(of, { ownerReferences: [owner] }));
    expect(only?.source.object).toEqual(['', 'pots', 'shop', 'one']);
  });

  it('a primary that its controller maps is sent twice for a change, and only reconciled with a whole collection', () => {
    const of = watched(dish, primary(), { ...primary(), as: 'watched', namespaces: ['shop'] });
    const collection = { resource: of, cluster: 'c' };
    const groups = affected(of, {}, changed(of, { resourceVersion: '11', generation: 2 }));
    expect(
      groups.map(({ target: { group, resource, name }, source }) => [group, resource, name, source.object]),
    ).toEqual([
      ['kitchen.test', 'dishs', 'one', undefined],
      ['mapped.kitchen.test', 'dishs', 'one', ['kitchen.test', 'dishs', 'shop', 'one']],
    ]);
    expect(affected(of, {}, changed(of, { resourceVersion: '11' }))).toEqual([]);
    expect(allOwners(collection, key, trackedOf(of, {})).map(({ target }) => target.group)).toEqual(['kitchen.test']);
  });

  it('allOwners returns every key that an object affects, whatever the predicates are', () => {
    const of = watched(dish, primary(), owned({ controller: 'menu' }));
    const tracked = trackedOf(of, dishRef('soup'));
    expect(
      allOwners({ resource: of, cluster: 'c' }, key, tracked).map(({ target }) => [target.controller, target.name]),
    ).toEqual([
      ['dish', 'one'],
      ['menu', 'soup'],
    ]);
  });
});

it('desiredMetadata lists only the labels and annotations that the subscribers need', () => {
  expect(desiredMetadata(watched(dish, primary()))).toEqual({
    labels: [],
    annotations: ['outrigger.dev/reconcile-requested-at', 'outrigger.dev/paused'],
  });
  expect(desiredMetadata(watched(pot, owned(), owned({ as: 'watched', label: 'for' })))).toEqual({
    labels: ['for', controllerLabel, ownerUidLabel],
    annotations: [ownerAnnotation],
  });
});
