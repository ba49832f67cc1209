// What ObjectMeta must look like, whatever the kind: names, labels, annotations, finalizers, owners
// (k8s.io/apimachinery, api/validation/objectmeta.go).
import type { ApiObject } from '../../../apiserver/object.ts';
import { labelValueProblem, qualifiedNameProblem, subdomainProblem } from '../registry/names.ts';
import type { Resource } from '../../../apiserver/registry/resource.ts';
import { type Cause, cause } from '../../../apiserver/status-error.ts';

const MAX_ANNOTATION_BYTES = 256 * 1024;

/** Returns what is wrong with the metadata of an object that is to be created. */
export function checkNewMetadata(object: ApiObject, resource: Resource): Cause[] {
  const { name = '', generateName = '', namespace = '' } = object.metadata;
  const causes: Cause[] = [];
  const problemOf = resource.nameProblem ?? subdomainProblem;
  if (generateName !== '') {
    const problem = problemOf(generateName.endsWith('-') ? `${generateName.slice(0, -1)}a` : generateName);
    if (problem !== undefined)
      causes.push(cause.invalid('metadata.generateName', JSON.stringify(generateName), problem));
  }
  if (name === '') causes.push(cause.required('metadata.name', 'name or generateName is required'));
  else {
    const problem = problemOf(name);
    if (problem !== undefined) causes.push(cause.invalid('metadata.name', JSON.stringify(name), problem));
  }
  if (resource.namespaced && namespace === '') causes.push(cause.required('metadata.namespace'));
  return [...causes, ...checkLabels(object)];
}

/** Returns what is wrong with the metadata of an object after an update. */
export function checkChangedMetadata(object: ApiObject, old: ApiObject): Cause[] {
  const causes: Cause[] = [];
  for (const field of ['uid', 'namespace', 'name'] as const) {
    const [now, before] = [object.metadata[field], old.metadata[field]];
    if (now !== before) {
      causes.push(cause.invalid(`metadata.${field}`, JSON.stringify(now ?? ''), 'field is immutable'));
    }
  }
  if (old.metadata.deletionTimestamp !== undefined) {
    const added = (object.metadata.finalizers ?? []).filter((name) => !old.metadata.finalizers?.includes(name));
    if (added.length > 0) {
      const said = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
      causes.push(cause.forbidden('metadata.finalizers', said));
    }
  }
  return [...causes, ...checkLabels(object)];
}

// Finalizers that Kubernetes itself names without a domain.
const STANDARD_FINALIZERS: readonly string[] = ['orphan', 'foregroundDeletion', 'kubernetes'];

/** Returns what to warn of in new finalizers of a custom resource. */
export function finalizerWarnings({ metadata }: ApiObject, old: ApiObject | undefined): string[] {
  const known = [...STANDARD_FINALIZERS, ...(old?.metadata.finalizers ?? [])];
  return (metadata.finalizers ?? [])
    .filter((name) => !known.includes(name) && !name.includes('/'))
    .map((name) => {
      const better = name.includes('.') ? 'name including a path (/)' : 'name';
      return `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer ${better} to avoid accidental conflicts with other finalizer writers`;
    });
}

function checkLabels({ metadata }: ApiObject): Cause[] {
  const { labels = {}, annotations = {}, finalizers = [] } = metadata;
  const causes: Cause[] = [];
  for (const [key, value] of Object.entries(labels)) {
    const problem = qualifiedNameProblem(key);
    if (problem !== undefined) causes.push(cause.invalid('metadata.labels', JSON.stringify(key), problem));
    const wrong = labelValueProblem(value);
    if (wrong !== undefined) causes.push(cause.invalid('metadata.labels', JSON.stringify(value), wrong));
  }
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    const problem = qualifiedNameProblem(key.toLowerCase());
    if (problem !== undefined) causes.push(cause.invalid('metadata.annotations', JSON.stringify(key), problem));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) {
    causes.push(cause.tooLong('metadata.annotations', `may not be more than ${MAX_ANNOTATION_BYTES} bytes`));
  }
  for (const finalizer of finalizers) {
    const problem = qualifiedNameProblem(finalizer);
    if (problem !== undefined) causes.push(cause.invalid('metadata.finalizers', JSON.stringify(finalizer), problem));
  }
  return [...causes, ...checkOwners(metadata.ownerReferences ?? [])];
}

function checkOwners(owners: NonNullable<ApiObject['metadata']['ownerReferences']>): Cause[] {
  const causes: Cause[] = [];
  const field = 'metadata.ownerReferences';
  for (const owner of owners) {
    if (!owner.apiVersion) causes.push(cause.invalid(`${field}.apiVersion`, '""', 'version must not be empty'));
    if (!owner.kind) causes.push(cause.invalid(`${field}.kind`, '""', 'must not be empty'));
    if (!owner.name) causes.push(cause.invalid(`${field}.name`, '""', 'must not be empty'));
    if (!owner.uid) causes.push(cause.invalid(`${field}.uid`, '""', 'must not be empty'));
  }
  const controllers = owners.filter(({ controller }) => controller === true);
  const [first, second] = controllers;
  if (first !== undefined && second !== undefined) {
    const said = `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`;
    causes.push(cause.invalid(field, JSON.stringify(owners), said));
  }
  return causes;
}
