// The primary object of one reconcile: its latest version, the status fields that the controller owns, and the number
// of writes so far. Every write to the object itself carries the resource version that is kept here.
import { ApiError } from '../kube/client/errors.ts';
import type { KubeObject } from '../kube/client/object.ts';
import { type OwnStatus, ownedStatusOf } from './status/own-status.ts';
import type { Fields } from './status/status.ts';

/** The primary object of a reconcile. */
export type PrimaryObject = ReturnType<typeof createPrimaryObject>;

type Holder = { readonly fieldManager: string; readonly finalizer: string; readonly statusWriter: { own: OwnStatus } };

/** Creates the primary object from an object that was read, for the controller that holds it (Identity). */
export function createPrimaryObject(read: KubeObject, { fieldManager, finalizer, statusWriter }: Holder) {
  let object = read;
  let owned: { readonly of: KubeObject; readonly status: Fields } | undefined;
  let writes = 0;
  let noops = 0;
  const holds = ({ metadata }: KubeObject) => metadata.finalizers?.includes(finalizer) === true;
  return {
    /** Returns the object as it was last read or written. */
    current: () => object,
    /** Replaces the object with a fresh read of it. */
    replace: (fresh: KubeObject): void => {
      object = fresh;
    },
    /**
     * Stores the object that the API server returned for a write, and counts the write. With an unchanged version it
     * was a no-op. Throws an error that is isConflict, and does not store it, if another client has removed the
     * finalizer meanwhile: a write without the version (setMetadata) does not fail then, and the object may never be
     * finalized.
     */
    written: (returned: KubeObject): 'changed' | 'no-op' => {
      const isChanged = returned.metadata.resourceVersion !== object.metadata.resourceVersion;
      if (isChanged) writes += 1;
      else noops += 1;
      if (object.metadata.deletionTimestamp === undefined && holds(object) && !holds(returned)) {
        const message = `another client has removed the finalizer ${finalizer}`;
        throw new ApiError(`PATCH ${object.metadata.name}`, 409, { kind: 'Status', reason: 'Conflict', message });
      }
      object = returned;
      return isChanged ? 'changed' : 'no-op';
    },
    /** Counts a write whose result is not stored. */
    countWrite: (): void => {
      writes += 1;
    },
    hasFinalizer: () => holds(object),
    /** Returns the fields of the status that are the controller's. */
    ownedStatus: () => {
      if (owned?.of !== object) owned = { of: object, status: ownedStatusOf(object, fieldManager, statusWriter.own) };
      return owned.status;
    },
    /** Returns the generation that was read, or 0. The object that a write returned may have a later one. */
    generation: () => read.metadata.generation ?? 0,
    writes: () => writes,
    noops: () => noops,
  };
}
