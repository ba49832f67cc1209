// Where the copies of zod are, for the error about a second one (zod-copy.ts).
import { readdir, readFile, realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { UserError } from 'outrigger/internal/core/errors';
import * as z from 'zod';
import { runtimeRoot } from './own-module.ts';

const manifest = z.object({ version: z.string() });

/** Makes the error about a second zod, with the paths and versions of all copies. */
export async function secondZodError(problem: string, root: string): Promise<UserError> {
  return new UserError(`${problem}; found: ${(await zodCopies(root)).join(', ')}`);
}

/** Lists the copies that the project, its packages and Outrigger itself find: `node_modules/zod (4.0.17)`. */
async function zodCopies(root: string): Promise<readonly string[]> {
  const packages = await packagesOf(path.join(root, 'node_modules'));
  const copies = new Map<string, string>();
  for (const from of [runtimeRoot, root, ...packages]) {
    const found = await copyFrom(from);
    if (found !== undefined) copies.set(found.folder, found.version);
  }
  return [...copies].map(([folder, version]) => {
    const below = path.relative(root, folder);
    return `${below.startsWith('..') ? folder : below} (${version})`;
  });
}

async function copyFrom(folder: string) {
  try {
    const file = createRequire(path.join(await realpath(folder), 'package.json')).resolve('zod/package.json');
    return { folder: path.dirname(file), ...manifest.parse(JSON.parse(await readFile(file, 'utf8'))) };
  } catch {
    return undefined;
  }
}

async function packagesOf(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const nested = await Promise.all(
    names.map((name) => (name.startsWith('@') ? packagesOf(path.join(folder, name)) : [path.join(folder, name)])),
  );
  return nested.flat();
}
