// Writes what a build of the samples has for a cluster, before any test runs: the commands of operators read the names of
// their controllers there.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { sourceOption } from '../../tools/packages.ts';

export default async function setup(): Promise<void> {
  const cwd = path.resolve(import.meta.dirname, '../..');
  const env = { ...process.env, NODE_OPTIONS: sourceOption };
  await promisify(execFile)(process.execPath, ['packages/cli/src/commands/main.ts', 'manifests'], { cwd, env });
}
