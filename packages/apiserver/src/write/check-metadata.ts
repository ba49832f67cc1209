// Validation of ObjectMeta for all kinds: names, labels, annotations, finalizers and owners (k8s.io/apimachinery,
// api/validation/objectmeta.go).
import { invalid, invalidFor } from '../checks/rule.ts';
import type { ApiObject } from '../object.ts';
import { labelValueError, qualifiedNameError, subdomainError } from '../registry/names.ts';
import type { ApiResource } from '../registry/resource.ts';
import { type StatusCause, statusCause } from '../status-error.ts';

const definitionGroup = 'apiextensions.k8s.io';
const maxAnnotationBytes = 256 * 1024;

/** Returns the causes for the metadata of a new object. */
export function checkNewMetadata(object: ApiObject, resource: ApiResource): StatusCause[] {
  const { name = '', generateName = '', namespace = '' } = object.metadata;
  const nameErrorOf = resource.nameError ?? subdomainError;
  return [
    ...(generateName === ''
      ? []
      : invalidFor('metadata.generateName', generateName, nameErrorOf(generateName.replace(/-$/, 'a')))),
    ...(name === ''
      ? [statusCause.required('metadata.name', 'name or generateName is required')]
      : invalidFor('metadata.name', name, nameErrorOf(name))),
    ...(resource.namespaced && namespace === '' ? [statusCause.required('metadata.namespace')] : []),
    ...checkLabels(object, resource),
  ];
}

/** Returns the causes for the metadata of an updated object. */
export function checkChangedMetadata(object: ApiObject, old: ApiObject, resource: ApiResource): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of ['uid', 'namespace', 'name', 'deletionTimestamp'] as const) {
    const [now, before] = [object.metadata[field], old.metadata[field]];
    if (now !== before) causes.push(invalid(`metadata.${field}`, now ?? '', 'field is immutable'));
  }
  if (old.metadata.deletionTimestamp !== undefined) {
    const added = (object.metadata.finalizers ?? []).filter((name) => !old.metadata.finalizers?.includes(name));
    if (added.length > 0) {
      const message =
        'no new finalizers can be added if the object is being deleted, found new finalizers ' +
        `[]string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
      causes.push(statusCause.forbidden('metadata.finalizers', message));
    }
  }
  return [...causes, ...checkLabels(object, resource)];
}

// Kubernetes' own finalizers without a domain.
const standardFinalizers: readonly string[] = ['orphan', 'foregroundDeletion', 'kubernetes'];
const unqualifiedFinalizer = 'name is neither a standard finalizer name nor is it fully qualified';

/** Returns the warnings about new finalizers of a custom resource. */
export function finalizerWarnings({ metadata }: ApiObject, old: ApiObject | undefined): string[] {
  const known = [...standardFinalizers, ...(old?.metadata.finalizers ?? [])];
  return (metadata.finalizers ?? [])
    .filter((name) => !known.includes(name) && !name.includes('/'))
    .map((name) => {
      const better = name.includes('.') ? 'name including a path (/)' : 'name';
      return (
        `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer ${better} to avoid ` +
        'accidental conflicts with other finalizer writers'
      );
    });
}

function checkLabels({ metadata }: ApiObject, { custom, group }: ApiResource): StatusCause[] {
  const { labels = {}, annotations = {}, finalizers = [] } = metadata;
  const causes: StatusCause[] = [];
  for (const [key, value] of Object.entries(labels)) {
    causes.push(...invalidFor('metadata.labels', key, qualifiedNameError(key)));
    causes.push(...invalidFor('metadata.labels', value, labelValueError(value)));
  }
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    causes.push(...invalidFor('metadata.annotations', key, qualifiedNameError(key.toLowerCase())));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > maxAnnotationBytes) {
    causes.push(statusCause.tooLong('metadata.annotations', `may not be more than ${maxAnnotationBytes} bytes`));
  }
  for (const [index, finalizer] of finalizers.entries()) {
    const error = qualifiedNameError(finalizer);
    if (error !== undefined) causes.push(invalid('metadata.finalizers', finalizer, error));
    // A custom resource only gets a warning. Definitions are not checked: their own cleanup finalizer has no path.
    else if (
      !custom &&
      group !== definitionGroup &&
      !finalizer.includes('/') &&
      !standardFinalizers.includes(finalizer)
    )
      causes.push(invalid(`metadata.finalizers[${index}]`, finalizer, unqualifiedFinalizer));
  }
  return [...causes, ...checkOwners(metadata.ownerReferences ?? [])];
}

function checkOwners(owners: NonNullable<ApiObject['metadata']['ownerReferences']>): StatusCause[] {
  const causes: StatusCause[] = [];
  const field = 'metadata.ownerReferences';
  for (const owner of owners) {
    if (!owner.apiVersion) causes.push(invalid(`${field}.apiVersion`, '', 'version must not be empty'));
    for (const name of ['kind', 'name', 'uid'] as const)
      if (!owner[name]) causes.push(invalid(`${field}.${name}`, '', 'must not be empty'));
  }
  const controllers = owners.filter(({ controller }) => controller === true);
  const [first, second] = controllers;
  if (first !== undefined && second !== undefined) {
    const message =
      'Only one reference can have Controller set to true. Found "true" in references for ' +
      `${first.kind}/${first.name} and ${second.kind}/${second.name}`;
    causes.push(statusCause.invalid(field, JSON.stringify(owners), message));
  }
  return causes;
}
