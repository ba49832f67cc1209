// The fields of a value. A field manager that applies a configuration owns the fields of that configuration.
import { isObject, type Json } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldSet, fieldSet, noFields } from './field-set.ts';
import { fieldShape, isNamed, schemaBelow } from './shape.ts';

/** Returns the fields of a value. Containers that the schema names are not members, unless they are empty. */
export function fieldsOf(value: Json, schema: Schema): FieldSet {
  const shape = fieldShape(value, schema);
  const members: string[] = [];
  const children: [string, FieldSet][] = [];
  if (shape.is === 'leaf') return noFields;
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
    const leaf = fieldShape(content, schemaOfField).is === 'leaf';
    if (empty || leaf || !isNamed(schema, field)) members.push(`f:${field}`);
    children.push([`f:${field}`, fieldsOf(content, schemaOfField)]);
  }
  return fieldSet(members, children);
}

/**
 * Adds the named containers of the fields of a set. Removing the set then also removes containers that become empty.
 */
export function withContainers(set: FieldSet, schema: Schema): FieldSet {
  const named = [...set.children.keys()].filter((element) => isNamed(schema, element.slice(2)));
  return fieldSet(
    [...set.members, ...named],
    [...set.children].map(([element, child]) => {
      const next = element.startsWith('f:') ? schemaBelow(schema, element.slice(2)) : (schema.items ?? {});
      return [element, withContainers(child, next)];
    }),
  );
}
