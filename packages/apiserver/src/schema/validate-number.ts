// Validates the numeric keywords of a schema, with the messages of kube-openapi. validate.ts calls it for numbers.
import { type StatusCause, statusCause } from '../status-error.ts';
import type { Schema } from './schema.ts';

const formatRanges: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-2_147_483_648, 2_147_483_647],
  int64: [-(2 ** 63), 2 ** 63],
};

/** Returns the causes for a number. `name` is its path in messages, `field` the path in the cause. */
export function validateNumber(value: number, schema: Schema, name: string, field: string): StatusCause[] {
  const { exclusiveMinimum = false, exclusiveMaximum = false, format } = schema;
  const causes: StatusCause[] = [];
  // A number without a fraction is an integer in Go, and then the bounds are converted as well.
  const isWhole = Number.isSafeInteger(value);
  const converted = (one: number | undefined) => (isWhole && one !== undefined ? toInteger(one) : one);
  const [minimum, maximum, multipleOf] = [schema.minimum, schema.maximum, schema.multipleOf].map(converted);
  const shown = (one: number): string => (isWhole ? String(BigInt(one)) : asFloat(one));
  const addCause = (detail: string): void => {
    causes.push(statusCause.invalid(field, shown(value), `${name} in body should be ${detail}`));
  };
  const range = format === undefined ? undefined : formatRanges[format];
  if (range !== undefined && (!Number.isInteger(value) || value < range[0] || value > range[1])) {
    causes.push(
      statusCause.invalid(
        '<nil>',
        '""',
        `Checked value must be of type ${schema.type ?? 'integer'} with format ${format} in ${name}`,
      ),
    );
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) addCause(`a multiple of ${shown(multipleOf)}`);
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    addCause(exclusiveMaximum ? `less than ${shown(maximum)}` : `less than or equal to ${shown(maximum)}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    addCause(exclusiveMinimum ? `greater than ${shown(minimum)}` : `greater than or equal to ${shown(minimum)}`);
  }
  return causes;
}

/** Converts a float64 to int64 as Go does on AMD64. */
function toInteger(value: number): number {
  return Math.abs(value) < 2 ** 63 ? Math.trunc(value) : -(2 ** 63);
}

/** Formats a float64 as Go does: with an exponent of two digits from a million, and below a ten-thousandth. */
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
