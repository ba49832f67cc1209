// The rules of ConfigMaps, Secrets and Events.
import { getMap, isList, type Json, type JsonObject } from '../json.ts';
import { statusCause } from '../status-error.ts';
import { all, entries, invalid, isEmpty, type Rule, type RuleTable, sameGo, unless, when } from './rule.ts';
import { textErrors } from './texts.ts';

/** MaxSecretSize of the API, for the values of a ConfigMap or Secret together. */
const maxDataBytes = 1024 * 1024;

/** Limits the bytes of an object's data. `at` is the path that the error names. */
function size(at: string, encodings: Readonly<Record<string, 'utf8' | 'base64'>>): Rule {
  return (value) => {
    const bytes = Object.entries(encodings).flatMap(([field, encoding]) =>
      Object.values(getMap(value, field)).map((text) => Buffer.byteLength(String(text), encoding)),
    );
    const total = bytes.reduce((sum, count) => sum + count, 0);
    return unless(total <= maxDataBytes, statusCause.tooLong(at, `may not be more than ${maxDataBytes} bytes`));
  };
}

/** Data that is immutable stays, and stays immutable. */
const immutable: Rule = (value, { old }) => {
  const object = getMap(value);
  const fields = ['immutable', 'data', 'binaryData'].filter((field) => !sameGo(object[field], old?.[field]));
  const detail = 'field is immutable when `immutable` is set';
  return old?.immutable === true ? fields.map((field) => statusCause.forbidden(field, detail)) : [];
};

/** A key is in the data or in the binary data. */
const oneOfBoth: Rule = (value, { parent }) =>
  Object.keys(getMap(value)).flatMap((key) =>
    unless(
      !Object.hasOwn(getMap(parent, 'binaryData'), key),
      invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'),
    ),
  );

/** The keys of a Secret's data by its type. */
const secretKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/basic-auth': ['username', 'password'],
};

const secretType: Rule = (value, { root }) => {
  const type = String(value);
  const data = getMap(root, 'data');
  const account = 'kubernetes.io/service-account.name';
  if (type === 'kubernetes.io/service-account-token')
    return unless(
      !isEmpty(root.metadata.annotations?.[account]),
      statusCause.required(`metadata.annotations[${account}]`),
    );
  // The value of an SSH key is not empty either.
  const isGiven = (key: string) => (type.endsWith('ssh-auth') ? !isEmpty(data[key]) : Object.hasOwn(data, key));
  const keys = secretKeys[type] ?? [];
  if (type.endsWith('basic-auth') && keys.some(isGiven)) return [];
  const missing = keys.filter((key) => !isGiven(key)).map((key) => statusCause.required(`data[${key}]`));
  const [key = ''] = keys;
  const isRead = missing.length > 0 || !type.startsWith('kubernetes.io/docker') || isJson(String(data[key]));
  return [...missing, ...unless(isRead, invalid(`data[${key}]`, '<secret contents redacted>', 'invalid JSON'))];
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
const eventNamespace: Rule = (value, { path, root }) => {
  const { namespace: given = '' } = getMap(value);
  const { namespace = '' } = root.metadata;
  const isSame = given === namespace || (given === '' && ['default', 'kube-system'].includes(namespace));
  return unless(value === undefined || isSame, invalid(`${path}.namespace`, given, 'does not match event.namespace'));
};

const isNew = ({ apiVersion }: JsonObject): boolean => apiVersion === 'events.k8s.io/v1';
const hasTime = ({ eventTime }: JsonObject): boolean => !isEmpty(eventTime);

export const dataRules: RuleTable = {
  ConfigMap: {
    self: all(size('[]', { data: 'utf8', binaryData: 'base64' }), immutable),
    data: all(entries('none', textErrors.configKey), oneOfBoth),
    binaryData: entries('none', textErrors.configKey),
  },
  Secret: {
    self: all(size('data', { data: 'base64' }), immutable),
    data: entries('none', textErrors.configKey),
    type: all(secretType, 'unchanged'),
  },
  Event: {
    involvedObject: eventNamespace,
    regarding: eventNamespace,
    // Events of the core group may have no time. One with a time says more.
    eventTime: when(isNew, 'required'),
    action: when(hasTime, 'required short'),
    reason: when(hasTime, 'required short'),
    reportingInstance: when(hasTime, 'required short'),
    reportingComponent: when((event) => hasTime(event) && !isNew(event), 'required qualified!'),
    reportingController: when((event) => hasTime(event) && isNew(event), 'required qualified!'),
  },
};
