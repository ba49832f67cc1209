// The token of watchers and functions at the API server, and its renewal in the files from which they read it.
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** A token file that alternates between two tokens, both of which the server accepts. */
export type TokenFile = {
  /** The token that was written last. */
  current(): string;
  /** Writes the other token to the files that the watcher and the functions read. */
  renew(): Promise<void>;
};

/** Creates the token file in the folder that `openCluster` has written with the first of the tokens. */
export function createTokenFile(folder: string, [first, second]: readonly [string, string]): TokenFile {
  let current = first;
  return {
    current: () => current,
    renew: async () => {
      const next = current === first ? second : first;
      await replaceFile(path.join(folder, 'token'), () => next);
      await replaceFile(path.join(folder, 'clusters.json'), (text) => text.replaceAll(current, next));
      current = next;
    },
  };
}

/** Replaces the file atomically, because others read it at any time. */
async function replaceFile(file: string, change: (text: string) => string): Promise<void> {
  const text = change(await readFile(file, 'utf8'));
  await writeFile(`${file}.next`, text, { mode: 0o600 });
  await rename(`${file}.next`, file);
}
