// Whether what something was made of has changed: one hash over names and contents of files and folders.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Hashes files, and folders with all that is in them; what is not there counts as such. 16 hexadecimal characters. */
export async function hashFiles(root: string, places: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const place of places) {
    for (const file of await filesBelow(path.join(root, place))) {
      const content = await readFile(file).catch(() => 'absent');
      hash.update(path.relative(root, file)).update('\0').update(content).update('\0');
    }
  }
  return hash.digest('hex').slice(0, 16);
}

async function filesBelow(place: string): Promise<readonly string[]> {
  const entries = await readdir(place, { withFileTypes: true, recursive: true }).catch(() => undefined);
  if (entries === undefined) return [place];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}
