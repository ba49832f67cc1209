// A schema of a CRD as a TypeScript type.
import { docLines, formOf, type ImportedSchema, propertyName, quoted } from './imported-schema.ts';

/** Makes the type. A field that is not required is optional. */
export function tsType(schema: ImportedSchema, indent = ''): string {
  const type = typeOf(schema, indent);
  return schema.nullable === true ? `${type} | null` : type;
}

function typeOf(schema: ImportedSchema, indent: string): string {
  const form = formOf(schema);
  switch (form.form) {
    case 'enum':
      return form.values.map((value) => (typeof value === 'string' ? quoted(value) : String(value))).join(' | ');
    case 'int-or-string':
      return 'number | string';
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'unknown':
      return form.form;
    case 'array':
      return `readonly ${inParentheses(tsType(form.items, indent))}[]`;
    case 'map':
      return `Readonly<Record<string, ${tsType(form.values, indent)}>>`;
    case 'object': {
      if (form.fields.length === 0) return 'Readonly<Record<string, unknown>>';
      const inner = `${indent}  `;
      const fields = form.fields.flatMap(([name, field, isRequired]) => [
        ...docLines(field.description, inner),
        `${inner}readonly ${propertyName(name)}${isRequired ? '' : '?'}: ${tsType(field, inner)};`,
      ]);
      const known = `{\n${fields.join('\n')}\n${indent}}`;
      return form.isOpen ? `${known} & Readonly<Record<string, unknown>>` : known;
    }
  }
}

function inParentheses(type: string): string {
  return /^(\{.*\}|\w+(<.*>)?)$/s.test(type) ? type : `(${type})`;
}
