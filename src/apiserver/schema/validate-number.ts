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
  // What came without a fraction is an integer to Go, and so are its bounds then.
  const shown = (one: number): string => (Number.isSafeInteger(value) ? String(Math.trunc(one)) : asFloat(one));
  const wrong = (detail: string): void => {
    causes.push(cause.invalid(field, shown(value), `${name} in body should be ${detail}`));
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
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) wrong(`a multiple of ${shown(multipleOf)}`);
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    wrong(exclusiveMaximum ? `less than ${shown(maximum)}` : `less than or equal to ${shown(maximum)}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    wrong(exclusiveMinimum ? `greater than ${shown(minimum)}` : `greater than or equal to ${shown(minimum)}`);
  }
  return causes;
}

/** A float64 as Go prints it: the shortest digits, and an exponent of two digits from a million on or below a ten-thousandth. */
function asFloat(value: number): string {
  const [digits, power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}
