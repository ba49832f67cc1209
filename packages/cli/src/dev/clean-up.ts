// Removes from a developer's cluster what the local system created there. Objects are deleted while the controllers
// still run, because only they remove their finalizers.

import { toError } from 'outrigger/internal/core/errors';
import { sleep } from 'outrigger/internal/core/time';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { isNotFound } from 'outrigger/internal/kube/client/errors';
import { objectPath, pathSegment } from 'outrigger/internal/kube/client/path';
import type { AppliedManifest } from 'outrigger/internal/testing/manifests';
import * as z from 'zod';

const pollSeconds = 0.2;
const list = z.looseObject({ items: z.array(z.unknown()) });
const definition = z.looseObject({
  spec: z.looseObject({
    group: z.string(),
    names: z.looseObject({ plural: z.string() }),
    versions: z.array(z.looseObject({ name: z.string(), served: z.boolean() })),
  }),
});

/**
 * Deletes the objects that were created, then the CRDs that were created and have no objects of others, then the
 * namespaces. What existed before stays. Returns a line for what was deleted, and one for each thing that stays.
 * @param signal ends the wait for finalizers
 */
export async function cleanUp(
  client: KubeClient,
  applied: readonly AppliedManifest[],
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const created = applied.filter((one) => one.created);
  const ofKind = (kind: string) => created.filter((one) => one.kind === kind);
  const definitions = ofKind('CustomResourceDefinition');
  const namespaces = ofKind('Namespace');
  const objects = created.filter((one) => !definitions.includes(one) && !namespaces.includes(one));
  const stays: string[] = [];
  let deleted = 0;

  async function remove(one: AppliedManifest, waits: boolean): Promise<void> {
    const { resource, kind, object } = one;
    const path = objectPath(resource, object.metadata);
    try {
      await client.request({ method: 'DELETE', path, signal });
      while (waits) {
        await client.request({ method: 'GET', path, signal });
        await sleep(pollSeconds, signal);
      }
      deleted += 1;
    } catch (error) {
      if (isNotFound(error)) deleted += 1;
      else stays.push(`${kind} ${object.metadata.name}: ${signal.aborted ? 'still there' : toError(error).message}`);
    }
  }

  await Promise.all(objects.map(async (one) => await remove(one, true)));
  for (const one of definitions) {
    if (await hasObjects(client, one, signal)) stays.push(`${one.kind} ${one.object.metadata.name}: it has objects`);
    else await remove(one, true);
  }
  await Promise.all(namespaces.map(async (one) => await remove(one, false)));
  return [`deleted ${deleted} objects that were created here`, ...stays.map((line) => `stays: ${line}`)];
}

async function hasObjects(client: KubeClient, { object }: AppliedManifest, signal: AbortSignal): Promise<boolean> {
  const { group, names, versions } = definition.parse(object).spec;
  const version = versions.find(({ served }) => served)?.name ?? '';
  const path = `/apis/${pathSegment(group)}/${pathSegment(version)}/${pathSegment(names.plural)}`;
  try {
    const { body } = await client.request({ method: 'GET', path, query: { limit: 1 }, signal });
    return list.parse(body).items.length > 0;
  } catch (error) {
    // What cannot be listed is not deleted.
    return !isNotFound(error);
  }
}
