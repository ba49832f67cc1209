// Server-side apply, with which controllers write children and statuses. The server removes fields that the field
// manager set before and does not set again, so the manager owns exactly the fields of its last apply.
import type { KubeClient } from '../client/client.ts';
import { type KubeObject, type ObjectKey, parseWritten, type ResourceName } from '../client/object.ts';
import { objectPath } from '../client/path.ts';

/** JSON is valid YAML. Every version of the API server accepts it with this content type. */
const applyPatchType = 'application/apply-patch+yaml';

/** The options of an apply. */
export type ApplyOptions = {
  readonly fieldManager: string;
  /** Takes ownership of fields of other managers. Default true, as recommended for controllers. */
  readonly force?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The object whose status is applied, as of the last read or write. */
export type StatusTarget = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly key: ObjectKey;
  /** Protects against a stale read: the error is isConflict if the object has changed since. Undefined: any version. */
  readonly resourceVersion: string | undefined;
  /** Protects against an object of the same name that was created since. */
  readonly uid?: string | undefined;
};

/**
 * A version that no stored object has: etcd's revision is 1 before its first write. An apply with it creates a missing
 * object, and conflicts with an existing one [tried on kube-apiserver 1.36.3].
 */
export const noVersion = '1';

/**
 * Applies an object and returns the result. Creates the object if it does not exist. With a uid in the object, the
 * server rejects the apply: with 409 if the object does not exist, with 422 if it is a different one. A resourceVersion
 * alone does not prevent the creation.
 */
export async function applyObject(
  client: KubeClient,
  resource: ResourceName,
  object: KubeObject,
  options: ApplyOptions,
): Promise<KubeObject> {
  return (await createOrApply(client, resource, object, options)).object;
}

/** Applies an object as applyObject does, and also returns whether that created it. */
export async function createOrApply(
  client: KubeClient,
  resource: ResourceName,
  object: KubeObject,
  { fieldManager, force = true, signal }: ApplyOptions,
): Promise<{ readonly object: KubeObject; readonly created: boolean }> {
  const path = objectPath(resource, object.metadata);
  const { status, body } = await client.request({
    method: 'PATCH',
    path,
    query: { fieldManager, force },
    contentType: applyPatchType,
    body: object,
    signal,
  });
  return { object: parseWritten(body, `PATCH ${path}`, object.metadata.uid), created: status === 201 };
}

/** Applies all status fields of a manager, forced, and returns the result. The error is isConflict for a stale read. */
export async function applyStatus(
  client: KubeClient,
  resource: ResourceName,
  { apiVersion, kind, key, resourceVersion, uid }: StatusTarget,
  status: unknown,
  { fieldManager, signal }: Omit<ApplyOptions, 'force'>,
): Promise<KubeObject> {
  const { name, namespace } = key;
  const path = objectPath(resource, key, 'status');
  const { body } = await client.request({
    method: 'PATCH',
    path,
    query: { fieldManager, force: true },
    contentType: applyPatchType,
    body: { apiVersion, kind, metadata: { name, namespace, resourceVersion, uid }, status },
    signal,
  });
  return parseWritten(body, `PATCH ${path}`, uid);
}
