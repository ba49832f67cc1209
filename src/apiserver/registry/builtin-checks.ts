// What kube-apiserver refuses on built-in kinds, as far as a controller of ours could run into it: required parts of a spec, and
// fields that never change.
import { isList, isObject, type Json, objectAt, sameJson } from '../json.ts';
import { fieldSchema, type Schema } from '../schema/schema.ts';
import { type Cause, cause } from '../status-error.ts';
import type { Check } from './resource.ts';

/** Returns a cause for every required field that is missing. A status is the server's own, so nobody has to complete it. */
export function checkRequired(value: Json, schema: Schema, path = ''): Cause[] {
  if (isList(value))
    return value.flatMap((item, index) => checkRequired(item, schema.items ?? {}, `${path}[${index}]`));
  if (!isObject(value)) return [];
  const step = (field: string): string => (path === '' ? field : `${path}.${field}`);
  const missing = (schema.required ?? []).filter((field) => value[field] === undefined && !mayBeZero(schema, field));
  return [
    ...missing.map((field) => cause.required(step(field))),
    ...Object.entries(value).flatMap(([field, content]) => {
      const below = fieldSchema(schema, field);
      return below === undefined || step(field) === 'status' || step(field) === 'metadata'
        ? []
        : checkRequired(content, below, step(field));
    }),
  ];
}

/** Lists and numbers have a zero value in Go, which the published schema calls required and the server does not ask for. */
function mayBeZero(schema: Schema, field: string): boolean {
  const type = schema.properties?.[field]?.type;
  return type === 'array' ? field !== 'containers' : type === 'boolean' || type === 'integer' || field === 'metadata';
}

/** Refuses changes of fields of the spec that are fixed when the object is made. */
export function fixedInSpec(...fields: readonly string[]): Check {
  return (object, old) => {
    if (old === undefined) return [];
    return fields
      .filter((field) => !sameJson(objectAt(object, 'spec')[field], objectAt(old, 'spec')[field]))
      .map((field) => {
        const value = objectAt(object, 'spec')[field] ?? null;
        return cause.invalid(`spec.${field}`, JSON.stringify(value), 'field is immutable');
      });
  };
}

// validation.go of apps: everything else in a StatefulSet's spec is fixed.
const STATEFUL_SET_MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

/** Refuses changes of what a StatefulSet may not change. */
export const checkStatefulSet: Check = (object, old) => {
  if (old === undefined) return [];
  const fixed = (spec: object): [string, unknown][] =>
    Object.entries(spec).filter(([field]) => !STATEFUL_SET_MUTABLE.includes(field));
  const [now, before] = [fixed(objectAt(object, 'spec')), fixed(objectAt(old, 'spec'))];
  if (JSON.stringify(now.sort()) === JSON.stringify(before.sort())) return [];
  const allowed =
    "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
  return [cause.forbidden('spec', `updates to statefulset spec for fields other than ${allowed} are forbidden`)];
};

const KEY_WORDS =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Refuses keys of a ConfigMap or Secret that could not be names of files. */
export const checkKeys: Check = (object) =>
  ['data', 'binaryData'].flatMap((field) =>
    Object.keys(objectAt(object, field))
      .filter((key) => !/^[-._a-zA-Z0-9]{1,253}$/.test(key) || key === '.' || key.startsWith('..'))
      .map((key) => cause.invalid(`${field}[${key}]`, JSON.stringify(key), KEY_WORDS)),
  );

/** Refuses changes of a ConfigMap or Secret that calls itself immutable. */
export const checkImmutable: Check = (object, old) => {
  if (old?.immutable !== true) return [];
  const causes: Cause[] = [];
  if (object.immutable !== true)
    causes.push(cause.forbidden('immutable', 'field is immutable when `immutable` is set'));
  for (const field of ['data', 'binaryData'] as const) {
    if (!sameJson(object[field] ?? {}, old[field] ?? {})) {
      causes.push(cause.forbidden(field, 'field is immutable when `immutable` is set'));
    }
  }
  return causes;
};

/** Refuses another role in an existing binding. */
export const checkRoleRef: Check = (object, old) => {
  if (old === undefined || sameJson(object.roleRef, old.roleRef)) return [];
  return [cause.invalid('roleRef', JSON.stringify(object.roleRef ?? null), 'cannot change roleRef')];
};

/** Requires that a workload's template carries the labels it selects. */
export const checkSelector: Check = (object) => {
  const { selector = {}, template = {} } = objectAt(object, 'spec');
  const wanted = objectAt(selector, 'matchLabels');
  const labels = objectAt(template, 'metadata', 'labels');
  if (!isObject(selector) || Object.keys(selector).length === 0) return [];
  if (Object.entries(wanted).every(([label, value]) => labels[label] === value)) return [];
  return [
    cause.invalid(
      'spec.template.metadata.labels',
      JSON.stringify(labels),
      '`selector` does not match template `labels`',
    ),
  ];
};

/** Applies several checks. */
export function allOf(...checks: readonly Check[]): Check {
  return (object, old) => checks.flatMap((check) => check(object, old));
}

/** Requires that an Event lives where the object it is about does; those of cluster-scoped objects live in `default`. */
export const checkEvent: Check = ({ metadata, involvedObject }) =>
  aboutNamespace('involvedObject', involvedObject, metadata.namespace);

/** Requires what the newer API of Events asks for. */
export const checkNewEvent: Check = ({ metadata, regarding, eventTime }) => [
  ...aboutNamespace('regarding', regarding, metadata.namespace),
  ...(eventTime === undefined ? [cause.required('eventTime')] : []),
];

function aboutNamespace(field: string, about: Json | undefined, namespace = ''): Cause[] {
  const given = objectAt({ about: about ?? {} }, 'about').namespace ?? '';
  if (given === namespace || (given === '' && ['default', 'kube-system'].includes(namespace))) return [];
  return [cause.invalid(`${field}.namespace`, JSON.stringify(given), 'does not match event.namespace')];
}
