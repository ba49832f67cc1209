// The manifest in the package has no optionalDependencies: they are the Node with which this repository is developed,
// and a service that installs the package would download it. npm packs package.json as it is, so it is changed before
// (`prepack`) and restored afterwards (`postpack`).
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

const manifest = path.resolve(import.meta.dirname, '../package.json');
const original = `${manifest}.unpacked`;

if (process.argv[2] === 'prepack') {
  await copyFile(manifest, original);
  const { optionalDependencies: _, ...packed } = JSON.parse(await readFile(manifest, 'utf8'));
  await writeFile(manifest, `${JSON.stringify(packed, undefined, 2)}\n`);
} else {
  await rename(original, manifest);
}
