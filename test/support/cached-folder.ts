// Folders of what tests need and only a network or a compiler can give, made once per machine. They live outside the tree, under names
// that change with every input, so that a fresh clone finds them and a new version never meets an old file.
import { createHash } from 'node:crypto';
import { access, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../../src/local/lock.ts';

/** What the folder holds: its name begins with `name` and ends with the hash of `inputs`. */
export interface CachedFolder {
  readonly name: string;
  /** Texts that decide what comes into it, one after the other: versions, flags, the platform. */
  readonly inputs: readonly string[];
}

/** Longer than Kubernetes takes to compile on two cores that do other work. */
const longestMs = 3_600_000;

/**
 * Returns the folder's path, calling `make` first with an empty one where this machine has none; who asks meanwhile, in any process, waits
 * for it. It is renamed when it is complete, so nothing in it may know its own path, and what was interrupted leaves nothing that looks
 * finished.
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
  if (!(await exists(folder))) await withLock(folder, makeOnce, AbortSignal.timeout(longestMs));
  return folder;
}

async function makeFolder(folder: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = await mkdtemp(`${folder}.unfinished-`);
  try {
    await make(unfinished);
    await rename(unfinished, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error; // else the machine slept, and another process made it meanwhile: its result is as good
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Tells whether something is there. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
