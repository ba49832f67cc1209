// Only the soak's judge: what it calls wrong in a world at rest. `npm run soak` has the world itself, on the real control plane.
import { describe, expect, it } from 'vitest';
import { contains, whatIsWrong } from './judgement.ts';
import { parseSeen, type Seen } from '../../tools/soak/objects.ts';
import type { Outside, Plural, Snapshot } from '../../tools/soak/snapshot.ts';
import { subjectOf } from '../../tools/soak/subjects.ts';
import type { Word } from './users.ts';

const settled = { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True' }] };
const portion = { item: 'rice', amount: 2, unit: 'g' };
const open = { open: true };
const shut = { open: false };

type Parts = { readonly name: string; readonly spec?: object; readonly status?: object; readonly owner?: string };

function seen({ name, spec = {}, status = {}, owner }: Parts): Seen {
  const references = owner === undefined ? [] : [{ kind: 'Dinner', uid: owner, controller: true }];
  const metadata = { name, uid: `uid-of-${name}`, generation: 1, ownerReferences: references };
  return parseSeen({ metadata, spec, status: { ...settled, ...status } });
}

const quiet: Outside = {
  tanks: () => [],
  holding: () => ({ measured: { amount: 2, unit: 'g' } }),
  stock: () => 998,
  added: () => [],
};
const world = (objects: Partial<Record<Plural, readonly Seen[]>>, outside: Partial<Outside> = {}): Snapshot => ({
  of: (plural) => objects[plural] ?? [],
  outside: { ...quiet, ...outside },
});
const wrongIn = (snapshot: Snapshot, words: readonly Word[] = [], everSeen: readonly string[] = []) =>
  whatIsWrong(snapshot, { words, everSeen });
const salt = seen({ name: 'salt', spec: portion });

describe('a world at rest', () => {
  it('is right as it is', () => {
    expect(wrongIn(world({ ingredients: [salt] }))).toEqual([]);
  });

  it.each([
    ['a generation that nobody observed', { observedGeneration: 0 }, /observed at generation 0 of 1/],
    ['a Ready that is False', { conditions: [{ type: 'Ready', status: 'False', message: 'no salt' }] }, /no salt/],
    [
      'a retry that goes on',
      { conditions: [...settled.conditions, { type: 'Reconciling', status: 'True' }] },
      /is Reconciling/,
    ],
  ])('is not one with %s', (_, status, why) => {
    const found = wrongIn(world({ ingredients: [seen({ name: 'salt', spec: portion, status })] }));
    expect(found).toEqual([expect.stringMatching(why)]);
  });

  it('is not one where an object is being deleted', () => {
    const going = { ...salt, metadata: { ...salt.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(wrongIn(world({ ingredients: [going] }))).toEqual(['salt is still being deleted']);
  });
});

describe('a user’s last word', () => {
  const said: Word = { subject: subjectOf('Ingredient'), name: 'salt', uid: 'uid-of-salt', spec: portion };
  const { spec: _, ...deleted } = said;

  it('is kept when the object is as it says, with defaults beside it', () => {
    expect(wrongIn(world({ ingredients: [{ ...salt, spec: { ...portion, more: 1 } }] }), [said])).toEqual([]);
    expect(contains({ a: [{ b: 1, c: 2 }] }, { a: [{ b: 1 }] })).toBe(true);
    expect(contains({ a: [1, 2] }, { a: [1] })).toBe(false);
  });

  it('is broken when the object is gone, or says otherwise, or is there although it was deleted', () => {
    expect(wrongIn(world({}), [said])).toEqual(['salt is not there, and nobody deleted it']);
    const other = { ...salt, spec: { ...portion, amount: 3 } };
    expect(wrongIn(world({ ingredients: [other] }), [said])).toEqual([
      'salt: its spec is not what its user wrote last',
    ]);
    expect(wrongIn(world({ ingredients: [salt] }), [deleted])).toEqual(['salt is there, and was deleted']);
  });
});

describe('outside the cluster', () => {
  it('a portion of somebody who is gone is wrong, and so is one that is not what was asked for', () => {
    expect(wrongIn(world({}), [], ['uid-of-pepper'])).toEqual(['uid-of-pepper is gone, its portion is not']);
    const holding = () => ({ measured: { amount: 1, unit: 'g' } });
    expect(wrongIn(world({ ingredients: [salt] }, { holding }))).toEqual(['salt: the pantry has 1 of 2 laid out']);
  });

  it('goods that were moved twice are wrong', () => {
    expect(wrongIn(world({ ingredients: [salt] }, { stock: () => 996 }))).toEqual([
      'the shelf has 996 of rice, g and should have 998',
    ]);
  });

  it('water at the wrong level, and water that flows for nobody, are wrong', () => {
    const tank = seen({ name: 'north', spec: { targetLevel: 8, tolerance: 3 } });
    const tanks = () => [
      { id: 'uid-of-north', level: 12, inlet: shut, outlet: shut },
      { id: 'uid-of-south', level: 8, inlet: open, outlet: shut },
    ];
    expect(wrongIn(world({ watertanks: [tank] }, { tanks }))).toEqual([
      'north: its water is at 12, not 8',
      'tank uid-of-south has no object, and water flows',
    ]);
  });
});

describe('children', () => {
  const dinner = seen({
    name: 'risotto',
    spec: { ingredients: [{ name: 'rice', ...portion }] },
    status: { ingredientsTotal: 1, ingredientsReady: 1 },
  });
  const rice = (spec: object) => seen({ name: 'risotto-rice', spec, owner: 'uid-of-risotto' });

  it('are right when they are as their owner says', () => {
    expect(wrongIn(world({ dinners: [dinner], ingredients: [rice(portion)] }))).toEqual([]);
  });

  it('are wrong when one is missing, one is another, or one has outlived its owner', () => {
    expect(wrongIn(world({ dinners: [dinner] }))).toHaveLength(1);
    const more = seen({ name: 'risotto-eggs', spec: portion, owner: 'uid-of-risotto' });
    const both = world({ dinners: [dinner], ingredients: [rice(portion), more] }, { stock: () => 996 });
    expect(wrongIn(both)).toEqual([expect.stringContaining('risotto: has risotto-rice risotto-eggs')]);
    expect(wrongIn(world({ ingredients: [rice(portion)] }))).toEqual(['ingredients risotto-rice: its Dinner is gone']);
  });
});
