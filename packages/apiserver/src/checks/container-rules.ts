// The rules of containers: variables, ports, probes, hooks, mounts, resources and security (core/validation).
import { getList, getMap, getString, type Json } from '../json.ts';
import { qualifiedNameError } from '../registry/names.ts';
import { nanosOf } from '../schema/quantity.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import {
  all,
  invalid,
  invalidFor,
  itemsOf,
  oneOf,
  type Rule,
  type RuleTable,
  rule,
  unless,
  unset,
  unsupported,
  when,
  whose,
} from './rule.ts';

/** A port's number, or the name of a port of a container. A missing one is the number 0. */
export const portNumberOrName: Rule = (value, place) =>
  rule(typeof value === 'string' ? 'portName?' : '1..65535!')(value, place);

/** A number that is not negative, or a percentage. */
export const countOrPercent: Rule = (value, place) =>
  rule(typeof value === 'string' ? 'percent?' : '0..')(value, place);

/** Returns a count, or the number of a percentage. */
export function countOf(value: Json | undefined): number {
  return Number(/^([+-]?\d+)%?$/.exec(String(value))?.[1] ?? 0);
}

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
/** Returns whether a resource can be used by more pods than there is of it. */
const canOvercommit = (name: string): boolean =>
  !isHugePages(name) && (!name.includes('/') || name.startsWith('kubernetes.io/'));
/** Returns whether an amount is a whole number. */
export const isWhole = (amount: Json | undefined): boolean => (nanosOf(String(amount)) ?? 0n) % 1_000_000_000n === 0n;

function resourceError(name: string): string | undefined {
  const isStandard = ['cpu', 'memory', 'ephemeral-storage'].includes(name) || isHugePages(name);
  const isExtended = name.includes('/') && !name.startsWith('requests.') && !/(^|\.)kubernetes\.io\/./.test(name);
  const isKnown = isStandard || isExtended || name.startsWith('kubernetes.io/');
  return qualifiedNameError(name) ?? (isKnown ? undefined : 'must be a standard resource for containers');
}

/** The name of a resource of a container. */
export const resourceName: Rule = (value = '', { path }) =>
  value === '' ? [statusCause.required(path)] : invalidFor(path, value, resourceError(String(value)));

/** Amounts of resources. Those of extended resources are whole numbers. */
export const amounts: Rule = (value, place) =>
  Object.entries(getMap(value)).flatMap(([name, amount]) => {
    const path = `${place.path}[${name}]`;
    const isDivided = canOvercommit(name) || isHugePages(name);
    return [
      ...invalidFor(path, name, resourceError(name)),
      ...rule('quantity>=0')(amount, { ...place, path }),
      ...unless(isDivided || isWhole(amount), invalid(path, amount, 'must be an integer')),
    ];
  });

const requestsBelowLimits: Rule = (value, { path }) => {
  const { requests = {}, limits = {} } = getMap(value);
  const names = [...Object.keys(getMap(requests)), ...Object.keys(getMap(limits))];
  const causes = Object.entries(getMap(requests)).flatMap(([name, amount]) => {
    const limit = getMap(limits)[name];
    const free = canOvercommit(name);
    if (limit === undefined)
      return unless(free, statusCause.required(`${path}.limits`, 'must be set for non overcommitable resources'));
    const [asked, most] = [nanosOf(String(amount)) ?? 0n, nanosOf(String(limit)) ?? 0n];
    const detail = `must be ${free ? 'less than or equal' : 'equal'} to ${name} limit of ${limit}`;
    return unless(asked === most || (asked < most && free), invalid(`${path}.requests`, amount, detail));
  });
  const computes = names.includes('cpu') || names.includes('memory');
  const paged = unless(
    computes || !names.some(isHugePages),
    statusCause.forbidden(path, 'HugePages require cpu or memory'),
  );
  return [...causes, ...paged];
};

const oneHandler = oneOf(
  ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'],
  'may not specify more than 1 handler type',
  'must specify a handler type',
);

/** Counts those of the fields that an object has. */
const countIn = (value: Json | undefined, fields: readonly string[]): number =>
  fields.filter((field) => getMap(value)[field] !== undefined).length;
const moreThanOne = 'may not have more than one field specified at a time';

const variableSource: Rule = (value, { path, parent }) => {
  const fields = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];
  const count = countIn(value, fields);
  if (value === undefined) return [];
  if (count === 0)
    return [invalid(path, '', `must specify one of: ${fields.map((field) => `\`${field}\``).join(', ')}`)];
  const hasText = getString(parent, 'value') !== '';
  const detail = hasText ? 'may not be specified when `value` is not empty' : moreThanOne;
  return unless(!hasText && count === 1, invalid(path, '', detail));
};

const variablesFrom: Rule = (value, { path }) =>
  itemsOf(value).flatMap((source) => {
    const count = countIn(source, ['configMapRef', 'secretRef']);
    const detail = count === 0 ? 'must specify one of: `configMapRef` or `secretRef`' : moreThanOne;
    return unless(count === 1, invalid(path, '', detail));
  });

const podFields = ['metadata.name', 'metadata.namespace', 'metadata.uid'];
const mapFields = ['metadata.annotations', 'metadata.labels'];
const runFields = [
  ...['spec.nodeName', 'spec.serviceAccountName'],
  ...['status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
];

/** A field of the pod, or a label or annotation of it by its key. */
const podField: Rule = (value, { path }) => {
  const fieldPath = getString(value, 'fieldPath');
  const at = `${path}.fieldPath`;
  const unknown = invalid(at, fieldPath, 'error converting fieldPath');
  if (fieldPath === '') return [statusCause.required(at), unknown];
  const [, map, key = ''] = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(fieldPath) ?? [];
  const error = map === undefined ? undefined : qualifiedNameError(map === 'labels' ? key : key.toLowerCase());
  if (map !== undefined) return invalidFor(path, key, error);
  const permitted = [...podFields, ...(path.includes('.env[') ? runFields : mapFields)];
  const isKnown = [...podFields, ...mapFields, ...runFields].includes(fieldPath);
  if (permitted.includes(fieldPath)) return [];
  return [isKnown ? unsupported(at, fieldPath, permitted) : unknown];
};

const resources = ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [`limits.${name}`, `requests.${name}`]);

const resourceField: Rule = (value, { path }) => {
  const divisor = getString(value, 'divisor');
  const resource = getString(value, 'resource');
  const isKnown = resources.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource);
  const divisors = resource.endsWith('.cpu') ? /^[01]m?$/ : /^(0|1([kMGTPE]|[KMGTPE]i)?)$/;
  const wrong = unless(!isKnown || divisors.test(divisor), invalid(`${path}.divisor`, resource, 'is not supported'));
  if (!path.includes('.env[') && getString(value, 'containerName') === '')
    return [statusCause.required(`${path}.containerName`), ...wrong];
  if (resource === '') return [statusCause.required(`${path}.resource`)];
  return [...unless(isKnown, unsupported(`${path}.resource`, resource, resources)), ...wrong];
};

/** A probe whose success counts once. */
const countsOnce: Rule = (value, { path }) => {
  const { successThreshold } = getMap(value);
  const isOne = value === undefined || successThreshold === 1;
  return unless(isOne, invalid(`${path}.successThreshold`, successThreshold, 'must be 1'));
};

const keepsGrace: Rule = (value, place) =>
  unset('must not be set for readinessProbes')(getMap(value).terminationGracePeriodSeconds, {
    ...place,
    path: `${place.path}.terminationGracePeriodSeconds`,
  });

/** How a container mounts volumes. Kubernetes names these fields at the list. */
const mountModes: Rule = (value, place) =>
  getList(value, 'volumeMounts').flatMap((mount) => {
    const { mountPropagation, recursiveReadOnly } = getMap(mount);
    const at = { ...place, path: `${place.path}.volumeMounts.mountPropagation` };
    const ofMachine = mountPropagation === 'Bidirectional' && getMap(value, 'securityContext').privileged !== true;
    return [
      ...unless(!ofMachine, statusCause.forbidden(at.path, 'Bidirectional is available only to privileged containers')),
      ...rule('Bidirectional|HostToContainer|None?')(mountPropagation, at),
      ...rule('Disabled|Enabled|IfPossible?')(recursiveReadOnly, {
        ...place,
        path: `${place.path}.volumeMounts.recursiveReadOnly`,
      }),
    ];
  });

/** Kubernetes names the policies at their list. */
const resizes: Rule = (value, place) =>
  itemsOf(value).flatMap((policy): readonly StatusCause[] => [
    ...rule('required cpu|memory')(getMap(policy).resourceName, place),
    ...rule('required NotRequired|RestartContainer')(getMap(policy).restartPolicy, place),
  ]);

const headers: Rule = (value, place) => itemsOf(value).flatMap((header) => rule('header!')(getMap(header).name, place));

const privileges: Rule = (value, { path }) => {
  const { allowPrivilegeEscalation, privileged } = getMap(value);
  const isAdmin = privileged === true || getList(value, 'capabilities', 'add').includes('CAP_SYS_ADMIN');
  const detail = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true, or add CAP_SYS_ADMIN';
  return unless(allowPrivilegeEscalation !== false || !isAdmin, invalid(path, value, detail));
};

const userId = '0..2147483647';
const secretOrMapKey = { name: 'subdomain?', key: 'required configKey' };
const named = { name: 'required subdomain' };

export const containerRules: RuleTable = {
  Container: {
    self: mountModes,
    name: 'required label',
    image: 'required',
    envFrom: variablesFrom,
    ports: 'unique:name',
    livenessProbe: countsOnce,
    startupProbe: countsOnce,
    readinessProbe: keepsGrace,
    terminationMessagePolicy: 'required FallbackToLogsOnError|File',
    restartPolicy: all(
      when((container) => getList(container, 'restartPolicyRules').length > 0, 'required'),
      'Always|Never|OnFailure?',
    ),
    resizePolicy: resizes,
  },
  EphemeralContainer: { name: 'required label', image: 'required' },
  ContainerResizePolicy: { resourceName: 'none', restartPolicy: 'none' },
  ContainerRestartRule: { action: 'Restart|RestartAllContainers!', exitCodes: 'required' },
  ContainerRestartRuleOnExitCodes: { operator: 'In|NotIn!', values: 'max:255' },
  EnvVar: { name: 'required variable', valueFrom: variableSource },
  EnvFromSource: { prefix: 'variable' },
  ConfigMapEnvSource: named,
  SecretEnvSource: named,
  ConfigMapKeySelector: secretOrMapKey,
  SecretKeySelector: secretOrMapKey,
  ObjectFieldSelector: { self: podField, fieldPath: 'none' },
  ResourceFieldSelector: { self: resourceField, resource: 'none' },
  ContainerPort: {
    name: 'portName',
    containerPort: all(
      'required',
      when((port) => port.containerPort !== 0, '1..65535'),
    ),
    hostPort: when((port) => port.hostPort !== 0, '1..65535'),
  },
  Probe: {
    self: oneHandler,
    initialDelaySeconds: '0..',
    timeoutSeconds: '0..',
    periodSeconds: '0..',
    successThreshold: '0..',
    failureThreshold: '0..',
    terminationGracePeriodSeconds: '1..',
  },
  // Without its feature gate the signal is dropped.
  Lifecycle: { stopSignal: 'none' },
  LifecycleHandler: { self: oneHandler },
  ExecAction: { command: 'required' },
  HTTPGetAction: { path: 'required', port: portNumberOrName, scheme: 'HTTP|HTTPS?', httpHeaders: headers },
  HTTPHeader: { name: 'none' },
  TCPSocketAction: { port: portNumberOrName },
  GRPCAction: { port: '1..65535!' },
  VolumeMount: {
    mountPropagation: 'none',
    subPathExpr: when(
      (mount) => getString(mount, 'subPath') !== '',
      unset('subPathExpr and subPath are mutually exclusive'),
    ),
  },
  ResourceRequirements: { self: requestsBelowLimits, limits: amounts, requests: amounts },
  SecurityContext: {
    // Privileged containers are allowed, as by the --allow-privileged=true of kubeadm and of managed clusters.
    self: privileges,
    runAsUser: userId,
    runAsGroup: userId,
  },
  SeccompProfile: {
    localhostProfile: when(
      whose('type', 'Localhost'),
      'required relativePath',
      unset('can only be set when seccomp type is Localhost'),
    ),
  },
  PodSecurityContext: {
    fsGroup: userId,
    runAsUser: userId,
    runAsGroup: userId,
    supplementalGroups: `*${userId}`,
    sysctls: 'unique:name',
  },
  Sysctl: { name: 'required sysctl', value: 'none' },
};
