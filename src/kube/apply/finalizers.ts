// Adds and removes a controller's finalizer. It is a JSON merge patch of the whole list with the resourceVersion that
// was read. A server-side apply would recreate an object that was deleted since the read. A patch without a
// resourceVersion could remove another controller's finalizer.
import type { KubeClient } from '../client/client.ts';
import { isNotFound } from '../client/errors.ts';
import { type KubeObject, parseWritten, type ResourceName } from '../client/object.ts';
import { objectPath } from '../client/path.ts';
import { getObject } from '../client/read.ts';

const mergePatchType = 'application/merge-patch+json';

/** The options of a write. */
export type FinalizerOptions = {
  /** Appears in managedFields, so the resync can distinguish the controller's own writes from others. */
  readonly fieldManager?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** What marks an object as held by a controller: its finalizer, and a label for a controller with a selector. */
export type Marks = {
  readonly finalizer?: string | undefined;
  readonly label?: string | undefined;
  /** What it notes of the object. It is removed with the marks, and is none of them. */
  readonly annotation?: string | undefined;
};

/** Returns whether an object has all the marks. */
export function isHeld(
  { metadata: { finalizers = [], labels = {} } }: KubeObject,
  { finalizer, label }: Marks,
): boolean {
  return (finalizer === undefined || finalizers.includes(finalizer)) && (label === undefined || label in labels);
}

/** Returns whether an object has one of the marks. */
export function isMarked({ metadata: { finalizers = [], labels = {} } }: KubeObject, marks: Marks): boolean {
  return finalizers.some((one) => one === marks.finalizer) || (marks.label !== undefined && marks.label in labels);
}

/**
 * Adds the marks to an object that was read, in one write, and returns the object after it. Writes nothing if the
 * object has them or is being deleted. The error is isConflict if the object has changed since the read, and isNotFound
 * if it no longer exists.
 */
export async function holdObject(
  client: KubeClient,
  resource: ResourceName,
  object: KubeObject,
  marks: Marks,
  options: FinalizerOptions = {},
): Promise<KubeObject> {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined || isHeld(object, marks)) return object;
  const { finalizer, label } = marks;
  return await patchMetadata(client, resource, object, options, {
    ...(finalizer === undefined || finalizers.includes(finalizer) ? {} : { finalizers: [...finalizers, finalizer] }),
    ...(label === undefined ? {} : { labels: { [label]: 'true' } }),
  });
}

/** Removes the marks from an object that was read, in one write. The errors are those of holdObject. */
export async function releaseObject(
  client: KubeClient,
  resource: ResourceName,
  object: KubeObject,
  { finalizer, label, annotation }: Marks,
  options: FinalizerOptions = {},
): Promise<void> {
  const { finalizers = [] } = object.metadata;
  await patchMetadata(client, resource, object, options, {
    ...(finalizer === undefined || !finalizers.includes(finalizer)
      ? {}
      : { finalizers: finalizers.filter((one) => one !== finalizer) }),
    // A merge patch removes a key whose value is null.
    ...(label === undefined ? {} : { labels: { [label]: null } }),
    ...(annotation === undefined ? {} : { annotations: { [annotation]: null } }),
  });
}

/**
 * Sets an annotation of an object that was read. Returns the object after the write. The error is isConflict if the
 * object has changed since the read, and isNotFound if it no longer exists.
 */
export async function setAnnotation(
  client: KubeClient,
  resource: ResourceName,
  object: KubeObject,
  { annotation, value }: { readonly annotation: string; readonly value: string },
  options: FinalizerOptions = {},
): Promise<KubeObject> {
  return await patchMetadata(client, resource, object, options, { annotations: { [annotation]: value } });
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
    const after = await patchMetadata(client, resource, object, options, { finalizers: rest });
    // Removing the last finalizer of an object that is being deleted deletes it.
    return deletionTimestamp !== undefined && (after.metadata.finalizers ?? []).length === 0 ? undefined : after;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // A load balancer or a webhook may have returned the 404: the finalizer would stay for ever.
    const fresh = await getObject(client, resource, object.metadata, { signal: options.signal });
    if (fresh?.metadata.uid === object.metadata.uid) throw error;
    return undefined;
  }
}

async function patchMetadata(
  client: KubeClient,
  resource: ResourceName,
  { metadata }: KubeObject,
  { fieldManager, signal }: FinalizerOptions,
  changed: {
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, 'true' | null>>;
    readonly annotations?: Readonly<Record<string, string | null>>;
  },
): Promise<KubeObject> {
  const path = objectPath(resource, metadata);
  const { body } = await client.request({
    method: 'PATCH',
    path,
    query: { fieldManager },
    contentType: mergePatchType,
    // The resourceVersion also protects against a recreated object of the same name (409). A uid would make that a 422.
    body: { metadata: { resourceVersion: metadata.resourceVersion, ...changed } },
    signal,
  });
  return parseWritten(body, `PATCH ${path}`, metadata.uid);
}
