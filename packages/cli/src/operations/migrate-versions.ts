// Moves the stored objects of a kind to the version in which new ones are stored, so that the CRD can do without a
// former version. A patch that changes nothing makes the API server write an object that is stored in another version,
// and no other. So the operation can be killed at any point, and run again.

import { forEachConcurrently } from 'outrigger/internal/core/async';
import { UserError } from 'outrigger/internal/core/errors';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { isConflict, isNotFound } from 'outrigger/internal/kube/client/errors';
import type { ResourceName } from 'outrigger/internal/kube/client/object';
import { objectPath } from 'outrigger/internal/kube/client/path';
import { getObject } from 'outrigger/internal/kube/client/read';
import * as z from 'zod';
import { eachPage } from './detach.ts';

/** What was moved. `former` are the versions that the CRD had among its stored ones. */
export type Migration = { readonly version: string; readonly former: readonly string[]; readonly objects: number };

const definitions = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const definition = z.object({
  metadata: z.object({ resourceVersion: z.string() }),
  spec: z.object({ versions: z.array(z.object({ name: z.string(), storage: z.boolean() })) }),
  status: z.object({ storedVersions: z.array(z.string()) }),
});
const contentType = 'application/merge-patch+json';
const concurrency = 8;

/**
 * Moves all objects of a kind, and then sets `status.storedVersions` of its CRD. Throws UserError for a kind without a
 * CRD and if the CRD was changed meanwhile, and the client's error of a list or a patch that fails.
 */
export async function migrateVersions(
  client: KubeClient,
  kind: Pick<ResourceName, 'group' | 'plural' | 'namespaced'>,
  { onProgress, signal }: { readonly onProgress?: (objects: number) => void; readonly signal: AbortSignal },
): Promise<Migration> {
  const name = `${kind.plural}.${kind.group}`;
  const found = await getObject(client, definitions, { name }, { signal });
  if (found === undefined) throw new UserError(`the cluster has no CustomResourceDefinition ${name}; apply it first`);
  const { metadata, spec, status } = definition.parse(found);
  const version = spec.versions.find(({ storage }) => storage)?.name ?? '';
  const former = status.storedVersions.filter((one) => one !== version);
  if (former.length === 0) return { version, former, objects: 0 };
  const resource = { ...kind, version };
  let objects = 0;
  await eachPage(client, resource, { signal }, async (items) => {
    await forEachConcurrently(concurrency, items, async (item) => {
      const path = objectPath(resource, item.metadata);
      try {
        await client.request({ method: 'PATCH', path, contentType, body: {}, signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    });
    objects += items.length;
    onProgress?.(objects);
  });
  const body = { metadata, status: { storedVersions: [version] } };
  const path = objectPath(definitions, { name }, 'status');
  try {
    await client.request({ method: 'PATCH', path, contentType, body, signal });
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw new UserError(`the CustomResourceDefinition ${name} was changed meanwhile; run it again`, { cause: error });
  }
  return { version, former, objects };
}
