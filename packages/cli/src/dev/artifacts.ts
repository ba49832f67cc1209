// Builds the bundles when they are stale. A lock is held, because a demo and tests share the folders. Current bundles
// are not written: another process may be loading them.

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sleep } from 'outrigger/internal/core/time';
import { lock } from 'proper-lockfile';
import * as z from 'zod';
import { hashFiles } from './hash-files.ts';

/** Builds all bundles into `dist/` below the root. Throws for code that cannot be bundled, and the signal's reason. */
export type Build = (root: string, options: { readonly signal: AbortSignal }) => Promise<unknown>;

const inputs = ['src', 'functions', 'package.json', 'package-lock.json', 'infra/kubernetes'];

/** Builds the bundles below the root if they are stale. */
export async function buildBundles(build: Build, root: string, signal: AbortSignal): Promise<void> {
  const cache = path.join(root, '.outrigger', 'cache');
  const make = async () => await makeBundles(build, root, { stamp: path.join(cache, 'bundles'), signal });
  await withLock(path.join(cache, 'artifacts'), make, signal);
}

async function makeBundles(
  build: Build,
  root: string,
  { stamp, signal }: { readonly stamp: string; readonly signal: AbortSignal },
): Promise<void> {
  // The watcher's bundle stands for all, and its time for the build: a deleted `dist/` is built again, and so is one
  // that `outrigger build` or a reload has written since, maybe of other sources.
  const wanted = async () => {
    const { mtimeMs } = await stat(path.join(root, 'dist/watcher/index.mjs'));
    return `${await hashFiles(root, inputs)} ${mtimeMs}`;
  };
  const isCurrent = await Promise.all([readFile(stamp, 'utf8'), wanted()]).then(
    ([is, should]) => is === should,
    () => false,
  );
  if (isCurrent) return;
  const before = await hashFiles(root, inputs);
  await build(root, { signal });
  // What was saved during the build may be in a part of the bundles.
  const built = await wanted();
  if (built.startsWith(`${before} `)) await writeFile(stamp, built);
}

const lockRetrySeconds = 0.1;
const lockedError = z.object({ code: z.literal('ELOCKED') });

/**
 * Runs `work` while no other process does under the same name. The lock is a folder, `${name}.lock`, which its process
 * touches every five seconds. After ten seconds without a touch it is stale: its process was killed. Rejects if the
 * folder cannot be created, and with the signal's reason.
 */
export async function withLock<T>(name: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await mkdir(path.dirname(name), { recursive: true });
  const release = await acquire(name, signal);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function acquire(name: string, signal: AbortSignal): Promise<() => Promise<void>> {
  // A process whose machine slept has lost the lock. Its work is nearly done, so it continues.
  let isLost = false;
  const onCompromised = () => {
    isLost = true;
  };
  for (;;) {
    try {
      const release = await lock(name, { realpath: false, onCompromised });
      return async () => (isLost ? undefined : await release());
    } catch (error) {
      if (!lockedError.safeParse(error).success) throw error;
    }
    await sleep(lockRetrySeconds, signal);
  }
}
