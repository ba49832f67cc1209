// CustomResourceDefinitions as objects: their defaults, their status and their validation. custom-resources.ts derives
// the served kinds from them.
import { invalid } from '../checks/rule.ts';
import { getIn, getList, getMap, getString, isObject, type JsonObject, sameJson } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { strictLabelError } from './names.ts';
import { checkStructure } from './structure.ts';

/** The finalizer of a definition that is being deleted. The collector removes it after the definition's objects. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

const approvalAnnotation = 'api-approved.kubernetes.io';

/** Completes the names of a definition and accepts them immediately: it is served as soon as it is stored. */
export function prepareDefinition(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const spec = getMap(object, 'spec');
  const given = getMap(spec, 'names');
  const kind = getString(given, 'kind');
  const names: JsonObject = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...given };
  const complete = { ...object, spec: { conversion: { strategy: 'None' }, ...spec, names } };
  if (old === undefined) {
    const time = object.metadata.creationTimestamp ?? '';
    const conditions = [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found', time),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted', time),
    ];
    return { ...complete, status: { ...getMap(object, 'status'), conditions, acceptedNames: names } };
  }
  const status = getMap(object, 'status');
  const stored = getList(status, 'storedVersions');
  const storedVersions = stored.includes(storageVersion(spec)) ? stored : [...stored, storageVersion(spec)];
  return { ...complete, status: { ...status, acceptedNames: names, storedVersions } };
}

function condition(type: string, reason: string, message: string, lastTransitionTime: string): JsonObject {
  return { type, status: 'True', lastTransitionTime, reason, message };
}

/** Returns the name of the version in which the objects of a definition are stored. */
export function storageVersion(spec: JsonObject): string {
  return getString(
    getList(spec, 'versions').find((version) => isObject(version) && version.storage === true),
    'name',
  );
}

/**
 * Validates a definition. Only the rules are checked that would otherwise make the kind behave differently from a real
 * server.
 */
export function checkDefinition(object: ApiObject, old: ApiObject | undefined): readonly StatusCause[] {
  const spec = getMap(object, 'spec');
  const names = getMap(spec, 'names');
  const group = getString(spec, 'group');
  const causes: StatusCause[] = [];
  const expectedName = `${getString(names, 'plural')}.${group}`;
  if (object.metadata.name !== expectedName)
    causes.push(invalid('metadata.name', object.metadata.name ?? '', 'must be spec.names.plural+"."+spec.group'));
  causes.push(...checkNames(names));
  if (group !== '' && !group.includes('.')) {
    causes.push(invalid('spec.group', group, 'should be a domain with at least one dot'));
  }
  if (old === undefined) causes.push(...checkApproval(group, object.metadata.annotations?.[approvalAnnotation] ?? ''));
  else {
    for (const path of [['group'], ['scope'], ['names', 'kind']]) {
      const value = getIn(spec, ...path) ?? null;
      if (!sameJson(value, getIn(old, 'spec', ...path) ?? null))
        causes.push(invalid(`spec.${path.join('.')}`, value, 'field is immutable'));
    }
    causes.push(...checkStoredVersions(object));
  }
  const versions = getList(spec, 'versions');
  if (versions.filter((version) => isObject(version) && version.storage === true).length !== 1)
    causes.push(invalid('spec.versions', versions, 'must have exactly one version marked as storage version'));
  for (const [index, version] of versions.entries()) {
    // kube-apiserver reports the schema of a single version under its path in v1beta1.
    const path =
      versions.length === 1 ? 'spec.validation.openAPIV3Schema' : `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = isObject(version) && isObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
    if (!isObject(schema)) causes.push(statusCause.required(`spec.versions[${index}].schema.openAPIV3Schema`));
    else causes.push(...checkStructure(schema, path));
  }
  return causes;
}

function checkNames(names: JsonObject): readonly StatusCause[] {
  const named = ['plural', 'singular', 'kind', 'listKind'].map((field) => [field, getString(names, field)]);
  const short = getList(names, 'shortNames').map((name, index) => [`shortNames[${index}]`, String(name)]);
  return [...named, ...short].flatMap(([field = '', name = '']) => {
    const isMixed = /kind$/i.test(field);
    const error = name === '' ? undefined : strictLabelError(isMixed ? name.toLowerCase() : name);
    if (error === undefined) return [];
    const detail = isMixed ? `may have mixed case, but should otherwise match: ${error}` : error;
    return [invalid(`spec.names.${field}`, name, detail)];
  });
}

/** Checks that no version is removed in which objects can be stored. */
function checkStoredVersions(object: ApiObject): readonly StatusCause[] {
  const names = getList(object, 'spec', 'versions').map((version) => getString(version, 'name'));
  return getList(object, 'status', 'storedVersions')
    .map(String)
    .flatMap((stored, index) => {
      if (names.includes(stored)) return [];
      const detail =
        `missing from spec.versions; ${stored} was previously a storage version, and must remain in spec.versions ` +
        `until a storage migration ensures no data remains persisted in ${stored} and removes ${stored} from ` +
        'status.storedVersions';
      return [invalid(`status.storedVersions[${index}]`, stored, detail)];
    });
}

/**
 * Checks the approval annotation of a definition in a group of Kubernetes: it must be a URL, or start with
 * "unapproved".
 */
function checkApproval(group: string, approval: string): readonly StatusCause[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group) || approval.startsWith('unapproved') || URL.canParse(approval))
    return [];
  return [statusCause.required(`metadata.annotations[${approvalAnnotation}]`)];
}
