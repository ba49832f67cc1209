// The deletion of one child, or of the reconciled object: by its identity, because another client may have put another
// object in its place.
import { formatKey } from '../../core/key.ts';
import type { KubeClient } from '../client/client.ts';
import { isConflict, isNotFound } from '../client/errors.ts';
import type { KubeObject } from '../client/object.ts';
import { objectPath } from '../client/path.ts';
import { getObject } from '../client/read.ts';
import type { ChildKind } from './child-object.ts';

/**
 * Deletes a child unless it is another object by now, or with a version a changed one. Returns false for one that is
 * gone or going.
 */
export async function deleteChild(
  client: KubeClient,
  { resource, signal }: Pick<ChildKind, 'resource'> & { readonly signal?: AbortSignal | undefined },
  live: KubeObject,
  preconditions: { readonly uid: string | undefined; readonly resourceVersion?: string | undefined },
): Promise<boolean> {
  try {
    await client.request({
      method: 'DELETE',
      path: objectPath(resource, live.metadata),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions },
      signal,
    });
    return true;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
    // Not every 404 and 409 means that the object is gone: a webhook may refuse the deletion. A read decides.
    const fresh = await getObject(client, resource, live.metadata, { signal });
    const isGone = fresh === undefined || fresh.metadata.uid !== live.metadata.uid;
    if (isGone || fresh.metadata.deletionTimestamp !== undefined) return false;
    throw new Error(`${formatKey(live.metadata)} was not deleted: ${error.message}`, { cause: error });
  }
}
