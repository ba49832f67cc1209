// The rules of ConfigMaps, Secrets and Events.
import { getMap, isList, type Json, type JsonObject } from '../json.ts';
import { qualifiedNameError } from '../registry/names.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import {
  all,
  exactText,
  isEmpty,
  keys,
  type Rule,
  required,
  sameGo,
  shown,
  type TypeRules,
  unchanged,
  when,
} from './rule.ts';
import { configKeyError } from './texts.ts';

/** MaxSecretSize of the API, for the values of a ConfigMap or Secret together. */
const maxDataBytes = 1024 * 1024;

/** Limits the bytes of an object's data. `at` is the path that the error names. */
function size(at: string, ...fields: readonly (readonly [string, 'utf8' | 'base64'])[]): Rule {
  return (value) => {
    const texts = fields.flatMap(([field, encoding]) =>
      Object.values(getMap(value, field)).map((text) => Buffer.byteLength(String(text), encoding)),
    );
    const bytes = texts.reduce((sum, count) => sum + count, 0);
    return bytes > maxDataBytes ? [statusCause.tooLong(at, `may not be more than ${maxDataBytes} bytes`)] : [];
  };
}

/** Data that is immutable stays, and stays immutable. */
const immutable: Rule = (value, { old }) => {
  if (old?.immutable !== true) return [];
  const object = getMap(value);
  const detail = 'field is immutable when `immutable` is set';
  const causes = object.immutable === true ? [] : [statusCause.forbidden('immutable', detail)];
  const changed = ['data', 'binaryData'].filter((field) => !sameGo(object[field], old[field]));
  return [...causes, ...changed.map((field) => statusCause.forbidden(field, detail))];
};

/** A key is in the data or in the binary data. */
const oneOfBoth: Rule = (value, { parent }) =>
  Object.keys(getMap(value))
    .filter((key) => Object.hasOwn(getMap(parent, 'binaryData'), key))
    .map((key) => statusCause.invalid(`data[${key}]`, shown(key), 'duplicate of key present in binaryData'));

/** The keys of a Secret's data by its type. */
const secretKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};

const secretType: Rule = (value, { root }) => {
  const type = String(value);
  const data = getMap(root, 'data');
  if (type === 'kubernetes.io/basic-auth') {
    const names = ['username', 'password'];
    return names.some((key) => Object.hasOwn(data, key))
      ? []
      : names.map((key) => statusCause.required(`data[${key}]`));
  }
  if (type === 'kubernetes.io/service-account-token') {
    const annotation = 'kubernetes.io/service-account.name';
    const path = `metadata.annotations[${annotation}]`;
    return isEmpty(root.metadata.annotations?.[annotation]) ? [statusCause.required(path)] : [];
  }
  // The value of an SSH key is not empty either.
  const isMissing = (key: string) =>
    type === 'kubernetes.io/ssh-auth' ? isEmpty(data[key]) : !Object.hasOwn(data, key);
  const missing = (secretKeys[type] ?? []).filter(isMissing).map((key) => statusCause.required(`data[${key}]`));
  if (missing.length > 0 || !type.startsWith('kubernetes.io/docker')) return missing;
  const [key = ''] = secretKeys[type] ?? [];
  const detail = 'invalid JSON';
  return isJson(String(data[key])) ? [] : [statusCause.invalid(`data[${key}]`, '"<secret contents redacted>"', detail)];
};

function isJson(base64: string): boolean {
  try {
    const read: Json = JSON.parse(Buffer.from(base64, 'base64').toString('utf8'));
    return typeof read === 'object' && !isList(read);
  } catch {
    return false;
  }
}

/** An Event is in the namespace of its object. Events of cluster-scoped objects are in `default`. */
const eventNamespace: Rule = (value, { path, root }): StatusCause[] => {
  const { namespace: given = '' } = getMap(value);
  const { namespace = '' } = root.metadata;
  if (value === undefined || given === namespace) return [];
  if (given === '' && ['default', 'kube-system'].includes(namespace)) return [];
  return [statusCause.invalid(`${path}.namespace`, shown(given), 'does not match event.namespace')];
};

const isNew = ({ apiVersion }: JsonObject): boolean => apiVersion === 'events.k8s.io/v1';
const hasTime = ({ eventTime }: JsonObject): boolean => !isEmpty(eventTime);
const reporter: Rule = (value = '', place) => [
  ...required(value, place),
  ...exactText(qualifiedNameError)(value, place),
];
const short = exactText((text) => (text.length > 128 ? 'can have at most 128 characters' : undefined));

export const dataRules: Readonly<Record<string, TypeRules>> = {
  ConfigMap: {
    self: all(size('[]', ['data', 'utf8'], ['binaryData', 'base64']), immutable),
    data: all(keys(configKeyError), oneOfBoth),
    binaryData: keys(configKeyError),
  },
  Secret: {
    self: all(size('data', ['data', 'base64']), immutable),
    data: keys(configKeyError),
    type: all(secretType, unchanged('type')),
  },
  Event: {
    involvedObject: eventNamespace,
    regarding: eventNamespace,
    // Events of the core group may have no time. One with a time says more.
    eventTime: when(isNew, required),
    action: when(hasTime, all(required, short)),
    reason: when(hasTime, all(required, short)),
    reportingInstance: when(hasTime, all(required, short)),
    reportingComponent: when((event) => hasTime(event) && !isNew(event), reporter),
    reportingController: when((event) => hasTime(event) && isNew(event), reporter),
  },
};
