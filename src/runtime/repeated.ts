// One writer a field, also where an author hands on the whole status (`{ ...status, level }`): what another controller of ours has
// written comes along then. Applied, it would be ours too, and its writer could no longer take it back. Pure.
import { fieldManagerOf } from '../core/names.ts';
import { ownedBy } from '../kube/apply/managed-fields.ts';
import type { KubeObject } from '../kube/client/object.ts';
import { isRecord } from '../kube/record.ts';
import { sameOwned } from '../kube/same-owned.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Leaves out of a status the fields that another controller owns and that say what it said. Of conditions each says its own. */
export function withoutRepeated(status: Fields, object: KubeObject, fieldManager: string): Fields {
  const managers = (object.metadata.managedFields ?? []).flatMap(({ manager = '' }) =>
    manager !== fieldManager && manager.startsWith(fieldManagerOf('')) ? [manager] : [],
  );
  const others = managers.flatMap((manager) => {
    const owned = ownedBy(object, manager, 'status')?.status;
    return isRecord(owned) ? [owned] : [];
  });
  const isRepeated = ([field, value]: readonly [string, unknown]) =>
    !['conditions', 'observedGeneration'].includes(field) &&
    others.some((theirs) => field in theirs && sameOwned({ [field]: value }, { [field]: theirs[field] }));
  return Object.fromEntries(Object.entries(status).filter((entry) => !isRepeated(entry)));
}
