// Takes fields out of a value: what an applier owned and no longer says.
import type { Json } from '../../../apiserver/json.ts';
import type { Schema } from '../../../apiserver/schema/schema.ts';
import { below, type FieldSet, isEmpty } from '../../../apiserver/fields/field-set.ts';
import { schemaBelow, shapeOf } from '../../../apiserver/fields/shape.ts';

/** Returns a value without the fields of a set, or undefined where nothing is left of it. */
export function removeFields(value: Json, set: FieldSet, schema: Schema): Json | undefined {
  if (isEmpty(set)) return value;
  const shape = shapeOf(value, schema);
  if (shape.is === 'leaf') return value;
  if (shape.is === 'items') {
    const left: Json[] = [];
    for (const item of shape.items) {
      const element = shape.element(item);
      if (set.members.has(element)) continue;
      const rest = removeFields(item, below(set, element), shape.schema);
      if (rest !== undefined) left.push(rest);
    }
    return left.length === 0 ? undefined : left;
  }
  const left: Record<string, Json> = {};
  for (const [field, content] of Object.entries(shape.fields)) {
    const element = `f:${field}`;
    if (set.members.has(element)) continue;
    const rest = removeFields(content, below(set, element), schemaBelow(schema, field));
    if (rest !== undefined) left[field] = rest;
  }
  return Object.keys(left).length === 0 ? undefined : left;
}
