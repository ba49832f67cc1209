// The text files of a project. One that is there and cannot be read never counts as missing: a command would work on
// another project, or write over the file. In memory a text has neither a byte order mark nor CRLF, which Git writes on
// some machines; a file that has them keeps them.
import { readFile } from 'node:fs/promises';
import { UserError } from '../core/errors.ts';
import { errorCode } from './explain-error.ts';
import { replaceFile } from './replace-file.ts';

const mark = '\ufeff';

/** Reads a text; undefined if there is no file. Throws UserError. */
export async function readTextFile(file: string): Promise<string | undefined> {
  return (await readRaw(file))?.replace(mark, '').replaceAll('\r\n', '\n');
}

/** Replaces a file, in `within`, as replaceFile does. */
export async function writeTextFile(file: string, text: string, within: string): Promise<void> {
  const before = (await readRaw(file)) ?? '';
  const lines = before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
  await replaceFile(file, before.startsWith(mark) ? mark + lines : lines, { within });
}

async function readRaw(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new UserError(`${file}: cannot be read (${errorCode(error) ?? 'no text'})`, { cause: error });
  }
}
