// Reads the schemas of built-in kinds. They refer to each other by name, CustomResourceDefinition's even to itself, so the
// references are tied into one graph as they are read; a kind that nobody asks for is never parsed.
import { builtinSchemas } from '../../../apiserver/schema/builtin-schemas.ts';
import { ANYTHING, type Schema } from '../../../apiserver/schema/schema.ts';

/** A schema as it is published: parts of it may be other schemas' names. */
export interface Written extends Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Written>>;
  readonly additionalProperties?: boolean | Written;
  readonly items?: Written;
}

/** Schemas by their names in OpenAPI. */
export interface BuiltinSchemas {
  /** Returns a schema with its references resolved. It may be cyclic. */
  resolved(name: string): Schema;
  /** Returns a schema as it is published, references included. */
  published(name: string): Written;
  readonly objectMeta: Schema;
}

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
// Published as a choice of types, which says nothing about what the server does with them.
const SPECIAL: Readonly<Record<string, Schema>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { 'x-kubernetes-int-or-string': true },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { 'x-kubernetes-int-or-string': true, format: 'quantity' },
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': ANYTHING,
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': ANYTHING,
};
const SCHEMA_OR = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOr';

/** Opens the schemas this server carries. */
export function createBuiltinSchemas(): BuiltinSchemas {
  const lines = new Map(
    builtinSchemas.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' '))]),
  );
  const known = new Map<string, Schema>(Object.entries(SPECIAL));
  const published = (name: string): Written => {
    const line = lines.get(name);
    if (line === undefined) throw new Error(`no schema ${name}`);
    return JSON.parse(line);
  };
  const resolved = (name: string): Schema => {
    const found = known.get(name);
    if (found !== undefined) return found;
    // A sub-schema or something else (a boolean, a list): what is in it is for the CRD's own check.
    if (name.startsWith(SCHEMA_OR)) return ANYTHING;
    const empty: Record<string, unknown> = {};
    const graph: Schema = empty; // filled below: a schema below may refer to this one
    known.set(name, graph);
    Object.assign(empty, tie(published(name)));
    return graph;
  };
  const tie = (schema: Written): Schema => {
    const { $ref, ...rest } = schema;
    const { properties, items, additionalProperties } = rest;
    const own: Schema = {
      ...rest,
      ...(properties === undefined
        ? {}
        : { properties: Object.fromEntries(Object.entries(properties).map(([field, below]) => [field, tie(below)])) }),
      ...(items === undefined ? {} : { items: tie(items) }),
      ...(typeof additionalProperties === 'object' ? { additionalProperties: tie(additionalProperties) } : {}),
    };
    if ($ref === undefined) return own;
    return Object.keys(own).length === 0 ? resolved($ref) : { ...resolved($ref), ...own };
  };
  return {
    resolved,
    published,
    get objectMeta() {
      return resolved(OBJECT_META);
    },
  };
}
