// Reads manifests, and applies them as kubectl apply --server-side does: the CRDs and the samples of the local system.
// CRDs and namespaces are applied first, the other manifests when the API server serves their kinds.

import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import * as z from 'zod';
import { toError, UserError } from '../core/errors.ts';
import { sleep } from '../core/time.ts';
import { createOrApply } from '../kube/apply/apply.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { ApiError, isNotFound } from '../kube/client/errors.ts';
import { type KubeObject, parseObject, type ResourceName } from '../kube/client/object.ts';
import { pathSegment } from '../kube/client/path.ts';
import { getObject } from '../kube/client/read.ts';

/** A manifest, and its file. */
export type Manifest = {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: KubeObject;
};

/** An object as the API server returned it after the apply. */
export type AppliedManifest = {
  readonly resource: ResourceName;
  readonly kind: string;
  readonly object: KubeObject;
  /** Whether it did not exist before. */
  readonly created: boolean;
};

const typed = z.looseObject({ apiVersion: z.string().min(1), kind: z.string().min(1) });
const resourceList = z.looseObject({
  resources: z.array(z.looseObject({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

const crdKind = 'CustomResourceDefinition';
const fieldManager = 'outrigger-dev';
const established = { everySeconds: 0.05, attempts: 200 };

/** Reads a file, a folder's .yaml and .yml files in the order of their names, or their text. Throws UserError. */
export async function readManifests(source: string): Promise<readonly Manifest[]> {
  if (/\n|^\s*\{/.test(source)) return parseManifests(source, 'a text of manifests');
  const found = await stat(source).catch((error: unknown) => {
    throw new UserError(`${source}: cannot be read; give a file or a folder of manifests`, { cause: error });
  });
  if (!found.isDirectory()) return parseManifests(await readFile(source, 'utf8'), source);
  const names = (await readdir(source)).filter((name) => /\.ya?ml$/.test(name)).sort();
  if (names.length === 0) throw new UserError(`${source}: has no .yaml or .yml file; its own folders are not read`);
  const all = await Promise.all(names.map(async (name) => await readManifests(path.join(source, name))));
  return all.flat();
}

/** Parses the documents of one file. A List yields its items; a Kustomization is skipped. Throws UserError. */
export function parseManifests(text: string, file: string): readonly Manifest[] {
  return readDocuments(text, file).flatMap((value) => manifestsOf(value, file));
}

function readDocuments(text: string, file: string): readonly unknown[] {
  try {
    return readYamlDocuments(text);
  } catch (error) {
    throw new UserError(`${file}: the YAML is invalid; fix it: ${toError(error).message}`, { cause: error });
  }
}

function manifestsOf(value: unknown, file: string): readonly Manifest[] {
  const parsed = typed.safeParse(value);
  if (!parsed.success) throw new UserError(`${file}: apiVersion and kind are needed in every document`);
  const { apiVersion, kind } = parsed.data;
  if (kind === 'Kustomization') return [];
  if (kind.endsWith('List') && Array.isArray(parsed.data.items)) {
    return parsed.data.items.flatMap((item) => manifestsOf(item, file));
  }
  try {
    return [{ file, apiVersion, kind, object: parseObject(value) }];
  } catch (error) {
    throw new UserError(`${file}: ${kind}: metadata.name is needed`, { cause: error });
  }
}

/** How manifests are applied. */
export type ApplyManifests = {
  readonly signal: AbortSignal;
  /** How many times the API server is asked for a kind that it does not serve, every 50 ms. */
  readonly attempts?: number;
  /** Leaves objects that exist as they are, but for CRDs. */
  readonly keep?: boolean;
  /** Receives the error of a manifest that is refused, which then is not among the applied ones. */
  readonly onRefused?: (error: UserError) => void;
};

/** Applies manifests. Throws UserError with the file and the object for a manifest that the API server rejects. */
export async function applyManifests(
  client: KubeClient,
  manifests: readonly Manifest[],
  { signal, attempts = established.attempts, keep = false, onRefused }: ApplyManifests,
): Promise<readonly AppliedManifest[]> {
  const known = new Map<string, z.infer<typeof resourceList>['resources']>();

  async function resourceOf({ apiVersion, kind, file }: Manifest): Promise<ResourceName> {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const root = group === '' ? '/api' : `/apis/${pathSegment(group)}`;
    // A CRD is served some time after it was applied.
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const found = known.get(apiVersion)?.find((one) => one.kind === kind && !one.name.includes('/'));
      if (found !== undefined) return { group, version, plural: found.name, namespaced: found.namespaced };
      if (attempt > 0) await sleep(established.everySeconds, signal);
      known.set(apiVersion, await discover(`${root}/${pathSegment(version)}`));
    }
    throw new UserError(
      `${file}: the API server has no kind ${kind} in ${apiVersion}; apply its CRD ` +
        '(npx outrigger build writes the CRDs of the controllers)',
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

  async function apply(manifest: Manifest): Promise<AppliedManifest> {
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
      const kept =
        keep && kind !== crdKind ? await getObject(client, resource, wanted.metadata, { signal }) : undefined;
      if (kept !== undefined) return { resource, kind, object: kept, created: false };
      return { resource, kind, ...(await createOrApply(client, resource, wanted, { fieldManager, signal })) };
    } catch (error) {
      // Any refusal: a field of the wrong type is a 500, an immutable one a 422, a policy a 403.
      if (signal.aborted || !(error instanceof ApiError)) throw error;
      throw new UserError(`${file}: ${kind} ${metadata.name}: ${toError(error).message}`, { cause: error });
    }
  }

  async function applyEach(some: readonly Manifest[]): Promise<readonly AppliedManifest[]> {
    const refused = (error: unknown) => {
      if (onRefused === undefined || !(error instanceof UserError)) throw error;
      onRefused(error);
      return [];
    };
    return (await Promise.all(some.map((manifest) => apply(manifest).catch(refused)))).flat();
  }
  const isFirst = ({ kind }: Manifest) => kind === crdKind || kind === 'Namespace';
  const first = await applyEach(manifests.filter(isFirst));
  return [...first, ...(await applyEach(manifests.filter((manifest) => !isFirst(manifest))))];
}
