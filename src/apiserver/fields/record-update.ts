// What a create, a replacement or a patch does to the owners of fields: whoever changed a field owns it, alone.
import type { ApiObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { compare, type Differences, written } from './compare.ts';
import { difference, type FieldSet, fieldSet, intersection, isEmpty, union } from './field-set.ts';
import { isSameWriter, type Managed, type Writer } from './managers.ts';

// Never owned by anyone: what identifies an object, and what the server writes (stripmeta.go).
const SERVERS_OWN = fieldSet(
  ['f:apiVersion', 'f:kind', 'f:metadata'],
  [
    [
      'f:metadata',
      fieldSet(
        [
          'name',
          'namespace',
          'creationTimestamp',
          'selfLink',
          'uid',
          'generation',
          'managedFields',
          'resourceVersion',
        ].map((field) => `f:${field}`),
        [],
      ),
    ],
  ],
);

/** Returns a set without the fields that nobody owns. */
export function ownable(set: FieldSet): FieldSet {
  return difference(set, SERVERS_OWN);
}

/**
 * Returns the entries after an update by `writer`. `before` is undefined for a create. An object that exists without entries
 * stays without, until somebody applies.
 */
export function recordUpdate(
  entries: readonly Managed[],
  before: ApiObject | undefined,
  after: ApiObject,
  { schema, writer, time }: { readonly schema: Schema; readonly writer: Writer; readonly time: string },
): readonly Managed[] {
  if (before !== undefined && entries.length === 0) return entries;
  const differences = compare(before === undefined ? {} : content(before), content(after), schema);
  const taken = ownable(written(differences));
  const others = surrender(entries, differences);
  if (isEmpty(taken)) return others;
  const own = others.find((entry) => isSameWriter(entry, writer));
  const fields = own === undefined ? taken : union(own.fields, taken);
  return [...others.filter((entry) => entry !== own), { ...writer, time, fields }];
}

/** Returns entries without the fields that a write changed or removed. */
export function surrender(entries: readonly Managed[], differences: Differences): readonly Managed[] {
  const lost = union(written(differences), differences.removed);
  return entries
    .map((entry) => {
      const overlap = intersection(entry.fields, lost);
      return isEmpty(overlap) ? entry : { ...entry, fields: difference(entry.fields, overlap) };
    })
    .filter(({ fields }) => !isEmpty(fields));
}

/** Returns an object as the owners of fields see it: without the entries themselves. */
export function content(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
