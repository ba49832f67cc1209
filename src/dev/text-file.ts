// Files of a project that may be missing. One that is there and cannot be read never counts as missing: without it a
// command would work on another project, or write over the file.
import { readFile } from 'node:fs/promises';
import { UserError } from '../core/errors.ts';
import { errorCode } from './explain-error.ts';

/** Reads a text without its byte order mark (RFC 8259, 8.1); undefined if there is no file. Throws UserError. */
export async function readTextFile(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\ufeff/, '');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new UserError(`${file}: cannot be read (${errorCode(error) ?? 'no text'})`, { cause: error });
  }
}
