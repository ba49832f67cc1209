// Only the soak's checks: the violations that they find in a snapshot. `npm run soak` checks the real control plane.
import { describe, expect, it } from 'vitest';
import { type ObservedObject, parseObject } from '../../../tools/soak/objects.ts';
import type { Plural, SimulatorState, Snapshot } from '../../../tools/soak/snapshot.ts';
import { subjectOf } from '../../../tools/soak/subjects.ts';
import type { LastWrite } from '../../../tools/soak/users.ts';
import { contains, findViolations } from '../../../tools/soak/violations.ts';

const converged = { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True' }] };
const portion = { item: 'rice', amount: 2, unit: 'g' };
const open = { open: true };
const closed = { open: false };

type ObjectFields = {
  readonly name: string;
  readonly spec?: object;
  readonly status?: object;
  readonly owner?: string;
};

function observed({ name, spec = {}, status = {}, owner }: ObjectFields): ObservedObject {
  const references = owner === undefined ? [] : [{ kind: 'Dinner', uid: owner, controller: true }];
  const metadata = { name, uid: `uid-of-${name}`, generation: 1, ownerReferences: references };
  return parseObject({ metadata, spec, status: { ...converged, ...status } });
}

const idle: SimulatorState = {
  tanks: () => [],
  holding: () => ({ measured: { amount: 2, unit: 'g' } }),
  stock: () => 998,
  added: () => [],
};
const snapshotOf = (
  objects: Partial<Record<Plural, readonly ObservedObject[]>>,
  simulators: Partial<SimulatorState> = {},
): Snapshot => ({ list: (plural) => objects[plural] ?? [], simulators: { ...idle, ...simulators } });
const violationsIn = (
  snapshot: Snapshot,
  lastWrites: readonly LastWrite[] = [],
  knownHolders: readonly string[] = [],
) => findViolations(snapshot, { lastWrites, knownHolders });
const salt = observed({ name: 'salt', spec: portion });

describe('findViolations in a snapshot', () => {
  it('findViolations returns nothing for converged objects', () => {
    expect(violationsIn(snapshotOf({ ingredients: [salt] }))).toEqual([]);
  });

  it.each([
    ['a generation that is not observed', { observedGeneration: 0 }, /observed at generation 0 of 1/],
    ['a Ready that is False', { conditions: [{ type: 'Ready', status: 'False', message: 'no salt' }] }, /no salt/],
    [
      'a retry in progress',
      { conditions: [...converged.conditions, { type: 'Reconciling', status: 'True' }] },
      /is Reconciling/,
    ],
  ])('findViolations reports an object with %s', (_, status, reason) => {
    const found = violationsIn(snapshotOf({ ingredients: [observed({ name: 'salt', spec: portion, status })] }));
    expect(found).toEqual([expect.stringMatching(reason)]);
  });

  it('findViolations reports an object that is being deleted', () => {
    const deleting = { ...salt, metadata: { ...salt.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(violationsIn(snapshotOf({ ingredients: [deleting] }))).toEqual(['salt is still being deleted']);
  });
});

describe('last write of a user', () => {
  const lastWrite: LastWrite = { subject: subjectOf('Ingredient'), name: 'salt', uid: 'uid-of-salt', spec: portion };
  const { spec: _, ...deleted } = lastWrite;

  it('findViolations accepts an object that contains its last write and further defaults', () => {
    expect(
      violationsIn(snapshotOf({ ingredients: [{ ...salt, spec: { ...portion, more: 1 } }] }), [lastWrite]),
    ).toEqual([]);
    expect(contains({ a: [{ b: 1, c: 2 }] }, { a: [{ b: 1 }] })).toBe(true);
    expect(contains({ a: [1, 2] }, { a: [1] })).toBe(false);
  });

  it('findViolations reports an object that is missing, differs from its last write, or exists although it was deleted', () => {
    expect(violationsIn(snapshotOf({}), [lastWrite])).toEqual(['salt does not exist, and was not deleted by a user']);
    const other = { ...salt, spec: { ...portion, amount: 3 } };
    expect(violationsIn(snapshotOf({ ingredients: [other] }), [lastWrite])).toEqual([
      'salt: its spec differs from the last write of its user',
    ]);
    expect(violationsIn(snapshotOf({ ingredients: [salt] }), [deleted])).toEqual([
      'salt exists, but was deleted by a user',
    ]);
  });
});

describe('violations outside of the cluster', () => {
  it('findViolations reports a portion without an object, and one with a wrong amount', () => {
    expect(violationsIn(snapshotOf({}), [], ['uid-of-pepper'])).toEqual([
      'uid-of-pepper is deleted, but its portion still exists',
    ]);
    const holding = () => ({ measured: { amount: 1, unit: 'g' } });
    expect(violationsIn(snapshotOf({ ingredients: [salt] }, { holding }))).toEqual([
      'salt: the pantry has 1 of 2 measured',
    ]);
  });

  it('findViolations reports goods that were moved twice', () => {
    expect(violationsIn(snapshotOf({ ingredients: [salt] }, { stock: () => 996 }))).toEqual([
      'the stock of rice, g is 996 instead of 998',
    ]);
  });

  it('findViolations reports a wrong level, and an open valve without an object', () => {
    const tank = observed({ name: 'north', spec: { targetLevel: 8, tolerance: 3 } });
    const tanks = () => [
      { id: 'uid-of-north', level: 12, inlet: closed, outlet: closed },
      { id: 'uid-of-south', level: 8, inlet: open, outlet: closed },
    ];
    expect(violationsIn(snapshotOf({ watertanks: [tank] }, { tanks }))).toEqual([
      'north: its level is 12 instead of 8',
      'tank uid-of-south: a valve is open without an object',
    ]);
  });
});

describe('violations of children', () => {
  const dinner = observed({
    name: 'risotto',
    spec: { ingredients: [{ name: 'rice', ...portion }] },
    status: { ingredientsTotal: 1, ingredientsReady: 1 },
  });
  const rice = (spec: object) => observed({ name: 'risotto-rice', spec, owner: 'uid-of-risotto' });

  it('findViolations accepts children that match their owner', () => {
    expect(violationsIn(snapshotOf({ dinners: [dinner], ingredients: [rice(portion)] }))).toEqual([]);
  });

  it('findViolations reports a missing child, a surplus child, and a child without an owner', () => {
    expect(violationsIn(snapshotOf({ dinners: [dinner] }))).toHaveLength(1);
    const more = observed({ name: 'risotto-eggs', spec: portion, owner: 'uid-of-risotto' });
    const both = snapshotOf({ dinners: [dinner], ingredients: [rice(portion), more] }, { stock: () => 996 });
    expect(violationsIn(both)).toEqual([expect.stringContaining('risotto: has risotto-rice risotto-eggs')]);
    expect(violationsIn(snapshotOf({ ingredients: [rice(portion)] }))).toEqual([
      'ingredients risotto-rice: its Dinner is deleted',
    ]);
  });
});
