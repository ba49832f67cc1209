// A second controller's part of a kind: the status fields and the conditions that it alone writes. To that controller the kind
// looks as if there were nothing else to say; the rest of the status, and what sums it up, is the first controller's.
import * as z from 'zod';
import type { RuntimeCondition } from './conditions.ts';
import { parseStrictly } from './parse-strictly.ts';
import type { Custom, Resource } from './resource.ts';

/** How a controller reads an object of its kind, and what it may say of it. A Resource is the side of a first controller. */
export interface Side<S, T> {
  readonly conditions: readonly string[];
  /** Throws InvalidSpecError, naming the field. */
  read(raw: object): Custom<S, T>;
  /** Parses a status strictly. Throws InvalidResultError naming the field that is unknown or wrong. */
  parseStatus(status: unknown): object;
}

/** A part, by the names of what is in it. */
export type Part<F extends string = string, P extends string = string> = {
  readonly status: readonly F[];
  /** At least one: a part has no other place to say what is wrong. */
  readonly conditions: readonly P[];
};

/** The fields of a status that may be a part's: the kind's own status must be readable without them. */
export type PartField<T> = { [F in keyof T]-?: object extends Pick<T, F> ? F : never }[keyof T] & string;

/** Leaves out of `P` what is the first controller's to say. */
export type PartCondition<P extends string, C extends string> = P extends C | RuntimeCondition ? never : P;

/** Makes the side of a part's controller. */
export function sideOfPart<S, T, F extends keyof T & string>(
  resource: Resource<S, T, string, never>,
  { status, conditions }: Part<F>,
): Side<S, Pick<T, F>> {
  const { shape } = resource.definition.status;
  const schema = z.object(
    Object.fromEntries(status.flatMap((field) => (field in shape ? [[field, shape[field]] as const] : []))),
  );
  return {
    conditions,
    parseStatus: (value) => parseStrictly(schema, value, 'status'),
    read: (raw) => {
      const { status: _, ...object } = resource.read(raw);
      const past = schema.safeParse('status' in raw ? raw.status : undefined);
      // The status may be all of others: as long as none of its fields is there, the part has no past.
      if (!past.success || Object.keys(past.data).length === 0) return object;
      // The schema's fields are picked by name, which the compiler cannot follow through a kind without its shape.
      return { ...object, status: past.data as Pick<T, F> };
    },
  };
}
