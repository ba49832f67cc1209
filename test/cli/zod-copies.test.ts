// A project with a second zod: only what generate and build say of it. The folder has a copy as zod 4.0 is one, which
// has another version and a registry of its own.
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { useFolder } from '../support/folder.ts';
import { runIn } from './command-result.ts';

const source = path.resolve(import.meta.dirname, '../..');
const ours = Object.values(z.core.version).join('.');
const folder = useFolder();
const { read: readText, write: writeText } = folder;

const kindOf = (zod: string, spec: string) => `
  import * as z from '${zod}';
  import * as ours from '${source}/node_modules/zod/index.js';
  import { defineKind } from '${source}/src/outrigger.ts';
  const reconcile = async () => ({ status: {}, conditions: { Ripe: { status: 'True', reason: 'Ripe' } } });
  export const site = defineKind({
    group: 'sites.example.com', version: 'v1', kind: 'Site', spec: ${spec}, status: ours.object({}), conditions: ['Ripe'],
  }).controller('site', { reconcile });`;
const owner = `z.string().max(9).meta({ refersTo: 'secret', description: 'A Secret' })`;

beforeEach(async () => {
  const copy = folder.at('node_modules/zod');
  const filter = (file: string) => !/\/src$|\.d\.c?ts$|\.cjs$/.test(file);
  await cp(path.join(source, 'node_modules/zod'), copy, { recursive: true, filter });
  const edit = async (file: string, from: RegExp, to: string) =>
    await writeText(`node_modules/zod/${file}`, (await readText(`node_modules/zod/${file}`)).replace(from, to));
  await edit('package.json', /"version": "[^"]*"/, '"version": "4.0.17"');
  await edit('v4/core/versions.js', /minor: \d+,\s*patch: \d+/, 'minor: 0, patch: 17');
  await edit('v4/core/registries.js', /globalThis\.__zod_globalRegistry;/, 'registry();');
  await writeText('package.json', '{"type":"module"}');
  await writeText('functions/site.ts', 'export const handler = () => undefined;');
  await writeText('src/watcher/main.ts', '');
  await writeText(
    'src/controllers/registry.ts',
    `import { site } from '../site.ts';\nexport const registry = [site];\n`,
  );
});

// Control T156.
it('B5: a schema of a second zod is refused by manifests and build, which name both versions and paths', async () => {
  await writeText('src/site.ts', kindOf('zod', `ours.object({ access: ours.object({ owner: ${owner} }) })`));
  for (const command of ['manifests', 'build']) {
    const { err, status } = await runIn(folder.path, [command]);
    expect(status).toBe(1);
    expect(err).toContain(
      `outrigger ${command}: Site.spec.access.owner: is a schema of another zod (4.0.17) than that of Outrigger (${ours})`,
    );
    expect(err).toContain(`found: ${source}/node_modules/zod (${ours}), node_modules/zod (4.0.17)`);
  }
  await expect(readText('dist/kubernetes/rbac.yaml')).rejects.toThrow('ENOENT');
}, 60_000);

it('B5: a second zod is accepted if no schema of a kind comes from it', async () => {
  const spec = `ours.object({ owner: ours.string().max(z.number().parse(9)) })`;
  await writeText('src/site.ts', kindOf('zod', spec));
  expect((await runIn(folder.path, ['manifests'])).status).not.toBe(1);
}, 60_000);
