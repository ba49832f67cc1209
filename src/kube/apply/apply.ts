// Server-side apply: the only way we write objects and statuses. What our field manager once set and does not repeat is
// dropped by the server, so what we own is always exactly what we last said.
import type { KubeClient } from '../client/client.ts';
import { type KubeObject, type ObjectKey, parseObject, type ResourceName } from '../client/object.ts';
import { objectPath } from '../client/path.ts';

/** JSON is YAML; the API server accepts it under this type in every version. */
const APPLY = 'application/apply-patch+yaml';

/** Who applies, and how. */
export interface ApplyOptions {
  readonly fieldManager: string;
  /** Takes over fields that others own. Default true: a controller knows what it wants. */
  readonly force?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Names the object whose status is applied, as of our last read or write of it. */
export interface StatusTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly key: ObjectKey;
  /** Guards against a stale read: the answer is isConflict when the object has changed since. */
  readonly resourceVersion: string;
  /** Guards against an object of the same name that was created since. */
  readonly uid?: string | undefined;
}

/**
 * Applies an object and returns it as it is afterwards. On a missing object this creates it; an object given with a uid
 * or a resourceVersion is instead refused (409) when it is missing or another one.
 */
export async function applyObject(
  client: KubeClient,
  resource: ResourceName,
  object: KubeObject,
  { fieldManager, force = true, signal }: ApplyOptions,
): Promise<KubeObject> {
  const { body } = await client.request({
    method: 'PATCH',
    path: objectPath(resource, object.metadata),
    query: { fieldManager, force },
    contentType: APPLY,
    body: object,
    signal,
  });
  return parseObject(body);
}

/** Applies the whole status a manager owns, forced, and returns the object as it is afterwards. isConflict when stale. */
export async function applyStatus(
  client: KubeClient,
  resource: ResourceName,
  { apiVersion, kind, key, resourceVersion, uid }: StatusTarget,
  status: unknown,
  { fieldManager, signal }: Omit<ApplyOptions, 'force'>,
): Promise<KubeObject> {
  const { name, namespace } = key;
  const { body } = await client.request({
    method: 'PATCH',
    path: objectPath(resource, key, 'status'),
    query: { fieldManager, force: true },
    contentType: APPLY,
    body: { apiVersion, kind, metadata: { name, namespace, resourceVersion, uid }, status },
    signal,
  });
  return parseObject(body);
}
