// Objects as the soak's checks read them: plain JSON from the API server, validated only as far as the checks use it.
import * as z from 'zod';
import type { PlainApi } from '../chaos/plain-api.ts';

const condition = z.looseObject({ type: z.string(), status: z.string(), message: z.string().optional() });
const observedObject = z.looseObject({
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
const list = z.looseObject({ items: z.array(observedObject) });

/** An object of any kind. */
export type ObservedObject = z.infer<typeof observedObject>;

/** The namespace of all objects. */
export const namespace = 'soak';

/** Returns the path of a collection, such as `/apis/apps/v1/namespaces/soak/deployments`. */
export function collectionOf(apiVersion: string, plural: string): string {
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/namespaces/${namespace}/${plural}`;
}

/** Parses one object. Throws for anything else. */
export function parseObject(body: unknown): ObservedObject {
  return observedObject.parse(body);
}

/** Lists a whole collection. Throws when it cannot be listed. */
export async function listObjects(api: PlainApi, collection: string): Promise<readonly ObservedObject[]> {
  const { status, body } = await api.call('GET', collection);
  if (status !== 200) throw new Error(`GET ${collection}: ${status}`);
  return list.parse(body).items;
}

/** Returns the uid of an object's controller. */
export function controllerOf({ metadata }: ObservedObject): string | undefined {
  return metadata.ownerReferences.find(({ controller }) => controller === true)?.uid;
}

/** Returns why an object with a controller has not converged; undefined if it has. */
export function describeUnconverged({ metadata, status }: ObservedObject): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'is still being deleted';
  if (status?.observedGeneration !== metadata.generation) {
    return `was observed at generation ${status?.observedGeneration ?? 'none'} of ${metadata.generation}`;
  }
  const ready = status?.conditions.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return `is not Ready: ${ready?.message ?? 'it has no such condition'}`;
  const unfinished = status?.conditions.find(
    ({ type, status: value }) => /^(Reconciling|Stalled)$/.test(type) && value === 'True',
  );
  return unfinished === undefined ? undefined : `is ${unfinished.type}: ${unfinished.message ?? ''}`;
}
