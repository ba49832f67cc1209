// The table of fields that the API server stores in another form: its types are those of the published schemas of every
// kind of `outrigger/kubernetes`. Excluded: the defaults in it, which no schema has (apply-all-fields.test.ts), and the
// metadata and status of a child.

import { publishedSchemas, type SchemaSource } from '@outrigger/apiserver/schema/builtins';
import { expect, it } from 'vitest';
import { type FieldTypes, TypedField, typedFieldsOf } from '../../../src/kube/apply/field-types.ts';
import * as kubernetes from '../../../src/kubernetes.ts';

const typeOfSchema: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': 'time',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': 'microTime',
};

/** The paths of a schema that have a type, as `path type`. A schema that contains itself is read once. */
function typedPaths(schema: SchemaSource, path: string, within: readonly string[] = []): readonly string[] {
  const { $ref, properties = {}, items, additionalProperties, format } = schema;
  const type = format === 'byte' ? 'base64' : typeOfSchema[$ref ?? ''];
  if (type !== undefined) return [`${path} ${type}`];
  if ($ref !== undefined) {
    const isKnown = within.includes($ref) || $ref.includes('JSON') || $ref.includes('IntOrString');
    return isKnown ? [] : typedPaths(publishedSchemas.published($ref), path, [...within, $ref]);
  }
  const below = Object.entries(properties).flatMap(([name, one]) => typedPaths(one, `${path}.${name}`, within));
  const values = typeof additionalProperties === 'object' ? typedPaths(additionalProperties, `${path}.*`, within) : [];
  return [...below, ...values, ...(items === undefined ? [] : typedPaths(items, path, within))];
}

function pathsOf(types: FieldTypes | undefined, path: string): readonly string[] {
  if (types instanceof TypedField) return types.type === undefined ? [] : [`${path} ${types.type}`];
  return Object.entries(types ?? {}).flatMap(([name, below]) => pathsOf(below, `${path}.${name}`));
}

it.each(Object.entries(kubernetes))('the types of the fields of %s are those of its schema', (_, {
  group,
  version,
  kind,
}) => {
  const [area = ''] = group.split('.');
  const library = area === 'apiextensions' ? 'io.k8s.apiextensions-apiserver.pkg.apis' : 'io.k8s.api';
  const schema = publishedSchemas.published(`${library}.${area === '' ? 'core' : area}.${version}.${kind}`);
  const derived = Object.entries(schema.properties ?? {})
    .filter(([name]) => !['metadata', 'status'].includes(name))
    .flatMap(([name, below]) => typedPaths(below, `${kind}.${name}`));
  // The metadata of a template and the status in it are not applied.
  const applied = derived.filter((path) => !/\.(metadata|status)\./.test(path));
  expect(pathsOf(typedFieldsOf(kind), kind).toSorted()).toEqual(applied.toSorted());
});
