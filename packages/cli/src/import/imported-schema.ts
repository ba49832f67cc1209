// The parts of an OpenAPI schema of a CRD that become types (apiextensions.k8s.io/v1, JSONSchemaProps). All other
// keywords, such as lengths and CEL rules, are the API server's to check.

import { printable, printableJson } from 'outrigger/internal/core/printable';
import * as z from 'zod';

/** A schema, or a part of one. */
export type ImportedSchema = {
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly nullable?: boolean | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly required?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, ImportedSchema>> | undefined;
  readonly additionalProperties?: ImportedSchema | boolean | undefined;
  readonly items?: ImportedSchema | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
};

/** Parses a schema. Throws a ZodError. */
export const schemaShape: z.ZodType<ImportedSchema> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    description: z.string().optional(),
    nullable: z.boolean().optional(),
    enum: z.array(z.unknown()).optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), schemaShape).optional(),
    additionalProperties: z.union([z.boolean(), schemaShape]).optional(),
    items: schemaShape.optional(),
    'x-kubernetes-int-or-string': z.boolean().optional(),
    'x-kubernetes-preserve-unknown-fields': z.boolean().optional(),
  }),
);

/** What a schema describes, without the nulls that it may permit. */
export type SchemaForm =
  | { readonly form: 'enum'; readonly values: readonly (string | number | boolean)[] }
  | { readonly form: 'int-or-string' | 'number' | 'integer' | 'boolean' | 'string' | 'unknown' }
  | { readonly form: 'array'; readonly items: ImportedSchema }
  | { readonly form: 'map'; readonly values: ImportedSchema }
  | {
      readonly form: 'object';
      readonly fields: readonly (readonly [name: string, schema: ImportedSchema, isRequired: boolean])[];
      /** Whether the API server keeps fields that the schema does not name. */
      readonly isOpen: boolean;
    };

/** Returns what a schema describes. A form that has no type here is `unknown`. */
export function formOf(schema: ImportedSchema): SchemaForm {
  const { type, enum: values, items, properties, additionalProperties, required = [] } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) return { form: 'int-or-string' };
  const literals = (values ?? []).filter(isLiteral);
  if (literals.length > 0) return { form: 'enum', values: literals };
  if (type === 'string' || type === 'boolean' || type === 'number' || type === 'integer') return { form: type };
  if (type === 'array') return { form: 'array', items: items ?? {} };
  if (type !== 'object') return { form: 'unknown' };
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, one]) => [name, one, required.includes(name)] as const);
    return { form: 'object', fields, isOpen: schema['x-kubernetes-preserve-unknown-fields'] === true };
  }
  return { form: 'map', values: typeof additionalProperties === 'object' ? additionalProperties : {} };
}

/** Returns a field's name as a property of an object literal or type. */
export function propertyName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : quoted(name);
}

/** Returns a text as a literal. Its direction characters, which would show other code, are escapes. */
export function quoted(text: string): string {
  return `'${printableJson(JSON.stringify(text)).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** Returns the first sentence of a description as a comment; nothing if it is long. */
export function docLines(description = '', indent = ''): readonly string[] {
  const [sentence = ''] = description
    .replaceAll(/\s+/g, ' ')
    .replaceAll('*/', '* /')
    .trim()
    .split(/(?<=\.) (?=[A-Z])/);
  return sentence === '' || indent.length + sentence.length > 110 ? [] : [`${indent}/** ${printable(sentence)} */`];
}

function isLiteral(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
