// The columns of Tables, which kubectl prints, as kube-apiserver's printers have them (pkg/printers/internalversion,
// printers.go). Those of custom kinds are in their CRD.
import { getIn, getList, getMap, getNumber, getString, isList, isObject, type Json } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { jsonPath } from './json-path.ts';
import type { Column } from './resource.ts';
import { labelsText, selectorText } from './selector-text.ts';

/** The column with the name of an object. */
export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name must be unique within a namespace.',
  cell: ({ metadata }) => metadata.name ?? '',
};
const created = ({ metadata }: ApiObject): Json => metadata.creationTimestamp ?? null;

/** The columns of a kind without columns of its own. */
export const plainColumns: readonly Column[] = ['Name', 'Age'].map(columnOf);

type Cell = (object: ApiObject) => Json;
/**
 * A column: its name and a field, `Type=spec.type`, with what is shown without it, `Class=spec.class|<none>`. After a
 * `#` it is an integer, 0 if it is absent. With a `+` at the end it is shown with `-o wide` alone. Or its name, a
 * function, and words: its type, and `wide`.
 */
type Entry = string | Column | readonly [string, Cell, ...string[]];

function columnOf(entry: Entry): Column {
  if (entry === 'Name') return nameColumn;
  if (entry === 'Age') return columnOf(['Age', created, 'date']);
  if (entry === 'Created At') return columnOf([entry, created]);
  if (typeof entry === 'string') {
    const [, name = '', path = '', hash, otherwise = '', plus] =
      /^([^=]+)=([\w.]+)(#?)(?:\|([^+]*))?(\+?)$/.exec(entry) ?? [];
    const steps = path.split('.');
    const wide = plus === '+' ? ['wide'] : [];
    return hash === '#'
      ? columnOf([name, (object) => getNumber(object, ...steps) ?? 0, 'integer', ...wide])
      : columnOf([name, (object) => getString(object, ...steps) || otherwise, ...wide]);
  }
  if (!('at' in entry)) return entry;
  const [name, cell, ...words] = entry;
  const type = words.find((word) => word !== 'wide') ?? 'string';
  return { name, type, priority: words.includes('wide') ? 1 : 0, cell };
}

/** Returns a printer column of a CRD, with the value at its JSONPath. */
export function pathColumn(declared: Json): Column {
  const type = getString(declared, 'type');
  const find = jsonPath(getString(declared, 'jsonPath'));
  const description = getString(declared, 'description');
  return {
    name: getString(declared, 'name'),
    type,
    format: getString(declared, 'format'),
    description:
      description === ''
        ? `Custom resource definition column (in JSONPath format): ${getString(declared, 'jsonPath')}`
        : description,
    priority: getNumber(declared, 'priority') ?? 0,
    cell: (object) => typed(find(object), type),
  };
}

function typed(found: readonly Json[], type: string): Json {
  const [first] = found;
  if (first === undefined || first === null) return null;
  if (type === 'string')
    return found.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' ');
  if (type === 'date') return typeof first === 'string' ? first : null;
  if (type === 'boolean') return typeof first === 'boolean' ? first : null;
  if (type === 'integer') return typeof first === 'number' ? Math.trunc(first) : null;
  return typeof first === 'number' ? first : null;
}

/** Of how many replicas of the spec a number is shown. */
const ready: Cell = (object) =>
  `${getNumber(object, 'status', 'readyReplicas') ?? 0}/${getNumber(object, 'spec', 'replicas') ?? 0}`;

/** Returns the columns of the containers of the template at a path, and of the selector beside it. */
function workload(...template: readonly string[]): readonly Entry[] {
  const containers = (field: string) => (object: ApiObject) =>
    getList(object, ...template, 'spec', 'containers')
      .map((container) => getString(container, field))
      .join(',');
  const selector: Cell = (object) => selectorText(getMap(object, ...template.slice(0, -1), 'selector')) || '<none>';
  return [
    ['Containers', containers('name'), 'wide'],
    ['Images', containers('image'), 'wide'],
    ['Selector', selector, 'wide'],
  ];
}

const ofTemplate = workload('spec', 'template');

/** The hosts and metrics that a cell lists. */
const mostHosts = 3;
const mostMetrics = 2;

function externalIps(object: ApiObject): string {
  const type = getString(object, 'spec', 'type');
  if (type === 'ExternalName') return getString(object, 'spec', 'externalName');
  const addresses = getList(object, 'status', 'loadBalancer', 'ingress').map(
    (ingress) => getString(ingress, 'ip') || getString(ingress, 'hostname'),
  );
  const all = [...new Set(addresses.toSorted()), ...getList(object, 'spec', 'externalIPs')];
  return all.join(',') || (type === 'LoadBalancer' ? '<pending>' : '<none>');
}

function ports(object: ApiObject): string {
  const parts = getList(object, 'spec', 'ports').map((port) => {
    const nodePort = getNumber(port, 'nodePort') ?? 0;
    const number = `${getNumber(port, 'port') ?? 0}${nodePort === 0 ? '' : `:${nodePort}`}`;
    return `${number}/${getString(port, 'protocol')}`;
  });
  return parts.length === 0 ? '<none>' : parts.join(',');
}

/** An Event of events.k8s.io has only the time of its first occurrence. */
function firstSeen(object: ApiObject): Json {
  return (
    getString(object, 'firstTimestamp') || getString(object, 'eventTime') || (object.metadata.creationTimestamp ?? null)
  );
}

function podReady(object: ApiObject): string {
  const statuses = getList(object, 'status', 'containerStatuses');
  const up = statuses.filter((status) => isObject(status) && status.ready === true).length;
  const sidecars = getList(object, 'spec', 'initContainers').filter(
    (one) => getString(one, 'restartPolicy') === 'Always',
  );
  return `${up}/${getList(object, 'spec', 'containers').length + sidecars.length}`;
}

function restarts(object: ApiObject): string {
  const counts = getList(object, 'status', 'containerStatuses').map((one) => getNumber(one, 'restartCount') ?? 0);
  return String(counts.reduce((sum, count) => sum + count, 0));
}

function phase(object: ApiObject): string {
  return object.metadata.deletionTimestamp === undefined ? getString(object, 'status', 'phase') : 'Terminating';
}

/** The names of the subjects of a kind. */
function subjects(kind: string): Cell {
  return (object) =>
    getList(object, 'subjects')
      .filter((subject) => getString(subject, 'kind') === kind)
      .map((one) => `${kind === 'ServiceAccount' ? `${getString(one, 'namespace')}/` : ''}${getString(one, 'name')}`)
      .join(', ');
}

const size = (...fields: readonly string[]): Cell => {
  return (object) => fields.reduce((sum, field) => sum + Object.keys(getMap(object, field)).length, 0);
};
const selected = (...path: readonly string[]): Cell => {
  return (object) => selectorText(getMap(object, ...path)) || '<none>';
};
/** What a list has, with commas between, or another text if it is empty. */
const listed = (field: string, shown: (item: Json) => readonly Json[]): Cell => {
  return (object) => getList(object, field).flatMap(shown).join(',') || '<unset>';
};
const valueIn = (otherwise: string, ...path: readonly string[]): Cell => {
  return (object) => valueOr(otherwise, getIn(object, ...path));
};
const isTrue =
  (...path: readonly string[]): Cell =>
  (object) =>
    getIn(object, ...path) === true;

/** A value as text, or another one without it. */
function valueOr(otherwise: string, value: Json | undefined): string {
  return value === undefined ? otherwise : String(value);
}

function conditionsOf(object: ApiObject): readonly string[] {
  return getList(object, 'status', 'conditions')
    .filter((condition) => getString(condition, 'status') === 'True')
    .map((condition) => getString(condition, 'type'));
}

const jobStates = ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet'];

function jobStatus(object: ApiObject): string {
  const found = jobStates.find((state) => conditionsOf(object).includes(state));
  const isEnding = object.metadata.deletionTimestamp !== undefined && found !== 'Complete' && found !== 'Failed';
  return isEnding ? 'Terminating' : (found ?? 'Running');
}

function completions(object: ApiObject): string {
  const done = getNumber(object, 'status', 'succeeded') ?? 0;
  const { completions: wanted, parallelism = 0 } = getMap(object, 'spec');
  if (wanted !== undefined) return `${done}/${wanted}`;
  return Number(parallelism) > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`;
}

function jobDuration(object: ApiObject): string {
  const [start, end] = [getString(object, 'status', 'startTime'), getString(object, 'status', 'completionTime')];
  if (start === '') return '';
  return age(start, end === '' ? new Date() : new Date(end));
}

function hosts(object: ApiObject): string {
  const rules = getList(object, 'spec', 'rules');
  const found = rules.map((rule) => getString(rule, 'host')).filter((host) => host !== '');
  if (found.length === 0) return '*';
  const more = found.length >= mostHosts && rules.length > mostHosts ? ` + ${rules.length - mostHosts} more...` : '';
  return `${found.slice(0, mostHosts).join(',')}${more}`;
}

function ingressAddress(object: ApiObject): string {
  const found = getList(object, 'status', 'loadBalancer', 'ingress').map(
    (ingress) => getString(ingress, 'ip') || getString(ingress, 'hostname'),
  );
  return [...new Set(found)].sort().join(',');
}

function parameters(object: ApiObject): string {
  const { kind, apiGroup, name } = getMap(object, 'spec', 'parameters');
  if (kind === undefined) return '<none>';
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`;
}

/** The value and the target of each metric. */
function metrics(object: ApiObject): string {
  const current = getList(object, 'status', 'currentMetrics');
  const shown = getList(object, 'spec', 'metrics').map((metric, index) => metricText(metric, current[index]));
  if (shown.length === 0) return '<none>';
  const more = shown.length > mostMetrics ? ` + ${shown.length - mostMetrics} more...` : '';
  return `${shown.slice(0, mostMetrics).join(', ')}${more}`;
}

function metricText(metric: Json, status: Json | undefined): string {
  const type = getString(metric, 'type');
  const field = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  const target = getMap(metric, field, 'target');
  const now = getMap(status ?? {}, field, 'current');
  const isResource = type === 'Resource' || type === 'ContainerResource';
  const prefix = isResource ? `${getString(metric, field, 'name')}: ` : '';
  if (target.averageValue !== undefined) {
    const suffix = isResource || type === 'Pods' ? '' : ' (avg)';
    return `${prefix}${valueOr('<unknown>', now.averageValue)}/${target.averageValue}${suffix}`;
  }
  if (!isResource) return `${valueOr('<unknown>', now.value)}/${target.value}`;
  const percent = (value: Json | undefined, otherwise: string) => (value === undefined ? otherwise : `${value}%`);
  return `${prefix}${percent(now.averageUtilization, '<unknown>')}/${percent(target.averageUtilization, '<auto>')}`;
}

const modeNames: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function accessModes(modes: readonly Json[]): string {
  return Object.keys(modeNames)
    .filter((mode) => modes.includes(mode))
    .map((mode) => modeNames[mode])
    .join(',');
}

const isBound = (object: ApiObject): boolean => getString(object, 'spec', 'volumeName') !== '';

/** The used and hard amounts of a quota, of limits or of all others. */
function amounts(object: ApiObject, ofLimits: boolean): string {
  const used = getMap(object, 'status', 'used');
  return Object.entries(getMap(object, 'status', 'hard'))
    .filter(([name]) => name.startsWith('limits.') === ofLimits)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${used[name] ?? '0'}/${hard}`)
    .join(', ');
}

function nodeStatus(object: ApiObject): string {
  const ready = getList(object, 'status', 'conditions').find((one) => getString(one, 'type') === 'Ready');
  const state = ready === undefined ? 'Unknown' : getString(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return getMap(object, 'spec').unschedulable === true ? `${state},SchedulingDisabled` : state;
}

function nodeRoles({ metadata }: ApiObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const labels = Object.entries(metadata.labels ?? {});
  const roles = labels.flatMap(([key, value]) =>
    key.startsWith(prefix) ? [key.slice(prefix.length)] : key === 'kubernetes.io/role' ? [value] : [],
  );
  return (
    roles
      .filter((role) => role !== '')
      .sort()
      .join(',') || '<none>'
  );
}

function nodeAddress(type: string): (object: ApiObject) => string {
  return (object) => {
    const found = getList(object, 'status', 'addresses').find((one) => getString(one, 'type') === type);
    return getString(found, 'address') || '<none>';
  };
}

function kernel(object: ApiObject): string {
  const { kernelVersion = '', architecture = '' } = getMap(object, 'status', 'nodeInfo');
  return `${kernelVersion || '<unknown>'}${architecture === '' ? '' : ` (${architecture})`}`;
}

/** The name of a class, with a mark at the default one. */
function className(annotation: string): Column {
  return {
    ...nameColumn,
    cell: ({ metadata }) => `${metadata.name}${metadata.annotations?.[annotation] === 'true' ? ' (default)' : ''}`,
  };
}

function lastSeen(event: ApiObject): Json {
  return getString(event, 'series', 'lastObservedTime') || getString(event, 'lastTimestamp') || firstSeen(event);
}

function involved(event: ApiObject): string {
  const { kind = '', name = '' } = getMap(event, 'involvedObject');
  return `${String(kind).toLowerCase()}/${name}`;
}

function lastSchedule(object: ApiObject): string {
  const last = getString(object, 'status', 'lastScheduleTime');
  return last === '' ? '<none>' : age(last, new Date());
}

function claimOf(object: ApiObject): string {
  const claim = getMap(object, 'spec').claimRef;
  return isObject(claim) ? `${getString(claim, 'namespace')}/${getString(claim, 'name')}` : '';
}

const binding: readonly Entry[] = [
  'Name',
  ['Role', (object) => `${getString(object, 'roleRef', 'kind')}/${getString(object, 'roleRef', 'name')}`],
  'Age',
  ['Users', subjects('User'), 'wide'],
  ['Groups', subjects('Group'), 'wide'],
  ['ServiceAccounts', subjects('ServiceAccount'), 'wide'],
];
const volumeClasses = [
  'StorageClass=spec.storageClassName',
  'VolumeAttributesClass=spec.volumeAttributesClassName|<unset>',
];

const entries: Readonly<Record<string, readonly Entry[]>> = {
  Namespace: ['Name', 'Status=status.phase', 'Age'],
  ConfigMap: ['Name', ['Data', size('data', 'binaryData')], 'Age'],
  Secret: ['Name', 'Type=type', ['Data', size('data'), 'integer'], 'Age'],
  Service: [
    ...['Name', 'Type=spec.type', 'Cluster-IP=spec.clusterIP|<none>'],
    ['External-IP', externalIps],
    ['Port(s)', ports],
    'Age',
    ['Selector', (object) => labelsText(getMap(object, 'spec', 'selector')) || '<none>', 'wide'],
  ],
  Pod: [
    'Name',
    ['Ready', podReady],
    ['Status', phase],
    ['Restarts', restarts],
    ...['Age', 'IP=status.podIP|<none>+', 'Node=spec.nodeName|<none>+'],
    ...['Nominated Node=none|<none>+', 'Readiness Gates=none|<none>+'],
  ],
  Deployment: [
    'Name',
    ['Ready', ready],
    ...['Up-to-date=status.updatedReplicas#', 'Available=status.availableReplicas#', 'Age'],
    ...ofTemplate,
  ],
  ReplicaSet: [
    ...['Name', 'Desired=spec.replicas#', 'Current=status.replicas#', 'Ready=status.readyReplicas#', 'Age'],
    ...ofTemplate,
  ],
  StatefulSet: ['Name', ['Ready', ready], 'Age', ...ofTemplate.slice(0, 2)],
  DaemonSet: [
    ...['Name', 'Desired=status.desiredNumberScheduled#', 'Current=status.currentNumberScheduled#'],
    ...['Ready=status.numberReady#', 'Up-to-date=status.updatedNumberScheduled#', 'Available=status.numberAvailable#'],
    [
      'Node Selector',
      (object) => {
        const matchLabels = getMap(object, 'spec', 'template', 'spec', 'nodeSelector');
        return selectorText({ matchLabels }) || '<none>';
      },
    ],
    'Age',
    ...ofTemplate,
  ],
  Event: [
    ['Last Seen', lastSeen, 'date'],
    ...['Type=type', 'Reason=reason'],
    ['Object', involved],
    'Subobject=involvedObject.fieldPath+',
    ['Source', (event) => getString(event, 'source', 'component') || getString(event, 'reportingComponent'), 'wide'],
    ['Message', (event) => getString(event, 'message').trim()],
    ['First Seen', firstSeen, 'date', 'wide'],
    ['Count', (event) => getNumber(event, 'series', 'count') ?? (getNumber(event, 'count') || 1), 'integer', 'wide'],
    { ...nameColumn, priority: 1 },
  ],
  CustomResourceDefinition: ['Name', 'Created At'],
  EndpointSlice: [
    ...['Name', 'AddressType=addressType'],
    ['Ports', listed('ports', (port) => [String(getNumber(port, 'port') ?? '*')])],
    ['Endpoints', listed('endpoints', (endpoint) => getList(endpoint, 'addresses'))],
    'Age',
  ],
  Lease: ['Name', 'Holder=spec.holderIdentity', 'Age'],
  Role: ['Name', 'Created At'],
  ClusterRole: ['Name', 'Created At'],
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  Job: ['Name', ['Status', jobStatus], ['Completions', completions], ['Duration', jobDuration], 'Age', ...ofTemplate],
  CronJob: [
    ...['Name', 'Schedule=spec.schedule', 'Timezone=spec.timeZone|<none>'],
    ['Suspend', (object) => (getMap(object, 'spec').suspend === true ? 'True' : 'False'), 'boolean'],
    ['Active', (object) => getList(object, 'status', 'active').length, 'integer'],
    ['Last Schedule', lastSchedule],
    'Age',
    ...workload('spec', 'jobTemplate', 'spec', 'template'),
  ],
  Ingress: [
    ...['Name', 'Class=spec.ingressClassName|<none>'],
    ['Hosts', hosts],
    ['Address', ingressAddress],
    ['Ports', (object) => (getList(object, 'spec', 'tls').length > 0 ? '80, 443' : '80')],
    'Age',
  ],
  IngressClass: [
    className('ingressclass.kubernetes.io/is-default-class'),
    'Controller=spec.controller',
    ['Parameters', parameters],
    'Age',
  ],
  NetworkPolicy: ['Name', ['Pod-Selector', selected('spec', 'podSelector')], 'Age'],
  HorizontalPodAutoscaler: [
    'Name',
    [
      'Reference',
      (object) => {
        const { kind, name } = getMap(object, 'spec', 'scaleTargetRef');
        return `${kind}/${name}`;
      },
    ],
    ['Targets', metrics],
    ['MinPods', valueIn('<unset>', 'spec', 'minReplicas')],
    ['MaxPods', (object) => getNumber(object, 'spec', 'maxReplicas') ?? 0],
    ['Replicas', (object) => getNumber(object, 'status', 'currentReplicas') ?? 0],
    'Age',
  ],
  PodDisruptionBudget: [
    'Name',
    ['Min Available', valueIn('N/A', 'spec', 'minAvailable')],
    ['Max Unavailable', valueIn('N/A', 'spec', 'maxUnavailable')],
    ...['Allowed Disruptions=status.disruptionsAllowed#', 'Age'],
  ],
  PersistentVolume: [
    ...['Name', 'Capacity=spec.capacity.storage|0'],
    ['Access Modes', (object) => accessModes(getList(object, 'spec', 'accessModes'))],
    'Reclaim Policy=spec.persistentVolumeReclaimPolicy',
    ['Status', phase],
    ['Claim', claimOf],
    ...volumeClasses,
    ...['Reason=status.reason', 'Age', 'VolumeMode=spec.volumeMode|<unset>+'],
  ],
  PersistentVolumeClaim: [
    'Name',
    ['Status', phase],
    'Volume=spec.volumeName',
    ['Capacity', (object) => (isBound(object) ? getString(object, 'status', 'capacity', 'storage') || '0' : '')],
    ['Access Modes', (object) => (isBound(object) ? accessModes(getList(object, 'status', 'accessModes')) : '')],
    ...volumeClasses,
    ...['Age', 'VolumeMode=spec.volumeMode|<unset>+'],
  ],
  StorageClass: [
    className('storageclass.kubernetes.io/is-default-class'),
    ...['Provisioner=provisioner', 'ReclaimPolicy=reclaimPolicy|Delete'],
    'VolumeBindingMode=volumeBindingMode|Immediate',
    ['AllowVolumeExpansion', isTrue('allowVolumeExpansion')],
    'Age',
  ],
  ResourceQuota: [
    'Name',
    ['Request', (object) => amounts(object, false)],
    ['Limit', (object) => amounts(object, true)],
    'Age',
  ],
  LimitRange: ['Name', 'Created At'],
  PriorityClass: [
    ...['Name', 'Value=value#'],
    ['Global-Default', isTrue('globalDefault'), 'boolean'],
    ...['Age', 'PreemptionPolicy=preemptionPolicy'],
  ],
  Node: [
    'Name',
    ['Status', nodeStatus],
    ['Roles', nodeRoles],
    ...['Age', 'Version=status.nodeInfo.kubeletVersion'],
    ['Internal-IP', nodeAddress('InternalIP'), 'wide'],
    ['External-IP', nodeAddress('ExternalIP'), 'wide'],
    'OS-Image=status.nodeInfo.osImage|<unknown>+',
    ['Kernel-Version', kernel, 'wide'],
    'Container-Runtime=status.nodeInfo.containerRuntimeVersion|<unknown>+',
  ],
};

/** The columns of built-in kinds. */
export const builtinColumns: Readonly<Record<string, readonly Column[]>> = Object.fromEntries(
  Object.entries(entries).map(([kind, columns]) => [kind, columns.map(columnOf)]),
);

/**
 * Returns an age in kubectl's format: `45s`, `3m20s`, `5h`, `12d`, `2y10d` (k8s.io/apimachinery,
 * duration.HumanDuration).
 */
export function age(since: Json, now: Date): string {
  if (typeof since !== 'string') return isList(since) ? '' : '<unknown>';
  const seconds = Math.floor((now.getTime() - Date.parse(since)) / 1000);
  if (Number.isNaN(seconds)) return '<unknown>';
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const two = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86400)];
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  if (days < 365 * 8) return two(Math.floor(days / 365), 'y', days % 365, 'd');
  return `${Math.floor(days / 365)}y`;
}
