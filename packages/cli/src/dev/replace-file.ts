// Replaces a file as a whole. Other processes read the file at any time, and other users of the machine may have put a
// symbolic link at its path.
import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from 'outrigger/internal/core/errors';

/**
 * Writes a new file next to the old one and renames it, so that no reader sees an incomplete file. A symbolic link at
 * the path is replaced, not followed.
 * @param mode of the new file, such as 0o600
 * @param within the folder in which the file must lie, after all symbolic links in its path are followed. Otherwise
 * throws a UserError, and writes nothing. Missing folders in it are made.
 */
export async function replaceFile(
  file: string,
  text: string,
  { mode = 0o666, within }: { readonly mode?: number; readonly within?: string } = {},
): Promise<void> {
  if (within !== undefined) await makeFolder(path.dirname(file), within);
  const temporary = `${file}.${randomUUID()}.new`;
  try {
    await writeFile(temporary, text, { mode, flag: 'wx' });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Removes a file, if it is there. Its folder must lie in `within`, as for replaceFile. */
export async function removeFile(file: string, { within }: { readonly within: string }): Promise<void> {
  const folder = path.dirname(file);
  if (!(await isThere(folder))) return;
  await requireWithin(folder, within);
  await rm(file, { force: true });
}

/** Makes a folder. The part of its path that exists must lie in the root: nothing is made through a link. */
async function makeFolder(folder: string, root: string): Promise<void> {
  let existing = folder;
  while (!(await isThere(existing)) && existing !== path.dirname(existing)) existing = path.dirname(existing);
  await requireWithin(existing, root);
  await mkdir(folder, { recursive: true });
}

/**
 * Throws a UserError if a folder does not lie in the root, after all symbolic links in its path are followed.
 */
export async function requireWithin(folder: string, root: string): Promise<void> {
  const [real, realRoot] = await Promise.all([realpath(folder), realpath(root)]);
  if (real === realRoot || real.startsWith(`${realRoot}${path.sep}`)) return;
  throw new UserError(`${folder}: a symbolic link leads out of ${root}, to ${real}; remove the link`);
}

async function isThere(file: string): Promise<boolean> {
  return await realpath(file).then(Boolean, () => false);
}
