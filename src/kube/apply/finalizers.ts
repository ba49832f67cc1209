// Adds and removes a controller's finalizer. It is a JSON merge patch of the whole list with the resourceVersion that
// was read. A server-side apply would recreate an object that was deleted since the read. A patch without a
// resourceVersion could remove another controller's finalizer.
import type { KubeClient } from '../client/client.ts';
import { isNotFound } from '../client/errors.ts';
import { type KubeObject, parseObject, type ResourceName } from '../client/object.ts';
import { objectPath } from '../client/path.ts';

const mergePatchType = 'application/merge-patch+json';

/** The options of a write. */
export type FinalizerOptions = {
  /** Appears in managedFields, so the resync can distinguish the controller's own writes from others. */
  readonly fieldManager?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Adds a finalizer to an object that was read, and returns the object after the write. Writes nothing if the object has
 * the finalizer or is being deleted. The error is isConflict if the object has changed since the read, and isNotFound
 * if it no longer exists.
 */
export async function ensureFinalizer(
  client: KubeClient,
  resource: ResourceName,
  object: KubeObject,
  finalizer: string,
  options: FinalizerOptions = {},
): Promise<KubeObject> {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined || finalizers.includes(finalizer)) return object;
  return patchFinalizers(client, resource, object, [...finalizers, finalizer], options);
}

/**
 * Removes one finalizer from an object that was read. Returns the object after the write, or undefined if the object no
 * longer exists. Writes nothing if the object does not have the finalizer. The error is isConflict if the object has
 * changed since the read.
 */
export async function removeFinalizer(
  client: KubeClient,
  resource: ResourceName,
  object: KubeObject,
  finalizer: string,
  options: FinalizerOptions = {},
): Promise<KubeObject | undefined> {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (!finalizers.includes(finalizer)) return object;
  const rest = finalizers.filter((one) => one !== finalizer);
  try {
    const after = await patchFinalizers(client, resource, object, rest, options);
    // Removing the last finalizer of an object that is being deleted deletes it.
    return deletionTimestamp !== undefined && (after.metadata.finalizers ?? []).length === 0 ? undefined : after;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function patchFinalizers(
  client: KubeClient,
  resource: ResourceName,
  { metadata }: KubeObject,
  finalizers: readonly string[],
  { fieldManager, signal }: FinalizerOptions,
): Promise<KubeObject> {
  const { body } = await client.request({
    method: 'PATCH',
    path: objectPath(resource, metadata),
    query: { fieldManager },
    contentType: mergePatchType,
    // The resourceVersion also protects against a recreated object of the same name (409). A uid would make that a 422.
    body: { metadata: { resourceVersion: metadata.resourceVersion, finalizers } },
    signal,
  });
  return parseObject(body);
}
