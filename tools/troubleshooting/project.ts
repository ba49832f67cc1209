// A project with one controller that fails in the way that an object asks for, made as a user makes one: by `outrigger
// new project`, with the package as npm packs it. The packages that it needs are those of this repository.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { packedEnvironment } from '../packages.ts';
import { unpackInto } from './packed-package.ts';

const root = path.resolve(import.meta.dirname, '../..');
const controllersFolder = 'src/controllers';

/** A project in a temporary folder. */
export type Project = {
  readonly folder: string;
  /** The program that npx runs. */
  readonly program: string;
  readonly kubectl: string;
  remove(): Promise<void>;
};

/** Makes the project `shop` with the kind Lamp. */
export async function makeProject(kubectl: string): Promise<Project> {
  const { folder, program, remove } = await newProject('shop');
  await mkdir(path.join(folder, controllersFolder), { recursive: true });
  for (const [file, text] of Object.entries(sources)) {
    await writeFile(path.join(folder, controllersFolder, file), text);
  }
  // A check of types, which each `outrigger dev` starts, shows nothing here.
  await rm(path.join(folder, 'node_modules/typescript'));
  return { folder, program, kubectl, remove };
}

/** Makes a project without controllers in an empty folder. */
export async function newProject(name: string): Promise<Omit<Project, 'kubectl'>> {
  const project = await installPackage();
  const argv = [project.program, 'new', 'project', '--yes', '--name', name];
  await promisify(execFile)(process.execPath, argv, {
    cwd: project.folder,
    env: packedEnvironment(),
  });
  return project;
}

/** Installs the package in an empty folder. */
export async function installPackage(): Promise<Omit<Project, 'kubectl'>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-new-'));
  const modules = path.join(folder, 'node_modules');
  await mkdir(modules);
  for (const one of await readdir(path.join(root, 'node_modules'))) {
    if (!one.startsWith('.') && one !== '@outrigger' && one !== 'outrigger')
      await symlink(path.join(root, 'node_modules', one), path.join(modules, one));
  }
  await mkdir(path.join(modules, '.bin'));
  const programs = {
    node: process.execPath,
    outrigger: '../@outrigger/cli/bin/outrigger.js',
    tsc: '../typescript/bin/tsc',
    vitest: '../vitest/vitest.mjs',
  };
  for (const [one, file] of Object.entries(programs)) await symlink(file, path.join(modules, '.bin', one));
  await unpackInto(modules);
  const program = path.join(modules, '@outrigger/cli/bin/outrigger.js');
  return { folder, program, remove: async () => await rm(folder, { recursive: true, force: true }) };
}

/** Has the controller own a kind of another project, whose CRD is not there. */
export async function ownUnservedKind({ folder }: Project): Promise<void> {
  const file = path.join(folder, controllersFolder, 'lamp.ts');
  await writeFile(file, sources['lamp.ts'].replace('owns: [ConfigMap]', 'owns: [ConfigMap, Certificate]'));
}

const sources = {
  'registry.ts': `import type { ControllerDefinition } from 'outrigger';
import { lamp } from './lamp.ts';

export const registry: readonly ControllerDefinition[] = [lamp];
`,
  'lamp.ts': `import { defineKind, foreignKind, ok, type ResultOf } from 'outrigger';
import { ConfigMap } from 'outrigger/kubernetes';
import * as z from 'zod';

export const Certificate = foreignKind({ group: 'cert-manager.io', version: 'v1', kind: 'Certificate' });

export const Lamp = defineKind({
  group: 'shop.example.com',
  version: 'v1',
  kind: 'Lamp',
  spec: z.object({ does: z.string() }),
  status: z.object({ watts: z.number().int() }),
  conditions: ['Lit'],
});

export const lamp = Lamp.controller('lamp', {
  owns: [ConfigMap],
  timeoutSeconds: 10,
  async reconcile({ metadata: { name }, spec: { does } }, { apply, signal }): Promise<ResultOf<typeof Lamp>> {
    if (does === 'throw') throw new Error('the filament is broken');
    if (does === 'hang') await new Promise(() => undefined);
    if (does === 'return rubbish') return { status: { watts: Number.NaN }, conditions: { Lit: ok('Lit') } };
    if (does === 'ask outside') await fetch('http://127.0.0.1:9797/lamps', { signal });
    if (does === 'take a child') await apply(ConfigMap, { metadata: { name: 'theirs' }, data: {} });
    if (does === 'need a kind') await apply(Certificate, { metadata: { name }, spec: {} });
    await apply(ConfigMap, { metadata: { name }, data: { lit: 'yes' } });
    return { status: { watts: 40 }, conditions: { Lit: ok('Lit') } };
  },
});
`,
} as const;
