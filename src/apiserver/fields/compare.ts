// Which fields a write added, removed and changed: what an update makes its writer the owner of.
import { type Json, sameJson } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldSet, fieldSet, NO_FIELDS, union } from './field-set.ts';
import { isHollow, type Shape, schemaBelow, shapeOf } from './shape.ts';

/** The fields in which two values differ. */
export interface Differences {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

const SAME: Differences = { added: NO_FIELDS, removed: NO_FIELDS, modified: NO_FIELDS };

interface Collected {
  readonly members: string[];
  readonly children: [string, FieldSet][];
}

/** Compares two values below one place. Containers that came or went count as fields too. */
export function compare(before: Json | undefined, after: Json | undefined, schema: Schema): Differences {
  if (before === after) return SAME;
  const old = before === undefined ? undefined : partsOf(shapeOf(before, schema), schema);
  const now = after === undefined ? undefined : partsOf(shapeOf(after, schema), schema);
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

/** Returns the fields a write touched and that are still there. */
export function written({ added, modified }: Differences): FieldSet {
  return union(added, modified);
}

interface Part {
  readonly value: Json;
  readonly schema: Schema;
}

function partsOf(shape: Shape, schema: Schema): ReadonlyMap<string, Part> {
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

/** Tells whether two values are compared as one: scalars, atomic ones, two empty ones, or values of different types. */
function isLeafChange(from: Part, to: Part): boolean {
  const [old, now] = [shapeOf(from.value, from.schema).is, shapeOf(to.value, to.schema).is];
  return old !== now || old === 'leaf' || (isHollow(from.value) && isHollow(to.value));
}
