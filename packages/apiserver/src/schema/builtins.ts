// Reads the schemas of built-in kinds. They reference each other by name, and the schema of CustomResourceDefinition
// references itself. References are resolved into one object graph on first use, so unused schemas are never parsed.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { anythingSchema, type Schema } from './schema.ts';

/** A schema as published: it can reference other schemas by name. */
export interface SchemaSource extends Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, SchemaSource>>;
  readonly additionalProperties?: boolean | SchemaSource;
  readonly items?: SchemaSource;
}

/** Schemas by their names in OpenAPI. */
export type BuiltinSchemas = {
  /** Returns a schema with resolved references. It can be cyclic. */
  resolved(name: string): Schema;
  /** Returns a schema as published, with its references. */
  published(name: string): SchemaSource;
  /** Returns the fields of a type by their numbers in protobuf; undefined without such numbers. */
  numbered(name: string): ReadonlyMap<number, string> | undefined;
  readonly objectMeta: Schema;
};

/**
 * The types of the built-in kinds, one line each: the name of a type in OpenAPI, its fields as `number:field`, with
 * `>type` where the field is inlined in JSON, and the schema as JSON, with its fields in the order of the server's. A
 * `$ref` is such a name. test/cluster/builtin-schemas.test.ts writes the file. The package has it beside its sources.
 */
const builtinSchemas = path.join(import.meta.dirname, '../../src/schema/builtin-schemas.txt');
const objectMetaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
// These schemas are published as a choice of types. The entries here describe how the server handles them.
const specialSchemas: Readonly<Record<string, Schema>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { 'x-kubernetes-int-or-string': true },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { 'x-kubernetes-int-or-string': true, format: 'quantity' },
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': anythingSchema,
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': anythingSchema,
};
const schemaOr = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOr';

/** The built-in schemas, for all servers of a process. */
export const publishedSchemas: BuiltinSchemas = createBuiltinSchemas();

function createBuiltinSchemas(): BuiltinSchemas {
  const lines = new Map(
    [...readFileSync(builtinSchemas, 'utf8').matchAll(/^(\S+) ?([^{\n]*)(.*)$/gm)].map(
      ([, name = '', numbers = '', json = '']) => [name, { numbers, json }],
    ),
  );
  const known = new Map<string, Schema>(Object.entries(specialSchemas));
  const published = (name: string): SchemaSource => {
    const { json = '' } = lines.get(name) ?? {};
    if (json === '') throw new Error(`no built-in schema ${name}`);
    return JSON.parse(json);
  };
  const numbered: BuiltinSchemas['numbered'] = (name) => {
    const fields = [...(lines.get(name)?.numbers ?? '').matchAll(/(\d+):(\S+)/g)];
    return fields.length === 0 ? undefined : new Map(fields.map(([, number, field = '']) => [Number(number), field]));
  };
  const resolved = (name: string): Schema => {
    const found = known.get(name);
    if (found !== undefined) return found;
    // The value is a schema, a boolean or a list. registry/structure.ts checks it with the CustomResourceDefinition.
    if (name.startsWith(schemaOr)) return anythingSchema;
    const empty: Record<string, unknown> = {};
    const graph: Schema = empty; // filled below, because a nested schema can reference this one
    known.set(name, graph);
    Object.assign(empty, resolve(published(name)), { typeName: name.slice(name.lastIndexOf('.') + 1) });
    return graph;
  };
  const resolve = (schema: SchemaSource): Schema => {
    const { $ref, ...rest } = schema;
    const { properties, items, additionalProperties } = rest;
    const own: Schema = {
      ...rest,
      ...(properties === undefined
        ? {}
        : {
            properties: Object.fromEntries(Object.entries(properties).map(([field, below]) => [field, resolve(below)])),
          }),
      ...(items === undefined ? {} : { items: resolve(items) }),
      ...(typeof additionalProperties === 'object' ? { additionalProperties: resolve(additionalProperties) } : {}),
    };
    if ($ref === undefined) return own;
    return Object.keys(own).length === 0 ? resolved($ref) : { ...resolved($ref), ...own };
  };
  return {
    resolved,
    published,
    numbered,
    get objectMeta() {
      return resolved(objectMetaName);
    },
  };
}
