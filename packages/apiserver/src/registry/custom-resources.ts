// Converts a CustomResourceDefinition to ApiResources: one for each served version.
import { getIn, getList, getMap, getString, isObject, type Json, type JsonObject } from '../json.ts';
import { type ApiObject, isApiObject } from '../object.ts';
import { fillDefaults, prune } from '../schema/prune.ts';
import { anythingSchema, type Schema } from '../schema/schema.ts';
import { nameColumn, pathColumn, plainColumns } from './columns.ts';
import { byVersionPriority } from './names.ts';
import type { ApiResource, ScalePaths } from './resource.ts';

/** Returns the resources of a definition. `objectMeta` is the schema of the metadata of every kind. */
export function customResources(definition: ApiObject, objectMeta: Schema): ApiResource[] {
  const spec = getMap(definition, 'spec');
  const names = getMap(spec, 'names');
  const versions = getList(spec, 'versions').filter(isObject);
  const storage = versions.find((version) => version.storage === true) ?? {};
  const toStored = pruner(`${getString(spec, 'group')}/${getString(storage, 'name')}`, schemaOf(storage, objectMeta));
  return versions
    .filter(({ served }) => served === true)
    .map((version): ApiResource => {
      const subresources = getMap(version, 'subresources');
      const scale = scalePaths(subresources.scale);
      const columns = getList(version, 'additionalPrinterColumns');
      const schema = schemaOf(version, objectMeta);
      return {
        group: getString(spec, 'group'),
        version: getString(version, 'name'),
        kind: getString(names, 'kind'),
        listKind: getString(names, 'listKind'),
        plural: getString(names, 'plural'),
        singular: getString(names, 'singular'),
        shortNames: texts(names, 'shortNames'),
        categories: texts(names, 'categories'),
        namespaced: getString(spec, 'scope') === 'Namespaced',
        custom: true,
        schema,
        complete: completer(schema),
        ...(version === storage ? {} : { toStored }),
        status: subresources.status !== undefined,
        statusKeeps: 'all',
        ...(scale === undefined ? {} : { scale }),
        generation: 'content',
        columns: columns.length === 0 ? plainColumns : [nameColumn, ...columns.map(pathColumn)],
        selectable: getList(version, 'selectableFields').map((field) =>
          getString(field, 'jsonPath').replace(/^\./, ''),
        ),
        needsVersion: true,
        putCreates: false,
        ...(version.deprecated === true ? { deprecation: deprecationOf(version, spec) } : {}),
      };
    });
}

/** Returns the warning about a deprecated version. By default it names the best version that is not deprecated. */
function deprecationOf(version: JsonObject, spec: JsonObject): string {
  const given = getString(version, 'deprecationWarning');
  if (given !== '') return given;
  const [name, group, kind] = [getString(version, 'name'), getString(spec, 'group'), getString(spec, 'names', 'kind')];
  const [best] = getList(spec, 'versions')
    .filter((other) => getIn(other, 'served') === true && getIn(other, 'deprecated') !== true)
    .map((other) => getString(other, 'name'))
    .filter((other) => byVersionPriority(other, name) < 0)
    .toSorted(byVersionPriority);
  return `${group}/${name} ${kind} is deprecated${best === undefined ? '' : `; use ${group}/${best} ${kind}`}`;
}

function texts(object: JsonObject, field: string): string[] {
  return getList(object, field).filter((value) => typeof value === 'string');
}

/**
 * Returns the schema of a whole object: the declared schema, with apiVersion, kind and metadata. The JSON needs no
 * further checks, because the definition was validated when it was stored.
 */
function schemaOf(version: JsonObject, objectMeta: Schema): Schema {
  const schema: Schema = JSON.parse(JSON.stringify(getMap(version, 'schema', 'openAPIV3Schema')));
  const text: Schema = { type: 'string' };
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata: objectMeta } };
}

/**
 * Returns a function that drops what the schema does not have, and fills in its defaults: the object may be stored in
 * another version, or by a former schema. The result is cached for each stored object.
 */
function completer(schema: Schema): (object: ApiObject) => ApiObject {
  const completed = new WeakMap<ApiObject, ApiObject>();
  const content = withAnyMetadata(schema);
  return (object) => {
    const found = completed.get(object);
    if (found !== undefined) return found;
    const filled = fillDefaults(prune(object, content).value, content);
    const complete = isApiObject(filled) ? filled : object;
    completed.set(object, complete);
    return complete;
  };
}

/** Returns a function that drops what the storage version does not have (conversion strategy None). */
function pruner(apiVersion: string, schema: Schema): (object: ApiObject) => ApiObject {
  const content = withAnyMetadata(schema);
  return (object) => {
    const kept = prune(object, content).value;
    return { ...(isApiObject(kept) ? kept : object), apiVersion };
  };
}

function withAnyMetadata(schema: Schema): Schema {
  return { ...schema, properties: { ...schema.properties, metadata: anythingSchema } };
}

function scalePaths(declared: Json | undefined): ScalePaths | undefined {
  if (!isObject(declared)) return undefined;
  const path = (field: string): string[] => getString(declared, field).split('.').filter(Boolean);
  const selector = path('labelSelectorPath');
  return {
    specReplicas: path('specReplicasPath'),
    statusReplicas: path('statusReplicasPath'),
    ...(selector.length === 0 ? {} : { selector }),
  };
}
