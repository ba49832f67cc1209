// The text files of a project. One that is there and cannot be read never counts as missing: a command would work on
// another project, or write over the file. In memory a text has neither a byte order mark nor CRLF, which Git writes on
// some machines; a file that has them keeps them.
import { byteOrderMark, readRaw } from '../project/project.ts';
import { replaceFile } from './replace-file.ts';

/** Replaces a file, in `within`, as replaceFile does. */
export async function writeTextFile(file: string, text: string, within: string): Promise<void> {
  const before = (await readRaw(file)) ?? '';
  const lines = before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
  await replaceFile(file, before.startsWith(byteOrderMark) ? byteOrderMark + lines : lines, { within });
}
