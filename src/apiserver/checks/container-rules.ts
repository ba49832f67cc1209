// The rules of containers: variables, ports, probes, hooks, mounts, resources and security (core/validation).
import { getList, getMap, getString, type Json, type JsonObject } from '../json.ts';
import { labelError, qualifiedNameError, subdomainError } from '../registry/names.ts';
import { nanosOf } from '../schema/quantity.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import {
  all,
  among,
  anything,
  atMost,
  between,
  each,
  eachAtList,
  exactText,
  having,
  nonNegative,
  oneOf,
  positive,
  quantity,
  type Rule,
  required,
  requiredText,
  shown,
  type TypeRules,
  text,
  unique,
  unset,
  when,
  whose,
} from './rule.ts';
import {
  configKeyError,
  headerNameError,
  percentError,
  portNameError,
  relativePathError,
  variableNameError,
} from './texts.ts';

const largestPort = 65_535;
const largestUser = 2_147_483_647;

/** A port's number. */
export const portNumber = between(1, largestPort);

/** A port's number, or the name of a port of a container. A missing one is the number 0. */
export const portNumberOrName: Rule = (value = 0, place) =>
  typeof value === 'string' ? exactText(portNameError)(value, place) : portNumber(value, place);

/** A number that is not negative, or a percentage. */
export const countOrPercent: Rule = (value, place) =>
  typeof value === 'string' ? exactText(percentError)(value, place) : nonNegative(value, place);

/** A percentage of no more than 100. */
export const atMostAll: Rule = (value, { path }) =>
  typeof value === 'string' && percentError(value) === undefined && Number(value.slice(0, -1)) > 100
    ? [statusCause.invalid(path, shown(value), 'must not be greater than 100%')]
    : [];

/** Returns a count, or the number of a percentage. */
export function countOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : Number.parseInt(String(value ?? 0), 10) || 0;
}

/** The resources that a container can have besides extended ones, and huge pages. */
const standardResources = ['cpu', 'memory', 'ephemeral-storage'];
const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

/** Validates the name of a resource of a container. */
export function containerResourceError(name: string): string | undefined {
  const error = qualifiedNameError(name);
  if (error !== undefined) return error;
  if (!name.includes('/')) {
    return standardResources.includes(name) || isHugePages(name)
      ? undefined
      : 'must be a standard resource for containers';
  }
  const isExtended = !name.startsWith('requests.') && !/(^|\.)kubernetes\.io\//.test(name);
  return isExtended || name.startsWith('kubernetes.io/') ? undefined : "doesn't follow extended resource name standard";
}

/** Returns whether a resource can be used by more pods than there is of it. */
function canOvercommit(name: string): boolean {
  return !isHugePages(name) && (!name.includes('/') || name.startsWith('kubernetes.io/'));
}

/** Whole numbers of a resource that cannot be divided. */
export const amounts: Rule = (value, place) => {
  const given = Object.entries(getMap(value));
  return given.flatMap(([name, amount]) => {
    const at = { ...place, path: `${place.path}[${name}]` };
    const isWhole = canOvercommit(name) || isHugePages(name) || (nanosOf(String(amount)) ?? 0n) % 1_000_000_000n === 0n;
    return [
      ...exactText(containerResourceError)(name, at),
      ...quantity('zero')(amount, at),
      ...(isWhole ? [] : [statusCause.invalid(at.path, shown(amount), 'must be an integer')]),
    ];
  });
};

const requestsBelowLimits: Rule = (value, { path }) => {
  const { requests, limits } = getMap(value);
  const limited = getMap(limits);
  const names = [...Object.keys(getMap(requests)), ...Object.keys(limited)];
  const computes = names.some((name) => name === 'cpu' || name === 'memory');
  const causes = Object.entries(getMap(requests)).flatMap(([name, amount]): StatusCause[] => {
    const limit = limited[name];
    if (limit === undefined)
      return canOvercommit(name)
        ? []
        : [statusCause.required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
    const [asked, most] = [nanosOf(String(amount)) ?? 0n, nanosOf(String(limit)) ?? 0n];
    if (asked === most || (asked < most && canOvercommit(name))) return [];
    const relation = canOvercommit(name) ? 'less than or equal' : 'equal';
    return [statusCause.invalid(`${path}.requests`, shown(amount), `must be ${relation} to ${name} limit of ${limit}`)];
  });
  if (computes || !names.some(isHugePages)) return causes;
  return [...causes, statusCause.forbidden(path, 'HugePages require cpu or memory')];
};

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];
const oneHandler = oneOf(handlers, 'may not specify more than 1 handler type', 'must specify a handler type');

const fieldSources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

const variableSource: Rule = (value, { path, parent }) => {
  if (value === undefined) return [];
  const count = fieldSources.filter((field) => getMap(value)[field] !== undefined).length;
  const listed = fieldSources.map((field) => `\`${field}\``).join(', ');
  if (count === 0) return [statusCause.invalid(path, '""', `must specify one of: ${listed}`)];
  if (getString(parent, 'value') !== '')
    return [statusCause.invalid(path, '""', 'may not be specified when `value` is not empty')];
  return count === 1 ? [] : [statusCause.invalid(path, '""', 'may not have more than one field specified at a time')];
};

const oneEnvironment: Rule = (value, { path }) =>
  (Array.isArray(value) ? value : []).flatMap((source) => {
    const count = ['configMapRef', 'secretRef'].filter((field) => getMap(source)[field] !== undefined).length;
    if (count === 1) return [];
    const detail =
      count === 0
        ? 'must specify one of: `configMapRef` or `secretRef`'
        : 'may not have more than one field specified at a time';
    return [statusCause.invalid(path, '""', detail)];
  });

/** The fields of a pod that a variable can have, and those that a file of a volume can have. */
const podFields = ['metadata.name', 'metadata.namespace', 'metadata.uid'];
const variableFields = [
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const fileFields = ['metadata.annotations', 'metadata.labels'];

/** Checks the path of a field of the pod: one of the fields, or a label or annotation by its key. */
const podField: Rule = (value, { path }) => {
  const fieldPath = getString(value, 'fieldPath');
  const at = `${path}.fieldPath`;
  if (fieldPath === '') {
    return [statusCause.required(at), statusCause.invalid(at, '""', 'error converting fieldPath')];
  }
  const [, map, key = ''] = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(fieldPath) ?? [];
  if (map !== undefined) {
    const error = qualifiedNameError(map === 'labels' ? key : key.toLowerCase());
    return error === undefined ? [] : [statusCause.invalid(path, shown(key), error)];
  }
  const isFile = !path.includes('.env[');
  const permitted = [...podFields, ...(isFile ? fileFields : variableFields)];
  if (permitted.includes(fieldPath)) return [];
  const isKnown = [...podFields, ...fileFields, ...variableFields].includes(fieldPath);
  const unsupported = statusCause.notSupported(at, shown(fieldPath), permitted.map(shown));
  return isKnown
    ? [unsupported]
    : [statusCause.invalid(at, shown(fieldPath), 'error converting fieldPath'), unsupported];
};

const resources = ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [`limits.${name}`, `requests.${name}`]);
const wholeDivisors = [
  '1',
  ...['k', 'M', 'G', 'T', 'P', 'E'].flatMap((unit) => [`1${unit}`, `1${unit === 'k' ? 'K' : unit}i`]),
];

const resourceField: Rule = (value, { path }) => {
  const { divisor = '0' } = getMap(value);
  const resource = getString(value, 'resource');
  const isFile = !path.includes('.env[');
  const causes: StatusCause[] = [];
  const isKnown = resources.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource);
  if (isFile && getString(value, 'containerName') === '') causes.push(statusCause.required(`${path}.containerName`));
  else if (resource === '') causes.push(statusCause.required(`${path}.resource`));
  else if (!isKnown) causes.push(statusCause.notSupported(`${path}.resource`, shown(resource), resources.map(shown)));
  const permitted = resource.endsWith('.cpu') ? ['1', '1m'] : wholeDivisors;
  if (isKnown && divisor !== '0' && !permitted.includes(String(divisor)))
    causes.push(
      statusCause.invalid(
        `${path}.divisor`,
        shown(resource),
        `only divisor's values ${permitted.join(', ')} are supported`,
      ),
    );
  return causes;
};

/** A probe whose success counts once. */
const countsOnce: Rule = (value, { path }) => {
  const { successThreshold } = getMap(value);
  return value === undefined || successThreshold === 1
    ? []
    : [statusCause.invalid(`${path}.successThreshold`, shown(successThreshold), 'must be 1')];
};

const keepsGrace: Rule = (value, { path, ...place }) =>
  unset('must not be set for readinessProbes')(getMap(value).terminationGracePeriodSeconds, {
    ...place,
    path: `${path}.terminationGracePeriodSeconds`,
  });

/** Kubernetes names the policies at their list. */
const resizes: Rule = eachAtList((policy, place) => [
  ...all(required, among('cpu', 'memory'))(getMap(policy).resourceName ?? '', place),
  ...all(required, among('NotRequired', 'RestartContainer'))(getMap(policy).restartPolicy ?? '', place),
]);

const secretOrMapKey: TypeRules = {
  name: exactText(subdomainError),
  key: requiredText(configKeyError),
};

const userId = between(0, largestUser);
const fileMode = between(0, 0o777);

/** A file's permissions. */
export { fileMode };

/** Returns whether a container may do all that the machine's root may. */
function isPrivileged(container: JsonObject): boolean {
  return getMap(container, 'securityContext').privileged === true;
}

/** How a container mounts volumes. Kubernetes names these fields at the list. */
const mountModes: Rule = (value, place) =>
  getList(value, 'volumeMounts').flatMap((mount) => {
    const { mountPropagation, recursiveReadOnly } = getMap(mount);
    const at = { ...place, path: `${place.path}.volumeMounts.mountPropagation` };
    const ofMachine = mountPropagation === 'Bidirectional' && !isPrivileged(getMap(value));
    const detail = 'Bidirectional mount propagation is available only to privileged containers';
    return [
      ...(ofMachine ? [statusCause.forbidden(at.path, detail)] : []),
      ...among('Bidirectional', 'HostToContainer', 'None')(mountPropagation, at),
      ...among(
        'Disabled',
        'Enabled',
        'IfPossible',
      )(recursiveReadOnly, {
        ...place,
        path: `${place.path}.volumeMounts.recursiveReadOnly`,
      }),
    ];
  });

export const containerRules: Readonly<Record<string, TypeRules>> = {
  Container: {
    self: mountModes,
    name: requiredText(labelError),
    image: required,
    envFrom: oneEnvironment,
    ports: unique('name'),
    livenessProbe: countsOnce,
    startupProbe: countsOnce,
    readinessProbe: keepsGrace,
    terminationMessagePolicy: all(
      required,
      text(() => undefined),
      among('FallbackToLogsOnError', 'File'),
    ),
    restartPolicy: all(when(having('restartPolicyRules'), required), among('Always', 'Never', 'OnFailure')),
    resizePolicy: resizes,
  },
  EnvVar: { name: requiredText(variableNameError), valueFrom: variableSource },
  EnvFromSource: { prefix: text(variableNameError) },
  ConfigMapEnvSource: { name: requiredText(subdomainError) },
  SecretEnvSource: { name: requiredText(subdomainError) },
  ConfigMapKeySelector: secretOrMapKey,
  SecretKeySelector: secretOrMapKey,
  ObjectFieldSelector: { self: podField, fieldPath: () => [] },
  ResourceFieldSelector: { self: resourceField, resource: () => [] },
  ContainerPort: {
    name: text(portNameError),
    containerPort: all(
      required,
      when((port) => port.containerPort !== 0, portNumber),
    ),
    hostPort: when((port) => port.hostPort !== 0, portNumber),
  },
  Probe: {
    self: oneHandler,
    initialDelaySeconds: nonNegative,
    timeoutSeconds: nonNegative,
    periodSeconds: nonNegative,
    successThreshold: nonNegative,
    failureThreshold: nonNegative,
    terminationGracePeriodSeconds: positive,
  },
  LifecycleHandler: { self: oneHandler },
  ExecAction: { command: required },
  HTTPGetAction: {
    path: required,
    port: portNumberOrName,
    scheme: among('HTTP', 'HTTPS'),
    httpHeaders: eachAtList((header, place) => exactText(headerNameError)(getString(header, 'name'), place)),
  },
  HTTPHeader: { name: () => [] },
  TCPSocketAction: { port: portNumberOrName },
  GRPCAction: { port: portNumberOrName },
  VolumeMount: {
    name: required,
    mountPath: required,
    mountPropagation: () => [],
    subPathExpr: when(
      (mount) => getString(mount, 'subPath') !== '',
      unset('subPathExpr and subPath are mutually exclusive'),
    ),
  },
  VolumeDevice: { name: required, devicePath: required },
  ResourceRequirements: { self: requestsBelowLimits, limits: amounts, requests: amounts },
  VolumeResourceRequirements: {},
  SecurityContext: {
    self: (value, { path }) => {
      const { allowPrivilegeEscalation, privileged } = getMap(value);
      const added = getList(value, 'capabilities', 'add');
      if (allowPrivilegeEscalation !== false || (privileged !== true && !added.includes('CAP_SYS_ADMIN'))) return [];
      return [
        statusCause.invalid(
          path,
          shown(value),
          'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
        ),
      ];
    },
    privileged: (value, { path }) =>
      value === true ? [statusCause.forbidden(path, 'disallowed by cluster policy')] : [],
    runAsUser: userId,
    runAsGroup: userId,
  },
  SeccompProfile: {
    type: all(required, among('Localhost', 'RuntimeDefault', 'Unconfined')),
    localhostProfile: (value, place) =>
      whose('type', 'Localhost')(place.parent)
        ? requiredText(relativePathError)(value, place)
        : unset('can only be set when seccomp type is Localhost')(value, place),
  },
  PodSecurityContext: {
    fsGroup: userId,
    runAsUser: userId,
    runAsGroup: userId,
    supplementalGroups: each(userId),
    sysctls: unique('name'),
  },
  Sysctl: {
    name: requiredText((name) =>
      /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/.test(name)
        ? undefined
        : 'must match the form of a sysctl',
    ),
  },
  ContainerResizePolicy: { resourceName: anything, restartPolicy: anything },
  ContainerRestartRule: {
    action: (value = '', place) => among('Exit', 'RestartAllContainers')(value, place),
    exitCodes: required,
  },
  ContainerRestartRuleOnExitCodes: {
    operator: (value = '', place) => among('In', 'NotIn')(value, place),
    values: atMost(255),
  },
  EphemeralContainer: { name: requiredText(labelError), image: required },
};
