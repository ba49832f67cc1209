// Builds the page of the console into a folder of the package, with the licenses of the packages that are in it:
// `node ../../tools/console-page.ts lib/console/page` in packages/cli, at prepack.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildPage, copiedFiles } from '@outrigger/cli/console/server/page-files';

const root = path.resolve(import.meta.dirname, '..');
const target = path.resolve(process.argv[2] ?? 'lib/console/page');
const bundled = ['preact', '@preact/signals', '@preact/signals-core', 'uplot'];

await mkdir(target, { recursive: true });
for (const [name, content] of await buildPage()) await writeFile(path.join(target, name), content);
for (const file of copiedFiles)
  await copyFile(path.join(root, 'packages/cli/src/console/page', file), path.join(target, file));
const licenses = await Promise.all(
  bundled.map(async (name) => {
    const text = await readFile(path.join(root, 'node_modules', name, 'LICENSE'), 'utf8');
    return `${name}\n\n${text.trim()}\n`;
  }),
);
await writeFile(path.join(target, 'LICENSES.txt'), licenses.join('\n----\n\n'));
