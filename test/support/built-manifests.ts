// Writes what a build of the samples has for a cluster, before any test runs: the commands of operators read the names of
// their controllers there.
import path from 'node:path';
import { sampleBase, writeFiles } from './sample-manifests.ts';

export default async function setup(): Promise<void> {
  await writeFiles(path.resolve(import.meta.dirname, '../../dist/kubernetes'), await sampleBase());
}
