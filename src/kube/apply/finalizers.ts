// Our finalizer, on and off. By JSON merge patch of the whole list with the version that was read: an apply on an object
// that has gone meanwhile would create it anew, and a list patched without a version could drop a finalizer of others.
import type { KubeClient } from '../client/client.ts';
import { isNotFound } from '../client/errors.ts';
import { type KubeObject, parseObject, type ResourceName } from '../client/object.ts';
import { objectPath } from '../client/path.ts';

const MERGE_PATCH = 'application/merge-patch+json';

/** Who writes. */
export interface FinalizerOptions {
  /** Shown in managedFields, so that resync can tell our own writes from those of others. */
  readonly fieldManager?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Puts a finalizer on an object that was read, and returns the object after the write. Writes nothing when it is there
 * already or the object is being deleted. isConflict when the object has changed since the read, isNotFound when it is gone.
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
 * Takes our finalizer, and no other, off an object that was read. Returns the object after the write, undefined when
 * the object is gone. Writes nothing when it is not there. isConflict when the object has changed since the read.
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
    // The write that removes the last finalizer of a deleting object is the one that deletes it.
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
    contentType: MERGE_PATCH,
    // The version is guard enough against an object created anew under the same name (409); a uid would make that a 422.
    body: { metadata: { resourceVersion: metadata.resourceVersion, finalizers } },
    signal,
  });
  return parseObject(body);
}
