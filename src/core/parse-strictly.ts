// What a reconciler says is held against its schema without tolerance: a field that the schema does not know would be
// dropped on its way to the API server, and nobody would hear of it.
import type * as z from 'zod';
import { InvalidResultError } from './errors.ts';
import { formatProblems } from './zod-problems.ts';

/** Parses a value; what the schema does not know is an error too, at any depth. Throws InvalidResultError, naming the field below `name`. */
export function parseStrictly(schema: z.ZodObject, value: unknown, name: string): object {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new InvalidResultError(formatProblems(parsed.error, name));
  const unknown = unknownPath(value, parsed.data, name);
  if (unknown !== undefined) throw new InvalidResultError(`${unknown}: unknown field`);
  return parsed.data;
}

function unknownPath(given: unknown, known: unknown, path: string): string | undefined {
  if (typeof given !== 'object' || given === null || typeof known !== 'object' || known === null) return undefined;
  const kept = new Map(Object.entries(known));
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const at = `${path}.${name}`;
    if (!kept.has(name)) return at;
    const below = unknownPath(value, kept.get(name), at);
    if (below !== undefined) return below;
  }
  return undefined;
}
