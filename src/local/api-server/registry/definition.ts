// CustomResourceDefinitions as objects: what the server completes in them, says about them in their status, and refuses.
// What they define is in custom-resources.ts.
import { isObject, type Json, type JsonObject, listAt, objectAt, sameJson, textAt } from '../json.ts';
import { type ApiObject, withMetadata } from '../object.ts';
import { ruleProblem } from '../schema/rules.ts';
import { type Cause, cause } from '../status-error.ts';
import { subdomainProblem } from './names.ts';

/** Holds a definition until its objects are gone. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/** Returns what is wrong with a definition's name. */
export function definitionNameProblem(name: string): string | undefined {
  return subdomainProblem(name);
}

/** Completes names, and accepts them at once: a definition is served from the moment it is stored. */
export function prepareDefinition(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const spec = objectAt(object, 'spec');
  const given = objectAt(spec, 'names');
  const kind = textAt(given, 'kind');
  const names: JsonObject = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...given };
  const complete = { ...object, spec: { conversion: { strategy: 'None' }, ...spec, names } };
  if (old === undefined) {
    const time = object.metadata.creationTimestamp ?? '';
    const conditions = [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found', time),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted', time),
    ];
    const finalizers = [...new Set([...(object.metadata.finalizers ?? []), CLEANUP])];
    return withMetadata(
      { ...complete, status: { conditions, acceptedNames: names, storedVersions: [storage(spec)] } },
      { finalizers },
    );
  }
  const status = objectAt(old, 'status');
  const stored = listAt(status, 'storedVersions');
  const storedVersions = stored.includes(storage(spec)) ? stored : [...stored, storage(spec)];
  return { ...complete, status: { ...status, acceptedNames: names, storedVersions } };
}

function condition(type: string, reason: string, message: string, lastTransitionTime: string): JsonObject {
  return { type, status: 'True', lastTransitionTime, reason, message };
}

function storage(spec: JsonObject): string {
  return textAt(
    listAt(spec, 'versions').find((version) => isObject(version) && version.storage === true),
    'name',
  );
}

/** Returns what is wrong with a definition, as far as it would make what it defines behave otherwise than on a real server. */
export function checkDefinition(object: ApiObject, old: ApiObject | undefined): readonly Cause[] {
  const spec = objectAt(object, 'spec');
  const names = objectAt(spec, 'names');
  const group = textAt(spec, 'group');
  const causes: Cause[] = [];
  const wanted = `${textAt(names, 'plural')}.${group}`;
  if (object.metadata.name !== wanted) {
    causes.push(
      cause.invalid(
        'metadata.name',
        JSON.stringify(object.metadata.name ?? ''),
        'must be spec.names.plural+"."+spec.group',
      ),
    );
  }
  if (group !== '' && !group.includes('.')) {
    causes.push(cause.invalid('spec.group', JSON.stringify(group), 'should be a domain with at least one dot'));
  }
  if (old !== undefined) {
    for (const field of ['group', 'scope']) {
      const before = objectAt(old, 'spec')[field];
      if (!sameJson(spec[field], before))
        causes.push(cause.invalid(`spec.${field}`, JSON.stringify(spec[field] ?? null), 'field is immutable'));
    }
  }
  const versions = listAt(spec, 'versions');
  if (versions.filter((version) => isObject(version) && version.storage === true).length !== 1) {
    causes.push(
      cause.invalid(
        'spec.versions',
        JSON.stringify(versions),
        'must have exactly one version marked as storage version',
      ),
    );
  }
  for (const [index, version] of versions.entries()) {
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = isObject(version) && isObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
    if (!isObject(schema)) causes.push(cause.required(path, 'schemas are required'));
    else causes.push(...checkStructure(schema, path));
  }
  return causes;
}

/** A structural schema gives every value a type, unless it may be anything. */
function checkStructure(schema: JsonObject, path: string): Cause[] {
  const untyped = schema.type === undefined && schema['x-kubernetes-int-or-string'] !== true;
  const causes: Cause[] = [];
  if (untyped && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    causes.push(cause.required(`${path}.type`, 'must not be empty for specified object fields'));
  }
  for (const [index, rule] of listAt(schema, 'x-kubernetes-validations').entries()) {
    const problem = ruleProblem(textAt(rule, 'rule'));
    const at = `${path}.x-kubernetes-validations[${index}].rule`;
    if (problem !== undefined)
      causes.push(cause.invalid(at, JSON.stringify(textAt(rule, 'rule')), `compilation failed: ${problem}`));
  }
  const below: [string, Json | undefined][] = [
    ...Object.entries(objectAt(schema, 'properties')).map(([name, value]): [string, Json] => [
      `properties[${name}]`,
      value,
    ]),
    ['items', schema.items],
    ['additionalProperties', schema.additionalProperties],
  ];
  for (const [step, value] of below) if (isObject(value)) causes.push(...checkStructure(value, `${path}.${step}`));
  return causes;
}
