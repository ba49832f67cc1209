// Folders of what tests need and only a network or a compiler can give, made once per machine. They live outside the tree, under names
// that change with every input, so that a fresh clone finds them and a new version never meets an old file.
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** What the folder holds: its name begins with `name` and ends with the hash of `inputs`. */
export interface CachedFolder {
  readonly name: string;
  /** Texts that decide what comes into it, one after the other: versions, flags, the platform. */
  readonly inputs: readonly string[];
}

/** What this process is making. Another one that makes the same meanwhile does no harm; one that died in the midst of it holds nobody up. */
const making = new Map<string, Promise<string>>();

/**
 * Returns the folder's path, calling `make` first with an empty one where this machine has none; who asks meanwhile waits for it. It is
 * renamed when it is complete, so nothing in it may know its own path, and what was interrupted leaves nothing that looks finished.
 */
export function cachedFolder(
  { name, inputs }: CachedFolder,
  make: (unfinished: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256').update(inputs.join('')).digest('hex');
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'outrigger');
  const folder = join(cache, `${name}-${hash.slice(0, 16)}`);
  const made = making.get(folder) ?? makeFolder(folder, make).finally(() => making.delete(folder));
  making.set(folder, made);
  return made;
}

async function makeFolder(folder: string, make: (unfinished: string) => Promise<void>): Promise<string> {
  if (await exists(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(`${folder}.unfinished-`);
  try {
    await make(unfinished);
    await rename(unfinished, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error; // else another process finished the same first: its result is as good
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** Tells whether something is there. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
