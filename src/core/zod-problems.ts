// Zod's issues as one line that names every field, for statuses, settings and dead letters alike.
import type * as z from 'zod';

/** Writes what is wrong as `path: message; path: message`, every path below `root` where one is given. */
export function formatProblems({ issues }: Pick<z.ZodError, 'issues'>, root?: string): string {
  return issues
    .map(({ path, message }) => {
      const full = [...(root === undefined ? [] : [root]), ...path.map(String)].join('.');
      return full === '' ? message : `${full}: ${message}`;
    })
    .join('; ');
}
