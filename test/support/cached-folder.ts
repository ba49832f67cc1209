// Folders with files for tests that only a network or a compiler can provide, created once per machine. They are
// outside of the tree, under names that change with every input, so that a fresh clone finds them and a new version
// never uses an old file.
import { createHash } from 'node:crypto';
import { access, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { withLock } from '@outrigger/cli/dev/artifacts';

/** The content of a folder. Its name begins with `name` and ends with the hash of `inputs`. */
export type CachedFolder = {
  readonly name: string;
  /** Texts that determine the content: versions, flags, the platform. */
  readonly inputs: readonly string[];
};

/** Longer than Kubernetes takes to compile on two cores with other work. */
const maxMs = 3_600_000;

/**
 * Returns the folder's path, and first calls `make` with an empty folder if this machine does not have it. Concurrent
 * callers in any process wait for it. The folder is renamed when it is complete, so its files must not contain their
 * own path, and an interrupted run leaves no folder that looks complete.
 */
export async function cachedFolder(
  { name, inputs }: CachedFolder,
  make: (unfinished: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256').update(inputs.join('')).digest('hex');
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'outrigger');
  const folder = join(cache, `${name}-${hash.slice(0, 16)}`);
  const makeOnce = async () => {
    if (!(await exists(folder))) await makeFolder(folder, make);
  };
  if (!(await exists(folder))) await withLock(folder, makeOnce, AbortSignal.timeout(maxMs));
  return folder;
}

async function makeFolder(folder: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = await mkdtemp(`${folder}.unfinished-`);
  try {
    await make(unfinished);
    await rename(unfinished, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error; // otherwise another process made it meanwhile
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Returns whether a path exists. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
