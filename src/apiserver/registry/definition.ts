// CustomResourceDefinitions as objects: what the server completes in them, says about them in their status, and refuses.
// What they define is in custom-resources.ts.
import { isObject, type JsonObject, listAt, objectAt, sameJson, textAt } from '../json.ts';
import { type ApiObject, withMetadata } from '../object.ts';
import { type Cause, cause } from '../status-error.ts';
import { subdomainProblem } from '../../local/api-server/registry/names.ts';
import { checkStructure } from '../../local/api-server/registry/structure.ts';

/** Holds a definition until its objects are gone. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

const APPROVAL = 'api-approved.kubernetes.io';

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
  if (old === undefined) causes.push(...checkApproval(group, object.metadata.annotations?.[APPROVAL] ?? ''));
  else {
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
    // One schema for all versions is called by the place it had in v1beta1.
    const path =
      versions.length === 1 ? 'spec.validation.openAPIV3Schema' : `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = isObject(version) && isObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
    if (!isObject(schema)) causes.push(cause.required(`spec.versions[${index}].schema.openAPIV3Schema`));
    else causes.push(...checkStructure(schema, path));
  }
  return causes;
}

/** Returns what is wrong with the approval of a definition in a group of Kubernetes' own: a URL, or an honest "unapproved". */
function checkApproval(group: string, approval: string): readonly Cause[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group) || approval.startsWith('unapproved') || URL.canParse(approval))
    return [];
  return [cause.required(`metadata.annotations[${APPROVAL}]`)];
}
