// Reads and writes the bodies of messages by a schema. Reading any body ends with a value, or with a MessageError that
// names the field.
import * as z from 'zod';
import { formatZodIssues, uncompiled } from '../core/json.ts';
import { isPathSegment, maxNameCharacters } from '../core/key.ts';

/** Thrown for a body that is not a valid message. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}

/** A name that becomes a segment of an API path. */
export const segment = z.string().max(maxNameCharacters).refine(isPathSegment, { message: 'must be one path segment' });

/** The name of a resource or a namespace (RFC 1123, DNS label): it has no dot. */
export const dnsLabel = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, 'must be a DNS label');

/**
 * Seconds since 1970, until the year 10000. Later times have no date format, and sums with them soon lose precision.
 */
export const seconds = z.int().min(0).max(253_402_300_799);
/** The same in milliseconds. */
export const milliseconds = z.int().min(0).max(253_402_300_799_999);

/** Reads a body. Throws MessageError. */
export function parseBody<S extends z.ZodType>(schema: S, body: string): z.output<S> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new MessageError('the body is not JSON');
  }
  return parse(schema, value);
}

/**
 * Writes a body. Throws MessageError for a message that could not be read again, so that no malformed message is sent.
 */
export function formatBody<S extends z.ZodType>(schema: S, message: z.input<S>): string {
  return jsonForSqs(parse(schema, message));
}

/** JSON with the only characters escaped that SQS rejects and JSON allows. A rejected key would be sent for ever. */
export function jsonForSqs(value: unknown): string {
  return JSON.stringify(value).replaceAll('\uFFFE', String.raw`\ufffe`).replaceAll('\uFFFF', String.raw`\uffff`);
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, uncompiled);
  if (!parsed.success) throw new MessageError(formatZodIssues(parsed.error));
  return parsed.data;
}
