// A schema of a CRD as a zod schema. Fields that it does not name are kept, as `foreignKind` keeps them.
import { formOf, type ImportedSchema, propertyName, quoted } from './imported-schema.ts';

/** Makes the expression. */
export function zodSchema(schema: ImportedSchema, indent = ''): string {
  const expression = expressionOf(schema, indent);
  return schema.nullable === true ? `${expression}.nullable()` : expression;
}

function expressionOf(schema: ImportedSchema, indent: string): string {
  const form = formOf(schema);
  switch (form.form) {
    case 'enum':
      return `z.literal([${form.values.map(literal).join(', ')}])`;
    case 'int-or-string':
      return 'z.union([z.int(), z.string()])';
    case 'integer':
      return 'z.int()';
    case 'number':
    case 'string':
    case 'boolean':
    case 'unknown':
      return `z.${form.form}()`;
    case 'array':
      return `z.array(${zodSchema(form.items, indent)})`;
    case 'map':
      return `z.record(z.string(), ${zodSchema(form.values, indent)})`;
    case 'object': {
      const inner = `${indent}  `;
      const fields = form.fields.map(
        ([name, field, isRequired]) =>
          `${inner}${propertyName(name)}: ${zodSchema(field, inner)}${isRequired ? '' : '.exactOptional()'},`,
      );
      return fields.length === 0 ? 'z.looseObject({})' : `z.looseObject({\n${fields.join('\n')}\n${indent}})`;
    }
  }
}

function literal(value: string | number | boolean): string {
  return typeof value === 'string' ? quoted(value) : String(value);
}
