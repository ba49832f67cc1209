// The manifests of the samples, without a build: kinds, roles and policies, the watch list, and the whole base.
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { generatedFiles, type ManifestOptions, manifestFiles } from '@outrigger/cli/project/manifests';
import { writeYaml } from '@outrigger/common/yaml/write';
import { crdsOnly, registry } from '../../src/controllers/registry.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { type Manifest, parseManifests } from '../../src/testing/manifests.ts';

export const sampleWatchList = watchListOf(registry);

/** The files of kinds, roles and policies, by name. */
export const sampleKinds: ReadonlyMap<string, string> = new Map(
  [...generatedFiles(registry, crdsOnly)].filter(([name]) => name.endsWith('.yaml')),
);

/** Their objects. */
export function kindManifests(): readonly Manifest[] {
  return [...sampleKinds].flatMap(([name, text]) => parseManifests(text, name));
}

/** Makes the files of the whole base. */
export async function sampleBase(options: ManifestOptions = {}): Promise<ReadonlyMap<string, string>> {
  return await manifestFiles({ registry, crdsOnly, project: 'outrigger', namespaces: undefined }, options);
}

const folders = new Set<string>();
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Makes a folder that is there until the process exits: the tests of several files share one. */
async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-manifests-'));
  folders.add(folder);
  return folder;
}

/** Writes the files of the whole base to a folder of its own, and returns that. */
export async function writeBase(options: ManifestOptions = {}): Promise<string> {
  const folder = await temporaryFolder();
  await writeFiles(folder, await sampleBase(options));
  return folder;
}

/** Writes files to a folder. */
export async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(path.join(folder, name), text);
}

/** Writes a kustomization of the kinds, roles and policies to a folder of its own, and returns that. */
export async function writeKinds(): Promise<string> {
  const folder = await temporaryFolder();
  const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' };
  const list = writeYaml([{ ...kustomization, resources: [...sampleKinds.keys()] }]);
  await writeFiles(folder, new Map([...sampleKinds, ['kustomization.yaml', list]]));
  return folder;
}
