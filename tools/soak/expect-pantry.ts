// Ingredients and dinners: every object has exactly the portion of its spec, no deleted object has one, and no goods
// were moved twice: the stock is the initial stock less the measured portions.
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { controllerOf, type ObservedObject } from './objects.ts';
import type { Snapshot } from './snapshot.ts';

const portion = z.looseObject({ item: z.string(), amount: z.number(), unit: z.string() });
const menu = z.looseObject({ ingredients: z.array(portion.extend({ name: z.string() })) });
const statusCounts = z.looseObject({ ingredientsTotal: z.number(), ingredientsReady: z.number() });
/** The initial stock of each item, in each unit, of the pantry simulator. */
const initialStock = 1000;

/** Lists the violations in the pantry. `gone` are the uids of earlier portions. */
export function findPantryViolations(snapshot: Snapshot, gone: readonly string[]): readonly string[] {
  const { list, simulators } = snapshot;
  const portions = list('ingredients');
  const children = Map.groupBy(portions, controllerOf);
  const existing = new Set(portions.map(({ metadata }) => metadata.uid));
  return [
    ...portions.flatMap(({ metadata: { name, uid }, spec }) => {
      const { amount, unit } = portion.parse(spec);
      const { measured, reserved } = simulators.holding(uid);
      if (measured?.amount === amount && measured.unit === unit && reserved === undefined) return [];
      return [`${name}: the pantry has ${measured?.amount ?? 'nothing'} of ${amount} measured`];
    }),
    ...gone.flatMap((uid) => {
      const { measured, reserved } = simulators.holding(uid);
      return existing.has(uid) || (measured === undefined && reserved === undefined)
        ? []
        : [`${uid} is deleted, but its portion still exists`];
    }),
    ...list('dinners').flatMap((dinner) => dinnerViolations(dinner, children.get(dinner.metadata.uid) ?? [])),
    ...stockViolations(snapshot),
  ];
}

function dinnerViolations(
  { metadata: { name }, spec, status }: ObservedObject,
  children: readonly ObservedObject[],
): readonly string[] {
  const { ingredients } = menu.parse(spec);
  const expectedChildren = new Map(ingredients.map(({ name: line, ...expected }) => [`${name}-${line}`, expected]));
  const actual = new Map(children.map((child) => [child.metadata.name, child.spec]));
  if (!isDeepStrictEqual(sorted(expectedChildren), sorted(actual))) {
    return [
      `${name}: has ${[...actual.keys()].join(' ') || 'no children'} instead of ${[...expectedChildren.keys()].join(' ')}`,
    ];
  }
  const { ingredientsTotal, ingredientsReady } = statusCounts.parse(status);
  const isCounted = ingredientsTotal === expectedChildren.size && ingredientsReady === expectedChildren.size;
  return isCounted
    ? []
    : [`${name}: its status has ${ingredientsReady} of ${ingredientsTotal} ready instead of ${expectedChildren.size}`];
}

function sorted(children: ReadonlyMap<string, object>): readonly (readonly [string, object])[] {
  return [...children].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function stockViolations({ list, simulators }: Snapshot): readonly string[] {
  const measuredByItem = Map.groupBy(
    list('ingredients').map(({ spec }) => portion.parse(spec)),
    ({ item, unit }) => `${item}, ${unit}`,
  );
  return [...measuredByItem].flatMap(([what, portions]) => {
    const [first] = portions;
    if (first === undefined) return [];
    const stock = simulators.stock(first.item, first.unit);
    const expectedStock = initialStock - portions.reduce((sum, { amount }) => sum + amount, 0);
    return stock === expectedStock ? [] : [`the stock of ${what} is ${stock} instead of ${expectedStock}`];
  });
}
