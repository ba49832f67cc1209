// Which kinds a cluster serves, as kubectl finds out: one list for each group, in the version that the server prefers.
import * as z from 'zod';
import { atATime } from '../../core/at-a-time.ts';
import { toError } from '../../core/errors.ts';
import type { KubeClient } from './client.ts';
import type { ResourceName } from './object.ts';
import { pathSegment } from './path.ts';

/** A kind as the cluster serves it. */
export interface ServedKind extends ResourceName {
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly verbs: readonly string[];
}

/** What a cluster serves, and the groups that did not say (an aggregated API that is away). */
export type Served = { readonly kinds: readonly ServedKind[]; readonly silent: readonly string[] };

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

/** Lists every kind of a cluster, subresources left out. Throws what the client throws when not even the groups can be listed. */
export async function discoverKinds(client: KubeClient, { signal }: { readonly signal: AbortSignal }): Promise<Served> {
  const listed = groups.parse((await client.request({ method: 'GET', path: '/apis', signal })).body);
  const all = [
    { group: '', version: 'v1' },
    ...listed.groups.map(({ name, preferredVersion }) => ({ group: name, version: preferredVersion.version })),
  ];
  const kinds: ServedKind[] = [];
  const silent: string[] = [];
  await atATime(4, all, async ({ group, version }) => {
    const root = group === '' ? '/api' : `/apis/${pathSegment(group)}`;
    try {
      const { body } = await client.request({ method: 'GET', path: `${root}/${pathSegment(version)}`, signal });
      for (const { name, ...rest } of resources.parse(body).resources) {
        if (!name.includes('/')) kinds.push({ group, version, plural: name, ...rest });
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      silent.push(`${group === '' ? 'core' : group}/${version}: ${toError(error).message}`);
    }
  });
  return { kinds, silent };
}
