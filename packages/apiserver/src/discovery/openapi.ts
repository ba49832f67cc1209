// OpenAPI v3, one document for each group and version. `kubectl explain` reads it, and `kubectl apply` validates with
// it.
import { isList, isObject, type Json, type JsonObject, parseJsonValue } from '../json.ts';
import { type ApiResource, apiVersionOf } from '../registry/resource.ts';
import type { BuiltinSchemas } from '../schema/builtins.ts';

const objectMetaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Returns the document at an OpenAPI path, or undefined for another path. */
export function openapi(schemas: BuiltinSchemas, all: readonly ApiResource[], path: string): JsonObject | undefined {
  if (path === '/openapi/v3') {
    const versionPaths = new Set(all.map(versionPath));
    return {
      paths: Object.fromEntries(
        [...versionPaths].map((version) => [version, { serverRelativeURL: `/openapi/v3/${version}` }]),
      ),
    };
  }
  const found = all.filter((resource) => path === `/openapi/v3/${versionPath(resource)}`);
  return found.length === 0 ? undefined : document(schemas, found);
}

/** The media type of OpenAPI v2 as kubectl requests it. */
const openapiV2Type = 'application/com.github.proto-openapi.spec.v2';

/**
 * Returns the OpenAPI v2 document, as text and its media type. It lists no kind: kubectl reads it only for a kind that
 * the documents of v3 do not have, and then finds that no server serves the kind.
 */
export function openapiV2(accept = ''): { readonly text: string; readonly type: string } {
  const info = { title: 'Kubernetes', version: 'v1.36.0' };
  if (!accept.includes(`${openapiV2Type}@v1.0+protobuf`)) {
    return { text: `${JSON.stringify({ swagger: '2.0', info, paths: {} })}\n`, type: 'application/json' };
  }
  // Each field is a text or a message below 128 bytes, so that its length is one byte of ASCII.
  const field = (number: number, content: string): string =>
    `${String.fromCharCode(number * 8 + 2, content.length)}${content}`;
  const text = field(1, '2.0') + field(2, field(1, info.title) + field(2, info.version));
  return { text, type: `${openapiV2Type}.v1.0+protobuf` };
}

function versionPath(resource: ApiResource): string {
  return resource.group === '' ? `api/${resource.version}` : `apis/${apiVersionOf(resource)}`;
}

function document(schemas: BuiltinSchemas, resources: readonly ApiResource[]): JsonObject {
  const components: Record<string, JsonObject> = {};
  const add = (name: string, schema: Json, extra: JsonObject = {}): void => {
    const references: string[] = [];
    const resolved = withReferences(schema, references);
    components[name] = { ...(isObject(resolved) ? resolved : {}), ...extra };
    for (const reference of references)
      if (components[reference] === undefined) add(reference, publishedSchema(schemas, reference));
  };
  for (const resource of resources) {
    const { group, version, kind, schemaName } = resource;
    const extra = { 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
    const name = schemaName ?? `${group.split('.').toReversed().join('.')}.${version}.${kind}`;
    add(name, schemaName === undefined ? customSchema(resource) : publishedSchema(schemas, schemaName), extra);
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.0' },
    paths: Object.fromEntries(resources.flatMap(pathsOf)),
    components: { schemas: components },
  };
}

function publishedSchema(schemas: BuiltinSchemas, name: string): Json {
  return parseJsonValue(JSON.stringify(schemas.published(name)));
}

/** Returns the schema of a custom kind, with a reference to ObjectMeta in place of its fields. */
function customSchema({ schema }: ApiResource): Json {
  return parseJsonValue(
    JSON.stringify({ ...schema, properties: { ...schema.properties, metadata: { $ref: objectMetaName } } }),
  );
}

function withReferences(schema: Json, references: string[]): Json {
  if (isList(schema)) return schema.map((item) => withReferences(item, references));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, Json] => {
      if (keyword !== '$ref' || typeof value !== 'string') return [keyword, withReferences(value, references)];
      references.push(value);
      return [keyword, `#/components/schemas/${value}`];
    }),
  );
}

/** Returns the paths of a kind with their verbs. kubectl reads here whether a kind supports `fieldValidation`. */
function pathsOf(resource: ApiResource): [string, JsonObject][] {
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
  const base = `/${versionPath(resource)}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
  return [
    [base, { get: operation('list'), post: operation('post') }],
    [
      `${base}/{name}`,
      { get: operation('get'), put: operation('put'), patch: operation('patch'), delete: operation('delete') },
    ],
  ];
}
