// OpenAPI v3, one document for each group and version: what `kubectl explain` reads and what `kubectl apply` validates with.
import { isList, isObject, type Json, type JsonObject, parseJson } from '../json.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import type { BuiltinSchemas } from '../../local/api-server/schema/builtins.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Returns the answer of an OpenAPI path; undefined where it is none. */
export function openapi(schemas: BuiltinSchemas, all: readonly Resource[], path: string): JsonObject | undefined {
  if (path === '/openapi/v3') {
    const folders = new Set(all.map(folderOf));
    return {
      paths: Object.fromEntries([...folders].map((folder) => [folder, { serverRelativeURL: `/openapi/v3/${folder}` }])),
    };
  }
  const found = all.filter((resource) => path === `/openapi/v3/${folderOf(resource)}`);
  return found.length === 0 ? undefined : document(schemas, found);
}

function folderOf(resource: Resource): string {
  return resource.group === '' ? `api/${resource.version}` : `apis/${apiVersionOf(resource)}`;
}

function document(schemas: BuiltinSchemas, resources: readonly Resource[]): JsonObject {
  const components: Record<string, JsonObject> = {};
  const add = (name: string, schema: Json, extra: JsonObject = {}): void => {
    const referred: string[] = [];
    const shown = withReferences(schema, referred);
    components[name] = { ...(isObject(shown) ? shown : {}), ...extra };
    for (const below of referred) if (components[below] === undefined) add(below, written(schemas, below));
  };
  for (const resource of resources) {
    const { group, version, kind, schemaName } = resource;
    const extra = { 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
    const name = schemaName ?? `${group.split('.').toReversed().join('.')}.${version}.${kind}`;
    add(name, schemaName === undefined ? customSchema(resource) : written(schemas, schemaName), extra);
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.0' },
    paths: Object.fromEntries(resources.flatMap(pathsOf)),
    components: { schemas: components },
  };
}

function written(schemas: BuiltinSchemas, name: string): Json {
  return parseJson(JSON.stringify(schemas.published(name)));
}

/** A custom kind's schema, with metadata by reference instead of spelled out. */
function customSchema({ schema }: Resource): Json {
  return parseJson(
    JSON.stringify({ ...schema, properties: { ...schema.properties, metadata: { $ref: OBJECT_META } } }),
  );
}

function withReferences(schema: Json, referred: string[]): Json {
  if (isList(schema)) return schema.map((item) => withReferences(item, referred));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, Json] => {
      if (keyword !== '$ref' || typeof value !== 'string') return [keyword, withReferences(value, referred)];
      referred.push(value);
      return [keyword, `#/components/schemas/${value}`];
    }),
  );
}

/** Paths with their verbs: kubectl looks here for whether a kind takes `fieldValidation`. */
function pathsOf(resource: Resource): [string, JsonObject][] {
  const { group, version, kind, namespaced, plural } = resource;
  const gvk = { 'x-kubernetes-group-version-kind': { group, version, kind } };
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }));
  const operation = (action: string): JsonObject => ({
    'x-kubernetes-action': action,
    ...gvk,
    parameters,
    responses: {},
  });
  const base = `/${folderOf(resource)}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
  return [
    [base, { get: operation('list'), post: operation('post') }],
    [
      `${base}/{name}`,
      { get: operation('get'), put: operation('put'), patch: operation('patch'), delete: operation('delete') },
    ],
  ];
}
