// Objects as the soak's judge reads them: plain JSON from the API server, checked for what is looked at and no more.
import * as z from 'zod';
import type { PlainApi } from '../chaos/plain-api.ts';

const condition = z.looseObject({ type: z.string(), status: z.string(), message: z.string().optional() });
const seen = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string(),
    generation: z.number().optional(),
    deletionTimestamp: z.string().optional(),
    labels: z.record(z.string(), z.string()).default({}),
    ownerReferences: z
      .array(z.looseObject({ kind: z.string(), uid: z.string(), controller: z.boolean().optional() }))
      .default([]),
  }),
  spec: z.looseObject({}).default({}),
  status: z
    .looseObject({ observedGeneration: z.number().optional(), conditions: z.array(condition).default([]) })
    .optional(),
});
const list = z.looseObject({ items: z.array(seen) });

/** An object of any kind. */
export type Seen = z.infer<typeof seen>;

/** Where everything happens. */
export const namespace = 'soak';

/** Returns the address of a collection, as `/apis/apps/v1/namespaces/soak/deployments`. */
export function collectionOf(apiVersion: string, plural: string): string {
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/namespaces/${namespace}/${plural}`;
}

/** Reads one object. Throws for what is none. */
export function parseSeen(body: unknown): Seen {
  return seen.parse(body);
}

/** Lists a collection whole. Throws when it cannot be listed. */
export async function listSeen(api: PlainApi, collection: string): Promise<readonly Seen[]> {
  const { status, body } = await api.call('GET', collection);
  if (status !== 200) throw new Error(`GET ${collection}: ${status}`);
  return list.parse(body).items;
}

/** Returns who controls an object. */
export function controllerOf({ metadata }: Seen): string | undefined {
  return metadata.ownerReferences.find(({ controller }) => controller === true)?.uid;
}

/** Returns what is not settled about an object that has a controller of ours, or nothing. */
export function unsettled({ metadata, status }: Seen): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'is still being deleted';
  if (status?.observedGeneration !== metadata.generation) {
    return `was observed at generation ${status?.observedGeneration ?? 'none'} of ${metadata.generation}`;
  }
  const ready = status?.conditions.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return `is not Ready: ${ready?.message ?? 'it has no such condition'}`;
  const trouble = status?.conditions.find(
    ({ type, status: is }) => /^(Reconciling|Stalled)$/.test(type) && is === 'True',
  );
  return trouble === undefined ? undefined : `is ${trouble.type}: ${trouble.message ?? ''}`;
}
