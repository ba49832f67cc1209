// Ingredients and dinners: everybody has exactly what was asked for, nobody who is gone has anything, and no goods were moved twice:
// what is left on the shelves is what was there less what is laid out.
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { controllerOf, type Seen } from '../../tools/soak/objects.ts';
import type { Snapshot } from '../../tools/soak/snapshot.ts';

const portion = z.looseObject({ item: z.string(), amount: z.number(), unit: z.string() });
const menu = z.looseObject({ ingredients: z.array(portion.extend({ name: z.string() })) });
const counted = z.looseObject({ ingredientsTotal: z.number(), ingredientsReady: z.number() });
/** Of each item, in each unit, as a pantry begins. */
const initialStock = 1000;

/** Lists what is wrong in the kitchen. `gone` are the uids of portions that were once there. */
export function wrongInKitchen(snapshot: Snapshot, gone: readonly string[]): readonly string[] {
  const { of, outside } = snapshot;
  const portions = of('ingredients');
  const children = Map.groupBy(portions, controllerOf);
  const here = new Set(portions.map(({ metadata }) => metadata.uid));
  return [
    ...portions.flatMap(({ metadata: { name, uid }, spec }) => {
      const { amount, unit } = portion.parse(spec);
      const { measured, reserved } = outside.holding(uid);
      if (measured?.amount === amount && measured.unit === unit && reserved === undefined) return [];
      return [`${name}: the pantry has ${measured?.amount ?? 'nothing'} of ${amount} laid out`];
    }),
    ...gone.flatMap((uid) => {
      const { measured, reserved } = outside.holding(uid);
      return here.has(uid) || (measured === undefined && reserved === undefined)
        ? []
        : [`${uid} is gone, its portion is not`];
    }),
    ...of('dinners').flatMap((dinner) => wrongWith(dinner, children.get(dinner.metadata.uid) ?? [])),
    ...movedTwice(snapshot),
  ];
}

function wrongWith({ metadata: { name }, spec, status }: Seen, children: readonly Seen[]): readonly string[] {
  const { ingredients } = menu.parse(spec);
  const wanted = new Map(ingredients.map(({ name: line, ...asked }) => [`${name}-${line}`, asked]));
  const there = new Map(children.map((child) => [child.metadata.name, child.spec]));
  if (!isDeepStrictEqual(sorted(wanted), sorted(there))) {
    return [
      `${name}: has ${[...there.keys()].join(' ') || 'no children'} and should have ${[...wanted.keys()].join(' ')}`,
    ];
  }
  const { ingredientsTotal, ingredientsReady } = counted.parse(status);
  const isCounted = ingredientsTotal === wanted.size && ingredientsReady === wanted.size;
  return isCounted ? [] : [`${name}: counts ${ingredientsReady} of ${ingredientsTotal}, there are ${wanted.size}`];
}

function sorted(children: ReadonlyMap<string, object>): readonly (readonly [string, object])[] {
  return [...children].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function movedTwice({ of, outside }: Snapshot): readonly string[] {
  const laid = Map.groupBy(
    of('ingredients').map(({ spec }) => portion.parse(spec)),
    ({ item, unit }) => `${item}, ${unit}`,
  );
  return [...laid].flatMap(([what, portions]) => {
    const [first] = portions;
    if (first === undefined) return [];
    const left = outside.stock(first.item, first.unit);
    const should = initialStock - portions.reduce((sum, { amount }) => sum + amount, 0);
    return left === should ? [] : [`the shelf has ${left} of ${what} and should have ${should}`];
  });
}
