// One hash over the names and contents of files and folders: shows whether the inputs of an artifact have changed.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Hashes files, and folders with their files. A missing file changes the hash. Returns 16 hexadecimal characters. */
export async function hashFiles(root: string, paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const one of paths) {
    for (const file of await filesBelow(path.join(root, one))) {
      const content = await readFile(file).catch(() => 'absent');
      hash.update(path.relative(root, file)).update('\0').update(content).update('\0');
    }
  }
  return hash.digest('hex').slice(0, 16);
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => undefined);
  if (entries === undefined) return [folder];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}
