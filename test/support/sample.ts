// The sample of a kind, as `outrigger dev` applies it. A controller without a sample fails the suite.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { type Manifest, readManifests } from '../../src/testing/manifests.ts';

/** An object to exercise a controller with, and the other objects of its file. */
export type Sample = { readonly subject: Manifest; readonly beside: readonly Manifest[] };

const place = path.resolve(import.meta.dirname, '../../infra/kubernetes');

/** Reads every sample of the repository. */
export async function readSamples(): Promise<readonly Manifest[]> {
  const folders = (await readdir(place)).filter((name) => name.startsWith('samples')).sort();
  return (await Promise.all(folders.map((folder) => readManifests(path.join(place, folder))))).flat();
}

/** Finds the first sample of a controller's kind. Throws an Error that names the missing one. */
export function sampleOf(
  { name, declaration: { resource } }: ControllerDefinition,
  samples: readonly Manifest[],
): Sample {
  const { apiVersion, kind } = resource;
  const isOfKind = (one: Manifest) => one.apiVersion === apiVersion && one.kind === kind;
  const subject = samples.find(isOfKind);
  if (subject === undefined) {
    throw new Error(
      `controller ${name}: there is no ${kind} (${apiVersion}) in infra/kubernetes/samples*; add one that gets Ready there`,
    );
  }
  return { subject, beside: samples.filter((one) => one.file === subject.file && !isOfKind(one)) };
}
