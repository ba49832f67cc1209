// Compares two versions of an object by fields: those that a write added, removed and modified. The writer of an update
// becomes the owner of the added and modified ones.
import { type Json, sameJson } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldSet, fieldSet, noFields, union } from './field-set.ts';
import { type FieldShape, fieldShape, isEmptyValue, schemaBelow } from './shape.ts';

/** The fields that differ between two values. */
export type Differences = {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
};

const noDifferences: Differences = { added: noFields, removed: noFields, modified: noFields };

type Collected = {
  readonly members: string[];
  readonly children: [string, FieldSet][];
};

/** Compares two values. Added and removed containers count as fields too. */
export function compare(before: Json | undefined, after: Json | undefined, schema: Schema): Differences {
  if (before === after) return noDifferences;
  const old = before === undefined ? undefined : partsOf(fieldShape(before, schema), schema);
  const now = after === undefined ? undefined : partsOf(fieldShape(after, schema), schema);
  const added: Collected = { members: [], children: [] };
  const removed: Collected = { members: [], children: [] };
  const modified: Collected = { members: [], children: [] };
  for (const element of new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
    const [from, to] = [old?.get(element), now?.get(element)];
    if (from !== undefined && to !== undefined && isLeafChange(from, to)) {
      if (!sameJson(from.value, to.value)) modified.members.push(element);
      continue;
    }
    if (from === undefined) added.members.push(element);
    if (to === undefined) removed.members.push(element);
    const differences = compare(from?.value, to?.value, from?.schema ?? to?.schema ?? {});
    added.children.push([element, differences.added]);
    removed.children.push([element, differences.removed]);
    modified.children.push([element, differences.modified]);
  }
  const set = ({ members, children }: Collected): FieldSet => fieldSet(members, children);
  return { added: set(added), removed: set(removed), modified: set(modified) };
}

/** Returns the fields that a write added or modified. */
export function addedOrModified({ added, modified }: Differences): FieldSet {
  return union(added, modified);
}

type Part = {
  readonly value: Json;
  readonly schema: Schema;
};

function partsOf(shape: FieldShape, schema: Schema): ReadonlyMap<string, Part> {
  if (shape.is === 'fields') {
    return new Map(
      Object.entries(shape.fields).map(([field, value]) => [
        `f:${field}`,
        { value, schema: schemaBelow(schema, field) },
      ]),
    );
  }
  if (shape.is === 'leaf') return new Map();
  return new Map(shape.items.map((value) => [shape.element(value), { value, schema: shape.schema }]));
}

/**
 * Returns whether two values are compared as a whole: scalars, atomic values, empty values, or values of different
 * types.
 */
function isLeafChange(from: Part, to: Part): boolean {
  const [old, now] = [fieldShape(from.value, from.schema).is, fieldShape(to.value, to.schema).is];
  return old !== now || old === 'leaf' || (isEmptyValue(from.value) && isEmptyValue(to.value));
}
