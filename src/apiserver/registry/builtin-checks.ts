// Validation of built-in kinds, limited to the errors that Outrigger's controllers can cause: missing required fields,
// changes of immutable fields, invalid keys.
import { getMap, isList, isObject, type Json, sameJson } from '../json.ts';
import { fieldSchema, type Schema } from '../schema/schema.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import type { Check } from './resource.ts';

/** Returns a cause for every missing required field. Status and metadata are skipped: the server completes them. */
export function checkRequired(value: Json, schema: Schema, path = ''): StatusCause[] {
  if (isList(value))
    return value.flatMap((item, index) => checkRequired(item, schema.items ?? {}, `${path}[${index}]`));
  if (!isObject(value)) return [];
  const step = (field: string): string => (path === '' ? field : `${path}.${field}`);
  const missing = (schema.required ?? []).filter((field) => value[field] === undefined && !mayBeZero(schema, field));
  return [
    ...missing.map((field) => statusCause.required(step(field))),
    ...Object.entries(value).flatMap(([field, content]) => {
      const below = fieldSchema(schema, field);
      return below === undefined || step(field) === 'status' || step(field) === 'metadata'
        ? []
        : checkRequired(content, below, step(field));
    }),
  ];
}

/**
 * Returns whether kube-apiserver accepts an object without a required field. Lists, numbers and booleans have a zero
 * value in Go, so the server does not check them although the published schema requires them.
 */
function mayBeZero(schema: Schema, field: string): boolean {
  const type = schema.properties?.[field]?.type;
  return type === 'array' ? field !== 'containers' : type === 'boolean' || type === 'integer' || field === 'metadata';
}

/** Returns a check that rejects changes of fields of the spec. */
export function immutableFields(...fields: readonly string[]): Check {
  return (object, old) => {
    if (old === undefined) return [];
    return fields
      .filter((field) => !sameJson(getMap(object, 'spec')[field], getMap(old, 'spec')[field]))
      .map((field) => {
        const value = getMap(object, 'spec')[field] ?? null;
        return statusCause.invalid(`spec.${field}`, JSON.stringify(value), 'field is immutable');
      });
  };
}

// All other fields in the spec of a StatefulSet are immutable (validation.go of apps).
const mutableStatefulSetFields = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

/** Rejects changes of the immutable fields of a StatefulSet. */
export const checkStatefulSet: Check = (object, old) => {
  if (old === undefined) return [];
  const immutablePart = (spec: object): [string, unknown][] =>
    Object.entries(spec).filter(([field]) => !mutableStatefulSetFields.includes(field));
  const [now, before] = [immutablePart(getMap(object, 'spec')), immutablePart(getMap(old, 'spec'))];
  if (JSON.stringify(now.sort()) === JSON.stringify(before.sort())) return [];
  const allowed =
    "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', " +
    "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
  return [statusCause.forbidden('spec', `updates to statefulset spec for fields other than ${allowed} are forbidden`)];
};

const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " +
  "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Rejects keys of a ConfigMap or Secret that are not valid as file names. */
export const checkKeys: Check = (object) =>
  ['data', 'binaryData'].flatMap((field) =>
    Object.keys(getMap(object, field))
      .filter((key) => !/^[-._a-zA-Z0-9]{1,253}$/.test(key) || key === '.' || key.startsWith('..'))
      .map((key) => statusCause.invalid(`${field}[${key}]`, JSON.stringify(key), keyRule)),
  );

/** MaxSecretSize of the API, for the values of a ConfigMap or Secret together. */
const maxDataBytes = 1024 * 1024;

/** Rejects a ConfigMap with too much data. kube-apiserver names no field for it. */
export const checkConfigMapSize: Check = ({ data, binaryData }) =>
  dataCauses('[]', bytesOf(data, 'utf8') + bytesOf(binaryData, 'base64'));

/** Rejects a Secret with too much data. */
export const checkSecretSize: Check = ({ data }) => dataCauses('data', bytesOf(data, 'base64'));

function bytesOf(data: Json | undefined, encoding: 'utf8' | 'base64'): number {
  const values = isObject(data) ? Object.values(data) : [];
  return values.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value), encoding), 0);
}

function dataCauses(field: string, bytes: number): StatusCause[] {
  return bytes > maxDataBytes ? [statusCause.tooLong(field, `may not be more than ${maxDataBytes} bytes`)] : [];
}

/** Rejects a change of the type of a Secret, which other kinds do not have. */
export const checkSecretType: Check = (object, old) =>
  old === undefined || sameJson(object.type, old.type)
    ? []
    : [statusCause.invalid('type', JSON.stringify(object.type ?? null), 'field is immutable')];

/** Rejects changes of an immutable ConfigMap or Secret. */
export const checkImmutable: Check = (object, old) => {
  if (old?.immutable !== true) return [];
  const causes: StatusCause[] = [];
  if (object.immutable !== true)
    causes.push(statusCause.forbidden('immutable', 'field is immutable when `immutable` is set'));
  for (const field of ['data', 'binaryData'] as const) {
    if (!sameJson(object[field] ?? {}, old[field] ?? {})) {
      causes.push(statusCause.forbidden(field, 'field is immutable when `immutable` is set'));
    }
  }
  return causes;
};

/** Rejects a change of the role of a binding. */
export const checkRoleRef: Check = (object, old) => {
  if (old === undefined || sameJson(object.roleRef, old.roleRef)) return [];
  return [statusCause.invalid('roleRef', JSON.stringify(object.roleRef ?? null), 'cannot change roleRef')];
};

/** Requires that the pod template of a workload has the labels of its selector. */
export const checkSelector: Check = (object) => {
  const { selector = {}, template = {} } = getMap(object, 'spec');
  const wanted = getMap(selector, 'matchLabels');
  const labels = getMap(template, 'metadata', 'labels');
  if (!isObject(selector) || Object.keys(selector).length === 0) return [];
  if (Object.entries(wanted).every(([label, value]) => labels[label] === value)) return [];
  return [
    statusCause.invalid(
      'spec.template.metadata.labels',
      JSON.stringify(labels),
      '`selector` does not match template `labels`',
    ),
  ];
};

/** Combines several checks. */
export function allOf(...checks: readonly Check[]): Check {
  return (object, old) => checks.flatMap((check) => check(object, old));
}

/** Requires that an Event is in the namespace of its object. Events of cluster-scoped objects are in `default`. */
export const checkEvent: Check = ({ metadata, involvedObject }) =>
  checkObjectNamespace('involvedObject', involvedObject, metadata.namespace);

/** Validates an Event of events.k8s.io, which also requires `eventTime`. */
export const checkNewEvent: Check = ({ metadata, regarding, eventTime }) => [
  ...checkObjectNamespace('regarding', regarding, metadata.namespace),
  ...(eventTime === undefined ? [statusCause.required('eventTime')] : []),
];

function checkObjectNamespace(field: string, about: Json | undefined, namespace = ''): StatusCause[] {
  const given = getMap({ about: about ?? {} }, 'about').namespace ?? '';
  if (given === namespace || (given === '' && ['default', 'kube-system'].includes(namespace))) return [];
  return [statusCause.invalid(`${field}.namespace`, JSON.stringify(given), 'does not match event.namespace')];
}
