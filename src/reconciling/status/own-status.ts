// What of a status is a controller's, whoever has written it. The record of it, managedFields, can be lost (a client
// clears it, a backup restores an object), and others can get a share in it (a backup's PUT of the status, an apply of
// another client, kube-apiserver's own "before-first-apply"). An apply alone would then leave in the object what it no
// longer has: a failure would be shown for ever, or the apply be refused because a condition lacks its time.
import { isRecord } from '../../core/json.ts';
import { heldFields } from '../../kube/apply/emptied.ts';
import { ownEntry, ownedFields } from '../../kube/apply/managed-fields.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import type { Fields } from './status.ts';

/** The conditions and the other fields of a status that no other controller of the project writes. */
export type OwnStatus = {
  readonly conditions: readonly string[];
  readonly fields: readonly string[];
  /** Fields that slices may have. Without a condition of others there is no slice: each has one. */
  readonly sharedFields: readonly string[];
};

/** Reads a controller's fields of a status: those of its record, and those that are there without it. */
export function ownedStatusOf(object: KubeObject, fieldManager: string, own: OwnStatus): Fields {
  const status = fieldsOf(object.status);
  const recorded = ownedFields(object, fieldManager, 'status');
  const claimed = claimedFields(object, fieldManager, own).map((name) => [name, status[name]] as const);
  if (recorded !== undefined) return { ...Object.fromEntries(claimed), ...fieldsOf(recorded.status) };
  const conditions = conditionsOf(status).filter((one) => isOwn(one, own));
  return { ...Object.fromEntries(claimed), ...(conditions.length === 0 ? {} : { conditions }) };
}

/** Returns the JSON pointers of what is the controller's, is not wanted, and would stay after an apply. */
export function remnants(wanted: Fields, object: KubeObject, fieldManager: string, own: OwnStatus): readonly string[] {
  const types = conditionsOf(wanted).map((one) => one.type);
  const { ours, others } = sharesOf(object, fieldManager);
  const all = conditionsOf(fieldsOf(object.status));
  const left = all.filter((one) => {
    if (!isOwn(one, own) || types.includes(one.type)) return false;
    // The apply removes what is in the record of the controller alone.
    return !hasCondition(ours, one) || others.some(({ fields }) => hasCondition(fields, one));
  });
  const conditions = left.map((one) => `/status/conditions/${all.indexOf(one)}`);
  const names = claimedFields(object, fieldManager, own).filter((name) => !(name in wanted));
  const held = heldFields({ status: wanted }, object, { fieldManager, subresource: 'status' });
  return [...new Set([...conditions, ...names.map((name) => `/status/${name}`), ...held])];
}

/**
 * Returns the fields of the controller that are in the status without being in its record: nobody's, as the record is
 * lost, or from a copy of a whole status, which has the conditions or the generation, too. What another client has
 * written or applied by itself stays.
 */
function claimedFields(object: KubeObject, fieldManager: string, own: OwnStatus): readonly string[] {
  const status = fieldsOf(object.status);
  const { ours, others } = sharesOf(object, fieldManager);
  const isShared = conditionsOf(status).some((one) => !isOwn(one, own));
  const names = [...own.fields, ...(isShared ? [] : own.sharedFields)];
  const isCopy = (fields: Fields) =>
    'f:observedGeneration' in fields || own.conditions.some((type) => hasCondition(fields, { type }));
  return names.filter((name) => {
    if (!Object.hasOwn(status, name) || (ours !== undefined && `f:${name}` in ours)) return false;
    const holders = others.filter(({ fields }) => `f:${name}` in fields);
    if (holders.length === 0) return ours === undefined;
    return holders.every(({ isApplied, fields }) => !isApplied && isCopy(fields));
  });
}

/** Returns what the managers have recorded in the status. */
function sharesOf(object: KubeObject, fieldManager: string) {
  const entry = ownEntry(object, fieldManager, 'status');
  const shareOf = (fieldsV1: unknown) => fieldsOf(fieldsOf(fieldsV1)['f:status']);
  const others = (object.metadata.managedFields ?? []).filter((one) => one !== entry);
  return {
    ours: entry === undefined ? undefined : shareOf(entry.fieldsV1),
    others: others.map(({ operation, fieldsV1 }) => ({ isApplied: operation === 'Apply', fields: shareOf(fieldsV1) })),
  };
}

type Typed = Fields & { readonly type: unknown };

function hasCondition(fields: Fields | undefined, { type }: { readonly type: unknown }): boolean {
  return Object.hasOwn(fieldsOf(fields?.['f:conditions']), `k:${JSON.stringify({ type })}`);
}

function isOwn({ type }: Typed, { conditions }: OwnStatus): boolean {
  return conditions.some((one) => one === type);
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** Each item of the list has its key, the type. */
function conditionsOf({ conditions }: Fields): readonly Typed[] {
  const isTyped = (one: unknown): one is Typed => isRecord(one) && 'type' in one;
  return Array.isArray(conditions) && conditions.every(isTyped) ? conditions : [];
}
