// API discovery, as kubectl does it: one list of resources for each API group, in the version that the server prefers.
import * as z from 'zod';
import { forEachConcurrently } from '../../core/async.ts';
import { toError } from '../../core/errors.ts';
import type { KubeClient } from './client.ts';
import type { ResourceName } from './object.ts';
import { pathSegment } from './path.ts';

/** A kind that a cluster serves. */
export interface ServedKind extends ResourceName {
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * The kinds of a cluster, and the groups whose discovery failed (for example an aggregated API that is unavailable).
 */
export type DiscoveryResult = { readonly kinds: readonly ServedKind[]; readonly failedGroups: readonly string[] };

const concurrentRequests = 4;

const groups = z.object({
  groups: z.array(z.object({ name: z.string(), preferredVersion: z.object({ version: z.string() }) })),
});
const resources = z.object({
  resources: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      namespaced: z.boolean(),
      verbs: z.array(z.string()),
      shortNames: z.array(z.string()).default([]),
    }),
  ),
});

/** Lists every kind of a cluster, without subresources. Throws the client's error if the groups cannot be listed. */
export async function discoverKinds(
  client: KubeClient,
  { signal }: { readonly signal: AbortSignal },
): Promise<DiscoveryResult> {
  const listed = groups.parse((await client.request({ method: 'GET', path: '/apis', signal })).body);
  const all = [
    { group: '', version: 'v1' },
    ...listed.groups.map(({ name, preferredVersion }) => ({ group: name, version: preferredVersion.version })),
  ];
  const kinds: ServedKind[] = [];
  const failedGroups: string[] = [];
  await forEachConcurrently(concurrentRequests, all, async ({ group, version }) => {
    const root = group === '' ? '/api' : `/apis/${pathSegment(group)}`;
    try {
      const { body } = await client.request({ method: 'GET', path: `${root}/${pathSegment(version)}`, signal });
      for (const { name, ...rest } of resources.parse(body).resources) {
        if (!name.includes('/')) kinds.push({ group, version, plural: name, ...rest });
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      failedGroups.push(`${group === '' ? 'core' : group}/${version}: ${toError(error).message}`);
    }
  });
  return { kinds, failedGroups };
}
