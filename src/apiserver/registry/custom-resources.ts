// From a CustomResourceDefinition to what the server knows about the kinds it defines: one resource for each served version.
import { isObject, type Json, type JsonObject, listAt, objectAt, textAt } from '../json.ts';
import { type ApiObject, isApiObject } from '../object.ts';
import { fillDefaults } from '../schema/prune.ts';
import type { Schema } from '../schema/schema.ts';
import { AGE, NAME, pathColumn } from './columns.ts';
import type { Resource, ScalePaths } from './resource.ts';

/** Returns the resources a definition defines. `objectMeta` is the schema of metadata, which every kind has. */
export function customResources(definition: ApiObject, objectMeta: Schema): Resource[] {
  const spec = objectAt(definition, 'spec');
  const names = objectAt(spec, 'names');
  return listAt(spec, 'versions')
    .filter(isObject)
    .filter(({ served }) => served === true)
    .map((version): Resource => {
      const subresources = objectAt(version, 'subresources');
      const scale = scalePaths(subresources.scale);
      const columns = listAt(version, 'additionalPrinterColumns');
      const schema = wholeSchema(objectAt(version, 'schema', 'openAPIV3Schema'), objectMeta);
      return {
        group: textAt(spec, 'group'),
        version: textAt(version, 'name'),
        kind: textAt(names, 'kind'),
        listKind: textAt(names, 'listKind'),
        plural: textAt(names, 'plural'),
        singular: textAt(names, 'singular'),
        shortNames: texts(names, 'shortNames'),
        categories: texts(names, 'categories'),
        namespaced: textAt(spec, 'scope') === 'Namespaced',
        custom: true,
        schema,
        complete: completer(schema),
        status: subresources.status !== undefined,
        ...(scale === undefined ? {} : { scale }),
        generation: 'content',
        columns: [NAME, ...(columns.length === 0 ? [AGE] : columns.map(pathColumn))],
        selectable: listAt(version, 'selectableFields').map((field) => textAt(field, 'jsonPath').replace(/^\./, '')),
        needsVersion: true,
      };
    });
}

function texts(object: JsonObject, field: string): string[] {
  return listAt(object, field).filter((value) => typeof value === 'string');
}

/** Adds what every object has. The edge where a definition's JSON becomes a schema: the definition was checked when it was stored. */
function wholeSchema(written: JsonObject, objectMeta: Schema): Schema {
  const schema: Schema = JSON.parse(JSON.stringify(written));
  const text: Schema = { type: 'string' };
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata: objectMeta } };
}

/** Each object is looked at once for each schema: what is complete is remembered to be. */
function completer(schema: Schema): (object: ApiObject) => ApiObject {
  const known = new WeakMap<ApiObject, ApiObject>();
  const { metadata: _, ...properties } = schema.properties ?? {};
  const content = { ...schema, properties };
  return (object) => {
    const found = known.get(object);
    if (found !== undefined) return found;
    const filled = fillDefaults(object, content);
    const complete = isApiObject(filled) ? filled : object;
    known.set(object, complete);
    return complete;
  };
}

function scalePaths(declared: Json | undefined): ScalePaths | undefined {
  if (!isObject(declared)) return undefined;
  const path = (field: string): string[] => textAt(declared, field).split('.').filter(Boolean);
  const selector = path('labelSelectorPath');
  return {
    specReplicas: path('specReplicasPath'),
    statusReplicas: path('statusReplicasPath'),
    ...(selector.length === 0 ? {} : { selector }),
  };
}
