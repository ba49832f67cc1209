// The files that a project got from the package, as they were then: the base of the next `outrigger upgrade`. It is
// part of the project's repository, so that an upgrade needs neither the network nor the old package.
import * as z from 'zod';
import { UserError } from '../../core/errors.ts';
import { formatZodIssues, parseJson } from '../../core/json.ts';
import type { Files } from './merge-files.ts';

/** Its path in the project. */
export const baseFile = 'infra/outrigger-base.json';

const note = 'What outrigger upgrade compares with. Written by outrigger; keep it in the repository.';
const shape = z.object({ version: z.string(), files: z.record(z.string(), z.string()) });

/** Formats the base: the files of a version. */
export function formatBase(version: string, files: Files): string {
  return `${JSON.stringify({ note, version, files: Object.fromEntries([...files].toSorted()) }, undefined, 2)}\n`;
}

/** Parses a base. Throws UserError for a text of another form. */
export function parseBase(text: string): { readonly version: string; readonly files: Files } {
  const parsed = shape.safeParse(parseJson(text));
  if (!parsed.success) throw new UserError(`${baseFile}: ${formatZodIssues(parsed.error)}`);
  return { version: parsed.data.version, files: new Map(Object.entries(parsed.data.files)) };
}
