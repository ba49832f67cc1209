// A lock file for a new project, so that npm does not ask the registry about each of some 600 packages, which takes minutes.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const source = path.resolve(import.meta.dirname, '../..');

/** Gives a project the versions of this repository's lock files. npm drops what the project does not need. */
export async function seedLock(project: string): Promise<void> {
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8'));
  const manifest = await read(path.join(project, 'package.json'));
  const [infra, ours] = [
    await read(path.join(source, 'infra/package-lock.json')),
    await read(path.join(source, 'package-lock.json')),
  ];
  const own = await read(path.join(project, 'package-lock.json')).catch(() => ({ packages: {} }));
  const packages = { ...infra.packages, ...ours.packages, ...own.packages, '': manifest };
  await writeFile(
    path.join(project, 'package-lock.json'),
    JSON.stringify({ ...ours, name: manifest.name, version: manifest.version, packages }),
  );
}
