// Zod's issues as one line that names every field, for statuses, settings and dead letters alike.
import type * as z from 'zod';

/** Writes what is wrong as `path: message; path: message`. */
export function formatProblems(error: z.ZodError | z.core.$ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join('; ');
}
