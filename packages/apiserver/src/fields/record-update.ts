// The managed fields after a create, a replacement or a patch: the writer becomes the only owner of the fields that it
// changed.
import type { ApiObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { addedOrModified, compare, type Differences } from './compare.ts';
import { difference, type FieldSet, fieldSet, intersection, isEmpty, union } from './field-set.ts';
import { isSameWriter, type Managed, type Writer } from './managers.ts';

// Fields without an owner: those that identify an object, and those that the server writes (stripmeta.go).
const metadataWithoutOwner = [
  ...['name', 'namespace', 'uid', 'generation', 'resourceVersion'],
  ...['creationTimestamp', 'selfLink', 'managedFields'],
].map((field) => `f:${field}`);
const fieldsWithoutOwner = fieldSet(
  ['f:apiVersion', 'f:kind', 'f:metadata'],
  [['f:metadata', fieldSet(metadataWithoutOwner, [])]],
);

/** Returns a set without the fields that cannot have an owner. */
export function ownable(set: FieldSet): FieldSet {
  return difference(set, fieldsWithoutOwner);
}

/**
 * Returns the entries after an update by `writer`. `before` is undefined for a create. An existing object without
 * entries gets none before its first apply. An object whose fields have no names, such as a list item without its key,
 * loses all entries (managedFieldsUpdater.UpdateNoErrors).
 */
export function recordUpdate(
  entries: readonly Managed[],
  before: ApiObject | undefined,
  after: ApiObject,
  request: { readonly schema: Schema; readonly writer: Writer; readonly time: string },
): readonly Managed[] {
  try {
    return entriesAfter(entries, before, after, request);
  } catch (error) {
    if (error instanceof TypeError) return [];
    throw error;
  }
}

function entriesAfter(
  entries: readonly Managed[],
  before: ApiObject | undefined,
  after: ApiObject,
  { schema, writer, time }: { readonly schema: Schema; readonly writer: Writer; readonly time: string },
): readonly Managed[] {
  if (before !== undefined && entries.length === 0) return entries;
  const differences = compare(before === undefined ? {} : content(before), content(after), schema);
  const taken = ownable(addedOrModified(differences));
  const others = releaseOwnership(entries, differences);
  if (isEmpty(taken)) return others;
  const own = others.find((entry) => isSameWriter(entry, writer));
  const fields = own === undefined ? taken : union(own.fields, taken);
  return [...others.filter((entry) => entry !== own), { ...writer, time, fields }];
}

/** Returns entries without the fields that a write changed or removed. */
export function releaseOwnership(entries: readonly Managed[], differences: Differences): readonly Managed[] {
  const lost = union(addedOrModified(differences), differences.removed);
  return entries
    .map((entry) => {
      const overlap = intersection(entry.fields, lost);
      return isEmpty(overlap) ? entry : { ...entry, fields: difference(entry.fields, overlap) };
    })
    .filter(({ fields }) => !isEmpty(fields));
}

/** Returns an object without its managed fields, which have no owner themselves. */
export function content(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
