// The numeric keywords of a schema, worded as kube-openapi words them.
import { type Cause, cause } from '../status-error.ts';
import type { Schema } from './schema.ts';

const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-2_147_483_648, 2_147_483_647],
  int64: [-(2 ** 63), 2 ** 63],
};

/** Returns what is wrong with a number. `name` is its path in words, `field` the one in the cause. */
export function validateNumber(value: number, schema: Schema, name: string, field: string): Cause[] {
  const { minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false, multipleOf, format } = schema;
  const causes: Cause[] = [];
  const wrong = (detail: string): void => {
    causes.push(cause.invalid(field, String(value), `${name} in body should be ${detail}`));
  };
  const range = format === undefined ? undefined : RANGES[format];
  if (range !== undefined && (!Number.isInteger(value) || value < range[0] || value > range[1])) {
    causes.push(
      cause.invalid(
        '<nil>',
        '""',
        `Checked value must be of type ${schema.type ?? 'integer'} with format ${format} in ${name}`,
      ),
    );
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) wrong(`a multiple of ${multipleOf}`);
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    wrong(exclusiveMaximum ? `less than ${maximum}` : `less than or equal to ${maximum}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    wrong(exclusiveMinimum ? `greater than ${minimum}` : `greater than or equal to ${minimum}`);
  }
  return causes;
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}
