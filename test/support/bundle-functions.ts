// The bundles of a folder's own functions, without those that each build of a project adds.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { makeBundles } from '@outrigger/cli/commands/bundle/make-bundles';

/** Bundles `functions/*.ts` and a watcher. `withExec`: the functions that run commands in pods. Returns warnings. */
export async function bundleFunctions(
  root: string,
  {
    withExec = [],
    watcher = '',
    check,
  }: { withExec?: string[]; watcher?: string; check?: Parameters<typeof makeBundles>[2] } = {},
): Promise<readonly string[]> {
  const files = await readdir(path.join(root, 'functions'));
  const functions = Object.fromEntries(
    files.map((file) => [path.parse(file).name, `export * from './functions/${file}';`]),
  );
  return await makeBundles(root, { functions, watcher, withExec, manifests: {}, warnings: [] }, check);
}
