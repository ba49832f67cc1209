// Ownership of an object: its controller reference decides, and the owner's selector must match. An object without a
// controller that the selector matches is adopted; an object that the selector no longer matches is released
// (controller_ref_manager.go).
import { selectsLabels } from '../checks/workload-rules.ts';
import type { WorkloadCluster } from './cluster.ts';
import type { Selector, WorkloadKind, WorkloadObject } from './objects.ts';

/** Returns the owner's objects of a kind, after adopting and releasing. An owner that is being deleted adopts none. */
export async function claim<T extends WorkloadObject, O extends WorkloadObject>(
  cluster: WorkloadCluster,
  kind: WorkloadKind<T>,
  owner: { readonly kind: WorkloadKind<O>; readonly object: O; readonly selector: Selector },
): Promise<readonly T[]> {
  const { uid, namespace, deletionTimestamp } = owner.object.metadata;
  const claimed: T[] = [];
  for (const one of await cluster.list(kind, namespace)) {
    const { ownerReferences = [], labels = {} } = one.metadata;
    const controller = ownerReferences.find((one) => one.controller === true);
    const matches = selectsLabels(owner.selector, labels);
    const withOwners = (references: readonly object[]) => ({
      ...one,
      metadata: { ...one.metadata, ownerReferences: references },
    });
    if (controller?.uid === uid) {
      if (matches || deletionTimestamp !== undefined) claimed.push(one);
      else {
        const others = ownerReferences.filter((one) => one.uid !== uid);
        await cluster.replace(kind, one, withOwners(others));
      }
    } else if (
      controller === undefined &&
      matches &&
      deletionTimestamp === undefined &&
      one.metadata.deletionTimestamp === undefined
    ) {
      const reference = controllerReference(owner.kind, owner.object);
      claimed.push(await cluster.replace(kind, one, withOwners([...ownerReferences, reference])));
    }
  }
  return claimed;
}

/** Creates the controller reference of a child. */
export function controllerReference<O extends WorkloadObject>({ apiVersion, kind }: WorkloadKind<O>, owner: O): object {
  const { name, uid } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
