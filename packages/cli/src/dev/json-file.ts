// Files that `outrigger dev` wrote, for another command or for its next start.

import { UserError } from 'outrigger/internal/core/errors';
import type * as z from 'zod';
import { readTextFile } from '../project/project.ts';

/**
 * Reads a file of this shape; undefined if there is none. Throws UserError for a file that cannot be read, or has
 * another format.
 * @param what names the content in the error: `a state file of outrigger dev`
 */
export async function readJsonFile<T>(file: string, shape: z.ZodType<T>, what: string): Promise<T | undefined> {
  const text = await readTextFile(file);
  if (text === undefined) return undefined;
  try {
    return shape.parse(JSON.parse(text));
  } catch (error) {
    throw new UserError(`${file}: not ${what}; remove it and restart outrigger dev`, { cause: error });
  }
}
