// Reads manifests and applies them as kubectl apply --server-side would, as far as the local system needs it: the CRDs and
// the samples. CRDs and namespaces first, the rest when the API server knows its kinds.
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { toError } from '../core/errors.ts';
import { applyObject } from '../kube/apply/apply.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isInvalid, isNotFound } from '../kube/client/errors.ts';
import { type KubeObject, parseObject, type ResourceName } from '../kube/client/object.ts';
import { pathSegment } from '../kube/client/path.ts';
import { waitReally } from '../core/time.ts';
import { DevProblem } from './explain-error.ts';

/** A manifest, and where it came from. */
export type Manifest = {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: KubeObject;
};

/** An object as it is after it was applied. */
export type Applied = { readonly resource: ResourceName; readonly kind: string; readonly object: KubeObject };

const typed = z.looseObject({ apiVersion: z.string().min(1), kind: z.string().min(1) });
const resourceList = z.looseObject({
  resources: z.array(z.looseObject({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

const fieldManager = 'outrigger-dev';
const established = { everySeconds: 0.05, attempts: 200 };

/** Reads a file, or a folder's .yaml and .yml files in the order of their names. Throws DevProblem. */
export async function readManifests(place: string): Promise<readonly Manifest[]> {
  const found = await stat(place).catch((error: unknown) => {
    throw new DevProblem(`${place}: cannot be read; give a file or a folder of manifests`, { cause: error });
  });
  if (!found.isDirectory()) return parseManifests(await readFile(place, 'utf8'), place);
  const names = (await readdir(place)).filter((name) => /\.ya?ml$/.test(name)).sort();
  const all = await Promise.all(names.map(async (name) => await readManifests(path.join(place, name))));
  return all.flat();
}

/** Parses the documents of one file; a List counts as its items, a kustomization as nothing. Throws DevProblem. */
export function parseManifests(text: string, file: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new DevProblem(`${file}: ${error.message}`);
    const value: unknown = document.toJS();
    return value === null ? [] : manifestsOf(value, file);
  });
}

function manifestsOf(value: unknown, file: string): readonly Manifest[] {
  const parsed = typed.safeParse(value);
  if (!parsed.success) throw new DevProblem(`${file}: apiVersion and kind are needed in every document`);
  const { apiVersion, kind } = parsed.data;
  if (kind === 'Kustomization') return [];
  if (kind.endsWith('List') && Array.isArray(parsed.data.items)) {
    return parsed.data.items.flatMap((item) => manifestsOf(item, file));
  }
  try {
    return [{ file, apiVersion, kind, object: parseObject(value) }];
  } catch (error) {
    throw new DevProblem(`${file}: ${kind}: metadata.name is needed`, { cause: error });
  }
}

/** Applies manifests. Throws DevProblem naming the file and the object for what the API server refuses. */
export async function applyManifests(
  client: KubeClient,
  manifests: readonly Manifest[],
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly Applied[]> {
  const known = new Map<string, z.infer<typeof resourceList>['resources']>();

  async function resourceOf({ apiVersion, kind, file }: Manifest): Promise<ResourceName> {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const root = group === '' ? '/api' : `/apis/${pathSegment(group)}`;
    // A CRD is served some time after it was applied.
    for (let attempt = 0; attempt < established.attempts; attempt += 1) {
      const found = known.get(apiVersion)?.find((one) => one.kind === kind && !one.name.includes('/'));
      if (found !== undefined) return { group, version, plural: found.name, namespaced: found.namespaced };
      if (attempt > 0) await waitReally(established.everySeconds, signal);
      known.set(apiVersion, await discover(`${root}/${pathSegment(version)}`));
    }
    throw new DevProblem(
      `${file}: the API server has no kind ${kind} in ${apiVersion}; apply its CRD (npm run generate writes those of the registry)`,
    );
  }

  async function discover(at: string): Promise<z.infer<typeof resourceList>['resources']> {
    try {
      return resourceList.parse((await client.request({ method: 'GET', path: at, signal })).body).resources;
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  async function apply(manifest: Manifest): Promise<Applied> {
    const { apiVersion, kind, file, object } = manifest;
    const resource = await resourceOf(manifest);
    const { namespace = 'default', ...metadata } = object.metadata;
    const wanted = {
      ...object,
      apiVersion,
      kind,
      metadata: { ...metadata, ...(resource.namespaced ? { namespace } : {}) },
    };
    try {
      return { resource, kind, object: await applyObject(client, resource, wanted, { fieldManager, signal }) };
    } catch (error) {
      if (signal.aborted || !isInvalid(error)) throw error;
      throw new DevProblem(`${file}: ${kind} ${metadata.name}: ${toError(error).message}`, { cause: error });
    }
  }

  const isFirst = ({ kind }: Manifest) => kind === 'CustomResourceDefinition' || kind === 'Namespace';
  const first = await Promise.all(manifests.filter(isFirst).map(apply));
  const rest = await Promise.all(manifests.filter((manifest) => !isFirst(manifest)).map(apply));
  return [...first, ...rest];
}
