// What the suite needs to know of a kind: its own sample, as `outrigger dev` applies it. A controller without one fails, because
// nothing could be said of it.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Registered } from '../../src/core/controller.ts';
import { type Manifest, readManifests } from '../../src/dev/manifests.ts';

/** An object to exercise a controller with, and what its file has beside it. */
export type Sample = { readonly subject: Manifest; readonly beside: readonly Manifest[] };

const place = path.resolve(import.meta.dirname, '../../infra/kubernetes');

/** Reads every sample of the repository. */
export async function readSamples(): Promise<readonly Manifest[]> {
  const folders = (await readdir(place)).filter((name) => name.startsWith('samples')).sort();
  return (await Promise.all(folders.map((folder) => readManifests(path.join(place, folder))))).flat();
}

/** Finds the first sample of a controller's kind. Throws an Error that says what is missing. */
export function sampleOf({ name, declares: { resource } }: Registered, samples: readonly Manifest[]): Sample {
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
