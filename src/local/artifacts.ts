// What would be deployed, made when it is stale: the bundles and the packaged template. Under a lock, because a demo and
// tests beside it share the folders; bundles that are current are not touched, somebody may be loading them.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hashFiles } from '../dev/hash-files.ts';
import { withLock } from './lock.ts';
import { packagedTemplate } from '../dev/packaged-template.ts';

/** Builds all bundles into `dist/` below the root. Throws for code that cannot be bundled. */
export type Build = (root: string) => Promise<void>;

const inputs = ['src', 'functions', 'infra/kubernetes/generated', 'package-lock.json'];

/** Builds and packages below the root, as far as needed. Returns the packaged template's text. */
export async function makeArtifacts(build: Build, root: string, signal: AbortSignal): Promise<string> {
  const cache = path.join(root, '.outrigger', 'cache');
  await mkdir(cache, { recursive: true });
  return await withLock(
    path.join(cache, 'artifacts'),
    async () => {
      await makeBundles(build, root, path.join(cache, 'bundles'));
      return await packagedTemplate(root, signal);
    },
    signal,
  );
}

async function makeBundles(build: Build, root: string, stamp: string): Promise<void> {
  const hash = await hashFiles(root, inputs);
  // The watcher's bundle stands for all: a `dist/` that was removed must be made again.
  const current = await Promise.all([
    readFile(stamp, 'utf8').catch(() => ''),
    readFile(path.join(root, 'dist/watcher/index.mjs')).then(
      () => true,
      () => false,
    ),
  ]);
  if (current[0] === hash && current[1]) return;
  await build(root);
  await writeFile(stamp, hash);
}
