// A controller's slice of a status: the fields and the conditions that it alone writes. Of a kind of the project it is
// the second controller's, which sees no other part of the status: the rest, and Ready, are the first controller's. Of
// a foreign kind it is what the controller implements of the status of the CRD, with Ready if that is its own to say.

import * as z from 'zod';
import { InvalidResultError, TerminalError } from '../core/errors.ts';
import { isRecord } from '../core/json.ts';
import type { RuntimeCondition } from './conditions.ts';
import type { CustomResource, KindDefinition, StatusView } from './kind-definition.ts';
import { parseStrictly } from './parse-result.ts';

/** A slice, by the names of its fields and conditions. */
export type StatusSlice<F extends string = string, C extends string = string> = {
  readonly status: readonly F[];
  /** At least one: a slice has no other place to report an error. */
  readonly conditions: readonly C[];
  /** Of a foreign kind: the conditions have an observedGeneration. Those of a kind of the project always have. */
  readonly isObserved?: true;
};

/**
 * The fields of a status that a slice can have: optional ones, because the kind's own status must be readable without
 * them.
 */
export type SliceField<Status> = { [F in keyof Status]-?: object extends Pick<Status, F> ? F : never }[keyof Status] &
  string;

/** Leaves out of `C` the conditions of the first controller and of the runtime. */
export type SliceCondition<C extends string, Taken extends string> = C extends Taken | RuntimeCondition ? never : C;

/**
 * What a CRD says of its status, as `import crd` writes it: it is no subresource, or the conditions in it have an
 * `observedGeneration`.
 */
export type StatusForm = 'no-subresource' | 'observed-conditions';

/** The fields that a slice of a foreign kind can have. */
export type ForeignField<O> = Exclude<keyof StatusOf<O> & string, 'conditions'>;
/** What a controller returns of the fields of its slice. One that is left out is removed. */
export type ForeignStatus<O, F extends ForeignField<O>> = { readonly [P in F]?: StatusOf<O>[P] | undefined };
type StatusOf<O> = O extends { readonly status?: infer Status } ? NonNullable<Status> : never;

/** Makes the view of a controller of a foreign kind that writes a part of its status. The CRD has the schema of it. */
export function foreignSliceView<Primary>(
  { read }: { read(raw: object): Primary },
  { status: fields, conditions }: StatusSlice,
): StatusView<Primary> {
  return {
    conditions,
    read,
    parseStatus: (value) => {
      if (value === undefined && fields.length === 0) return {};
      if (!isRecord(value)) throw new InvalidResultError(`status: give an object with ${fields.join(', ')}`);
      const unknown = Object.keys(value).find((field) => value[field] !== undefined && !fields.includes(field));
      if (unknown === undefined) return value;
      throw new TerminalError(`status.${unknown}: unknown field; the statusSlice has ${fields.join(', ') || 'none'}`);
    },
  };
}

/** Makes the view of a slice's controller. */
export function sliceView<Spec, Status, F extends keyof Status & string>(
  kind: { readonly definition: KindDefinition; read(raw: object): CustomResource<Spec, Status> },
  { status, conditions }: StatusSlice<F>,
): StatusView<CustomResource<Spec, Pick<Status, F>>> {
  const { shape } = kind.definition.status;
  const schema = z.object(
    Object.fromEntries(status.flatMap((field) => (field in shape ? [[field, shape[field]] as const] : []))),
  );
  return {
    conditions,
    parseStatus: (value) => parseStrictly(schema, value, 'status'),
    read: (raw) => {
      const { status: _, ...object } = kind.read(raw);
      const last = schema.safeParse('status' in raw ? raw.status : undefined);
      // The status may have only fields of other controllers. While it has none of the slice's fields, the slice has no
      // last status.
      if (!last.success || Object.keys(last.data).length === 0) return object;
      // The schema's fields are picked by name, which the compiler cannot follow through a kind without its shape.
      return { ...object, status: last.data as Pick<Status, F> };
    },
  };
}

/**
 * Reads the generation that a status, or a controller's slice of it, was made from; undefined when it does not say. The
 * generation of a slice is that of its oldest condition. If one of its conditions is missing, it has none.
 */
export function observedGenerationOf(status: unknown, slice?: StatusSlice): number | undefined {
  if (!isRecord(status)) return undefined;
  if (slice === undefined) return numberOf(status.observedGeneration);
  const { conditions } = status;
  const current = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  const observed = slice.conditions.map((type) =>
    numberOf(current.find((condition) => condition.type === type)?.observedGeneration),
  );
  return observed.reduce((oldest, one) =>
    oldest === undefined || one === undefined ? undefined : Math.min(oldest, one),
  );
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
