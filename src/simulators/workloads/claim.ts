// Whose an object is: the controller reference says so, and the selector must agree. What nobody controls and the selector picks is
// taken, and what the selector no longer picks is let go (controller_ref_manager.go).
import type { WorkloadCluster } from './cluster.ts';
import type { Selector, WorkloadKind, WorkloadObject } from './objects.ts';

/** Returns the objects of a kind that are the owner's, after taking and letting go. An owner that is being deleted takes none. */
export async function claim<T extends WorkloadObject, O extends WorkloadObject>(
  cluster: WorkloadCluster,
  kind: WorkloadKind<T>,
  owner: { readonly kind: WorkloadKind<O>; readonly object: O; readonly selector: Selector },
): Promise<readonly T[]> {
  const { uid, namespace, deletionTimestamp } = owner.object.metadata;
  const claimed: T[] = [];
  for (const one of await cluster.list(kind, namespace)) {
    const { ownerReferences = [], labels = {} } = one.metadata;
    const controller = ownerReferences.find((reference) => reference.controller === true);
    const picked = selects(owner.selector, labels);
    const withOwners = (references: readonly object[]) => ({
      ...one,
      metadata: { ...one.metadata, ownerReferences: references },
    });
    if (controller?.uid === uid) {
      if (picked || deletionTimestamp !== undefined) claimed.push(one);
      else {
        const others = ownerReferences.filter((reference) => reference.uid !== uid);
        await cluster.replace(kind, one, withOwners(others));
      }
    } else if (
      controller === undefined &&
      picked &&
      deletionTimestamp === undefined &&
      one.metadata.deletionTimestamp === undefined
    ) {
      const ours = controllerReference(owner.kind, owner.object);
      claimed.push(await cluster.replace(kind, one, withOwners([...ownerReferences, ours])));
    }
  }
  return claimed;
}

/** Makes the reference that a child carries. */
export function controllerReference<O extends WorkloadObject>({ apiVersion, kind }: WorkloadKind<O>, owner: O): object {
  const { name, uid } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Tells whether a label selector picks these labels. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const fits = matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === 'Exists') return value !== undefined;
    if (operator === 'DoesNotExist') return value === undefined;
    const among = value !== undefined && values.includes(value);
    return operator === 'In' ? among : !among;
  });
  return fits && Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}
