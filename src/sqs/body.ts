// Bodies of queues, read and written by a schema: whatever is on a queue, reading it ends with a value or with a
// MessageError that names the field.
import * as z from 'zod';
import { isPathSegment } from '../core/key.ts';
import { formatProblems } from '../core/zod-problems.ts';

/** A body that is not a message of ours. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}

/** A name that may become a segment of an API path; half a surrogate pair, which JSON can spell, cannot be encoded. */
export const segment = z
  .string()
  .max(253)
  .refine((name) => isPathSegment(name) && name.isWellFormed(), { message: 'must be one path segment' });

/** Seconds since 1970, until the year 10000: beyond, no date can be written, and adding to it is not exact for long. */
export const seconds = z.int().min(0).max(253_402_300_799);
/** The same in milliseconds. */
export const milliseconds = z.int().min(0).max(253_402_300_799_999);

/** Reads a body. Throws MessageError. */
export function readBody<S extends z.ZodType>(schema: S, body: string): z.output<S> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new MessageError('the body is not JSON');
  }
  return parse(schema, value);
}

/** Writes a body. Throws MessageError for what could not be read again, so that nothing malformed is ever sent. */
export function writeBody<S extends z.ZodType>(schema: S, message: z.input<S>): string {
  return JSON.stringify(parse(schema, message));
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new MessageError(formatProblems(parsed.error));
  return parsed.data;
}
