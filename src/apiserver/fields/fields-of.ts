// Which fields a value has: what an applier says it owns.
import { isObject, type Json } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldSet, fieldSet, NO_FIELDS } from './field-set.ts';
import { isNamed, schemaBelow, shapeOf } from './shape.ts';

/** Returns the fields of a value. Containers that the schema names are not fields themselves, unless they are empty. */
export function fieldsOf(value: Json, schema: Schema): FieldSet {
  const shape = shapeOf(value, schema);
  const members: string[] = [];
  const children: [string, FieldSet][] = [];
  if (shape.is === 'leaf') return NO_FIELDS;
  if (shape.is === 'items') {
    for (const item of shape.items) {
      const element = shape.element(item);
      members.push(element);
      children.push([element, fieldsOf(item, shape.schema)]);
    }
    return fieldSet(members, children);
  }
  for (const [field, content] of Object.entries(shape.fields)) {
    const schemaOfField = schemaBelow(schema, field);
    const empty = content === null || (isObject(content) && Object.keys(content).length === 0);
    const leaf = shapeOf(content, schemaOfField).is === 'leaf';
    if (empty || leaf || !isNamed(schema, field)) members.push(`f:${field}`);
    children.push([`f:${field}`, fieldsOf(content, schemaOfField)]);
  }
  return fieldSet(members, children);
}

/** Adds the named containers that lead to fields of a set, so that removing the fields removes what would be left empty. */
export function withContainers(set: FieldSet, schema: Schema): FieldSet {
  const named = [...set.children.keys()].filter((element) => isNamed(schema, element.slice(2)));
  return fieldSet(
    [...set.members, ...named],
    [...set.children].map(([element, below]) => {
      const next = element.startsWith('f:') ? schemaBelow(schema, element.slice(2)) : (schema.items ?? {});
      return [element, withContainers(below, next)];
    }),
  );
}
