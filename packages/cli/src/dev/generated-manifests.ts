// What a function or a watcher needs of the manifests that a build has written.
import path from 'node:path';
import { policyKinds } from 'outrigger/internal/generate/rbac/admission-policy';
import { type Manifest, readManifests } from 'outrigger/internal/testing/manifests';
import { manifestsFolder } from '../project/list-controllers.ts';

const neededKinds: readonly string[] = ['CustomResourceDefinition', 'Namespace', 'ConfigMap'];

/**
 * Reads the generated manifests that a function or a watcher needs. The others are for the watcher's Deployment, or
 * grant access. `policies`: also the admission policies, for a server that knows the functions' identities.
 */
export async function readGenerated(
  root: string,
  { policies = false }: { readonly policies?: boolean } = {},
): Promise<readonly Manifest[]> {
  const all = await readManifests(path.join(root, manifestsFolder));
  const kinds = [...neededKinds, ...(policies ? policyKinds : [])];
  return all.filter(({ kind }) => kinds.includes(kind));
}
