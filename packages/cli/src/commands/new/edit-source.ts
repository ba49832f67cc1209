// Adds a line to one of the author's sources, where it belongs. The source is edited as text, so that every other line
// stays as it was written. A source of an unexpected form is an error.

import { UserError } from 'outrigger/internal/core/errors';

/** A source: its path, for error messages, and its text. */
export type SourceFile = { readonly file: string; readonly text: string };

/** Adds an import below the last one. Throws UserError for a source without imports. */
export function withImport({ file, text }: SourceFile, statement: string): SourceFile {
  // A formatter may have given the source other quotes, and no semicolons.
  const last = [...text.matchAll(/^(?:import [^;]*|\} )from (?:'[^']+'|"[^"]+");?$/gm)].at(-1);
  if (last === undefined) throw new UserError(`${file}: there is no import to add one to; add ${statement}`);
  const end = last.index + last[0].length;
  return { file, text: `${text.slice(0, end)}\n${statement}${text.slice(end)}` };
}

/**
 * Adds an entry at the end of the list or object that begins with a line like `const rows: readonly Row[] = [`.
 * Throws UserError if there is no such line.
 */
export function withEntry({ file, text }: SourceFile, opening: string, entry: string): SourceFile {
  const start = text.indexOf(opening);
  const close = opening.endsWith('{') ? '}' : ']';
  const rest = text.slice(start + opening.length);
  // A list that ends on its first line, or with a line of its own.
  const [line = ''] = rest.split('\n', 1);
  const length = [line.search(`\\${close};?$`), rest.search(new RegExp(`^\\${close};?$`, 'm'))].find((at) => at >= 0);
  if (start < 0 || length === undefined) {
    throw new UserError(`${file}: ${JSON.stringify(opening)} is not there; add ${entry.trim()}`);
  }
  const end = start + opening.length + length;
  const before = text.slice(0, end).trimEnd();
  const comma = before.endsWith(',') || before.endsWith(opening) ? '' : ',';
  return { file, text: `${before}${comma}\n${entry}\n${text.slice(end).trimStart()}` };
}
