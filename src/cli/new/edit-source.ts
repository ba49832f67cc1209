// Adding a line to a source of the author's where it belongs. By text, because what is not touched must stay as it was written; a
// source that has another form than expected is an error, never a guess.
import { OperatorProblem } from '../operate.ts';

/** A source: its path, for problems, and its text. */
export type Source = { readonly file: string; readonly text: string };

/** Adds an import below the last one. Throws OperatorProblem for a source without imports. */
export function withImport({ file, text }: Source, statement: string): Source {
  const last = [...text.matchAll(/^(?:import [^;]*|\} )from '[^']+';$/gm)].at(-1);
  if (last === undefined) throw new OperatorProblem(`${file}: there is no import to add one to; add ${statement}`);
  const end = last.index + last[0].length;
  return { file, text: `${text.slice(0, end)}\n${statement}${text.slice(end)}` };
}

/**
 * Adds an entry at the end of the list or object that begins with a line like `const rows: readonly Row[] = [`.
 * Throws OperatorProblem when there is no such line.
 */
export function withEntry({ file, text }: Source, opening: string, entry: string): Source {
  const start = text.indexOf(opening);
  const close = opening.endsWith('{') ? '}' : ']';
  const inside = start + opening.length;
  const end = [text.indexOf(`\n${close};`, inside), text.indexOf(`${close};`, inside)].find((at) => at >= 0);
  if (start < 0 || end === undefined) {
    throw new OperatorProblem(`${file}: ${JSON.stringify(opening)} is not there; add ${entry.trim()}`);
  }
  const before = text.slice(0, end).trimEnd();
  const comma = before.endsWith(',') || before.endsWith(opening) ? '' : ',';
  return { file, text: `${before}${comma}\n${entry}\n${text.slice(end).trimStart()}` };
}
