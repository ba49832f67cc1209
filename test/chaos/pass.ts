// The token that lets watchers and functions in, and its renewal: where they read it, as whoever renews it would write it.
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** A token, of which there are two that the server takes. */
export type Pass = {
  /** The one that was written last. */
  token(): string;
  /** Writes the other one, where the watcher and the functions look. */
  renew(): Promise<void>;
};

/** Creates the pass of the folder that `openCluster` has written with the first of the tokens. */
export function createPass(folder: string, [first, second]: readonly [string, string]): Pass {
  let now = first;
  return {
    token: () => now,
    renew: async () => {
      const next = now === first ? second : first;
      await put(path.join(folder, 'token'), () => next);
      await put(path.join(folder, 'clusters.json'), (text) => text.replaceAll(now, next));
      now = next;
    },
  };
}

/** Whole or not at all: others read it at any time. */
async function put(file: string, change: (text: string) => string): Promise<void> {
  const text = change(await readFile(file, 'utf8'));
  await writeFile(`${file}.next`, text, { mode: 0o600 });
  await rename(`${file}.next`, file);
}
