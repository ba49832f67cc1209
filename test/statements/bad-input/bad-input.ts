// The shape of a kind's table: what a user may get wrong in an object of it, and what the API server makes of that. One table a
// kind, all run by bad-input.test.ts.
import type { AnyCustomKind } from '../../../src/api/custom-kind.ts';

/** What a rule on metadata.name names: the API server has no path for the object itself. */
export const wholeObject = '<nil>';

/** An object that is refused with 422. */
export type Refused = {
  /** The statement, where it is another than its kind's. */
  readonly id?: string;
  readonly what: string;
  readonly name?: string;
  /** Absent: the object has none. */
  readonly spec?: unknown;
  /** What the refusal names: all of these. */
  readonly fields: readonly string[];
  /** A part of what it says of the first of them. */
  readonly says?: string;
};

/** An object that is taken although one might think it would not be. */
export type Taken = {
  readonly id?: string;
  readonly what: string;
  readonly name?: string;
  readonly spec: object;
  /** What its spec then holds, at least. */
  readonly stored: object;
};

/** A kind's table. */
export type BadInput = {
  readonly kind: AnyCustomKind;
  /** The statement: names of tests begin with it. */
  readonly id: string;
  /** The statement about fields that are not known, where it is another. */
  readonly idOfUnknown?: string;
  /** A spec with which nothing is wrong. */
  readonly good: Readonly<Record<string, unknown>>;
  readonly refused: readonly Refused[];
  readonly taken?: readonly Taken[];
};

/** A row for a name that is refused. */
export function badName(name: string, spec: object, says: string): Refused {
  const what = name.length > 40 ? `metadata.name of ${name.length} letters` : `metadata.name "${name}"`;
  return { what, name, spec, fields: [wholeObject], says };
}

/** A row for the longest name. */
export function longestName(length: number, spec: object): Taken {
  return { what: `metadata.name of ${length} letters`, name: 'a'.repeat(length), spec, stored: spec };
}

/** The object without one of its fields. */
export function without(object: object, field: string): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field));
}
