// Validation of pod templates, Services and the counts of workloads, limited to errors that the children of a
// controller have: a cluster refuses them (validation.go of core, apps and batch). Defaults are filled in before.
import {
  getList,
  getMap,
  getNumber,
  getString,
  isList,
  isObject,
  type Json,
  type JsonObject,
  omitFields,
  sameJson,
} from '../json.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { labelError, labelValueError, qualifiedNameError } from './names.ts';
import type { Check } from './resource.ts';

const largestPort = 65_535;
const longestPortName = 15;

/** Checks the pod template at a path. `restart` has the restart policies that the kind permits. */
export function checkTemplate(path: readonly string[], restart: readonly string[]): Check {
  const at = path.join('.');
  return (object) => {
    const template = getMap(object, ...path);
    const claims = getList(object, 'spec', 'volumeClaimTemplates').map((one) => getString(one, 'metadata', 'name'));
    return [
      ...labelCauses(getMap(template, 'metadata', 'labels'), `${at}.labels`),
      ...checkPodSpec(getMap(template, 'spec'), `${at}.spec`, claims),
      ...restartCauses(getString(template, 'spec', 'restartPolicy'), restart, `${at}.spec.restartPolicy`),
    ];
  };
}

/** Checks the spec of a Pod, of which an update can change little. */
export const checkPod: Check = (object, old) => {
  const spec = getMap(object, 'spec');
  const causes = checkPodSpec(spec, 'spec', []);
  return old === undefined ? causes : [...causes, ...checkPodUpdate(spec, getMap(old, 'spec'))];
};

function checkPodUpdate(spec: JsonObject, old: JsonObject): StatusCause[] {
  const grown = ['containers', 'initContainers'].filter(
    (field) => getList(spec, field).length !== getList(old, field).length,
  );
  if (grown.length > 0)
    return grown.map((field) => statusCause.forbidden(`spec.${field}`, 'pod updates may not add or remove containers'));
  const causes = [...tolerationCauses(spec, old), ...gateCauses(spec, old)];
  const changeable = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'];
  if (getList(old, 'schedulingGates').length > 0) changeable.push('nodeSelector', 'affinity');
  // There is no pods/binding in this server, so a pod without a node can be given one.
  if (getString(old, 'nodeName') === '') changeable.push('nodeName');
  const grace = 'terminationGracePeriodSeconds';
  if (spec[grace] === 1 && (getNumber(old, grace) ?? 0) < 0) changeable.push(grace);
  if (!sameJson(fixedPodSpec(spec, changeable), fixedPodSpec(old, changeable)))
    causes.push(statusCause.forbidden('spec', fixedPodSpecMessage));
  return causes;
}

/** Permits new tolerations, and other seconds of the old ones. */
function tolerationCauses(spec: JsonObject, old: JsonObject): StatusCause[] {
  const [now, before] = [spec, old].map((one) =>
    getList(one, 'tolerations').map((toleration) => withoutZeros({ ...getMap(toleration), tolerationSeconds: null })),
  );
  if (before?.every((one) => now?.some((other) => sameJson(one, other))) === true) return [];
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return [statusCause.forbidden('spec.tolerations', detail)];
}

function gateCauses(spec: JsonObject, old: JsonObject): StatusCause[] {
  const before = getList(old, 'schedulingGates').map((gate) => getString(gate, 'name'));
  return getList(spec, 'schedulingGates').flatMap((gate, index) => {
    const name = getString(gate, 'name');
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return before.includes(name) ? [] : [statusCause.forbidden(`spec.schedulingGates[${index}].name`, detail)];
  });
}

const fixedPodSpecMessage =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The fields of a pod that an update cannot change. */
function fixedPodSpec(spec: JsonObject, changeable: readonly string[]): Json {
  const withoutImages = (field: string): Json =>
    getList(spec, field).map((one) => (isObject(one) ? omitFields(one, 'image') : one));
  const containers = { containers: withoutImages('containers'), initContainers: withoutImages('initContainers') };
  return withoutZeros({ ...omitFields(spec, ...changeable), ...containers });
}

/**
 * Returns a value without the fields that are null, false, 0 or empty: a cluster compares Go's values, where most of
 * these are the absent field. An explicit zero of a pointer is not, so `runAsNonRoot: false` can be added here alone.
 */
function withoutZeros(value: Json): Json {
  if (isList(value)) return value.map(withoutZeros);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([field, content]): [string, Json] => [field, withoutZeros(content)]);
  return Object.fromEntries(fields.filter(([, content]) => !isZero(content)));
}

function isZero(value: Json): boolean {
  if (isList(value)) return value.length === 0;
  return isObject(value) ? Object.keys(value).length === 0 : !value;
}

/** Requires a count that is not negative, and a selector that is not empty. `kind` is for the message. */
export function checkWorkload(kind: string): Check {
  return (object) => {
    const replicas = getNumber(object, 'spec', 'replicas') ?? 0;
    const { selector } = getMap(object, 'spec');
    const isEmpty = isObject(selector) && Object.keys(selector).length === 0;
    const { matchLabels = {} } = isObject(selector) ? selector : {};
    const labels = labelCauses(getMap(matchLabels), 'spec.selector.matchLabels');
    const shown = JSON.stringify(selector ?? null);
    return [
      ...(replicas < 0
        ? [statusCause.invalid('spec.replicas', String(replicas), 'must be greater than or equal to 0')]
        : []),
      ...(isEmpty ? [statusCause.invalid('spec.selector', '{}', `empty selector is invalid for ${kind}`)] : []),
      ...labels,
      ...(labels.length > 0 ? [statusCause.invalid('spec.selector', shown, 'invalid label selector')] : []),
    ];
  };
}

/** Checks the ports and the selector of a Service. */
export const checkService: Check = (object) => {
  const spec = getMap(object, 'spec');
  const ports = getList(spec, 'ports');
  const isExternal = spec.type === 'ExternalName';
  const causes: StatusCause[] = labelCauses(getMap(spec, 'selector'), 'spec.selector');
  if (isExternal && getString(spec, 'externalName') === '') causes.push(statusCause.required('spec.externalName'));
  if (!isExternal && ports.length === 0 && spec.clusterIP !== 'None') causes.push(statusCause.required('spec.ports'));
  const names: string[] = [];
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    const name = getString(port, 'name');
    if (name !== '' || ports.length > 1) causes.push(...nameCauses(name, `${at}.name`, names));
    names.push(name);
    const { port: number, targetPort } = isObject(port) ? port : {};
    causes.push(...numberCauses(number, `${at}.port`), ...numberCauses(targetPort, `${at}.targetPort`));
  }
  return causes;
};

function restartCauses(policy: string, permitted: readonly string[], field: string): StatusCause[] {
  const shown = permitted.map((one) => JSON.stringify(one));
  if (permitted.includes(policy)) return [];
  return permitted.length === 1
    ? [statusCause.notSupported(field, JSON.stringify(policy), shown)]
    : [statusCause.required(field, `valid values: ${shown.join(', ')}`)];
}

/** Checks the containers of a pod: names, images, ports and mounts. `claims` are further volumes. */
function checkPodSpec(spec: JsonObject, path: string, claims: readonly string[]): StatusCause[] {
  const volumes = [...claims, ...getList(spec, 'volumes').map((one) => getString(one, 'name'))];
  return ['initContainers', 'containers'].flatMap((field) => {
    const names: string[] = [];
    return getList(spec, field).flatMap((container, index) => {
      const at = `${path}.${field}[${index}]`;
      const causes = nameCauses(getString(container, 'name'), `${at}.name`, names);
      names.push(getString(container, 'name'));
      if (getString(container, 'image') === '') causes.push(statusCause.required(`${at}.image`));
      const ports = getList(container, 'ports');
      return [
        ...causes,
        ...ports.flatMap((port, place) => containerPortCauses(port, `${at}.ports[${place}]`)),
        ...mountCauses(getList(container, 'volumeMounts'), volumes, `${at}.volumeMounts`),
      ];
    });
  });
}

function mountCauses(mounts: readonly Json[], volumes: readonly string[], path: string): StatusCause[] {
  const paths = mounts.map((mount) => getString(mount, 'mountPath'));
  return mounts.flatMap((mount, index) => {
    const [volume, mountPath] = [getString(mount, 'name'), getString(mount, 'mountPath')];
    const causes: StatusCause[] = [];
    if (!volumes.includes(volume)) causes.push(statusCause.notFound(`${path}[${index}].name`, JSON.stringify(volume)));
    if (paths.indexOf(mountPath) < index)
      causes.push(statusCause.invalid(`${path}[${index}].mountPath`, JSON.stringify(mountPath), 'must be unique'));
    return causes;
  });
}

function containerPortCauses(port: Json, path: string): StatusCause[] {
  const name = getString(port, 'name');
  const number = getNumber(port, 'containerPort') ?? 0;
  const causes: StatusCause[] = [];
  if (name.length > longestPortName) {
    const detail = `must be no more than ${longestPortName} characters`;
    causes.push(statusCause.invalid(`${path}.name`, JSON.stringify(name), detail));
  }
  const field = `${path}.containerPort`;
  return [...causes, ...(number === 0 ? [statusCause.required(field)] : numberCauses(number, field))];
}

/** Checks the number of a port. A name is no number, and is not checked. */
function numberCauses(port: Json | undefined, field: string): StatusCause[] {
  if (typeof port !== 'number' || (port >= 1 && port <= largestPort)) return [];
  return [statusCause.invalid(field, String(port), `must be between 1 and ${largestPort}, inclusive`)];
}

/** Checks a name that has to be a DNS label, and not one of the others. */
function nameCauses(name: string, field: string, others: readonly string[]): StatusCause[] {
  if (name === '') return [statusCause.required(field)];
  const error = labelError(name);
  if (error !== undefined) return [statusCause.invalid(field, JSON.stringify(name), error)];
  return others.includes(name) ? [statusCause.duplicate(field, JSON.stringify(name))] : [];
}

function labelCauses(labels: JsonObject, field: string): StatusCause[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const text = String(value);
    const errors = [
      [key, qualifiedNameError(key)],
      [text, labelValueError(text)],
    ] as const;
    return errors.flatMap(([shown, error]) =>
      error === undefined ? [] : [statusCause.invalid(field, JSON.stringify(shown), error)],
    );
  });
}
