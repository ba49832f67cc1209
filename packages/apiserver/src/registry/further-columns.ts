// The columns of the kinds from batch, networking, scaling, quotas, storage and nodes, as kube-apiserver's printers
// have them (pkg/printers/internalversion, printers.go).
import { getList, getMap, getNumber, getString, isObject, type Json } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { age, ageColumn, column, integer, nameColumn, wide, workload } from './columns.ts';
import type { Column } from './resource.ts';
import { selectorText } from './selector-text.ts';

/** The hosts and metrics that a cell lists. */
const mostHosts = 3;
const mostMetrics = 2;

const boolean = { type: 'boolean' };

function text(name: string, ...path: readonly string[]): Column {
  return column(name, (object) => getString(object, ...path));
}

/** A column with a text, or another one without it. */
function textOr(otherwise: string, name: string, ...path: readonly string[]): Column {
  return column(name, (object) => getString(object, ...path) || otherwise);
}

function count(name: string, ...path: readonly string[]): Column {
  return column(name, (object) => getNumber(object, ...path) ?? 0, integer);
}

/** A field as text, or N/A. */
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

const phase = column('Status', (object) =>
  object.metadata.deletionTimestamp === undefined ? getString(object, 'status', 'phase') : 'Terminating',
);
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

/** The columns of these kinds. */
export const furtherColumns: Readonly<Record<string, readonly Column[]>> = {
  DaemonSet: [
    nameColumn,
    count('Desired', 'status', 'desiredNumberScheduled'),
    count('Current', 'status', 'currentNumberScheduled'),
    count('Ready', 'status', 'numberReady'),
    count('Up-to-date', 'status', 'updatedNumberScheduled'),
    count('Available', 'status', 'numberAvailable'),
    column('Node Selector', (object) => {
      const labels = getMap(object, 'spec', 'template', 'spec', 'nodeSelector');
      return selectorText({ matchLabels: labels }) || '<none>';
    }),
    ageColumn,
    ...workload('spec', 'template'),
  ],
  Job: [
    nameColumn,
    column('Status', jobStatus),
    column('Completions', completions),
    column('Duration', jobDuration),
    ageColumn,
    ...workload('spec', 'template'),
  ],
  CronJob: [
    nameColumn,
    text('Schedule', 'spec', 'schedule'),
    textOr('<none>', 'Timezone', 'spec', 'timeZone'),
    column(
      'Suspend',
      (object) => valueOr('<unset>', getMap(object, 'spec').suspend === true ? 'True' : 'False'),
      boolean,
    ),
    column('Active', (object) => getList(object, 'status', 'active').length, integer),
    column('Last Schedule', (object) => {
      const last = getString(object, 'status', 'lastScheduleTime');
      return last === '' ? '<none>' : age(last, new Date());
    }),
    ageColumn,
    ...workload('spec', 'jobTemplate', 'spec', 'template'),
  ],
  Ingress: [
    nameColumn,
    textOr('<none>', 'Class', 'spec', 'ingressClassName'),
    column('Hosts', hosts),
    column('Address', ingressAddress),
    column('Ports', (object) => (getList(object, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
    ageColumn,
  ],
  IngressClass: [
    className('ingressclass.kubernetes.io/is-default-class'),
    text('Controller', 'spec', 'controller'),
    column('Parameters', parameters),
    ageColumn,
  ],
  NetworkPolicy: [
    nameColumn,
    column('Pod-Selector', (object) => selectorText(getMap(object, 'spec', 'podSelector')) || '<none>'),
    ageColumn,
  ],
  HorizontalPodAutoscaler: [
    nameColumn,
    column('Reference', (object) => {
      const { kind, name } = getMap(object, 'spec', 'scaleTargetRef');
      return `${kind}/${name}`;
    }),
    column('Targets', metrics),
    column('MinPods', (object) => valueOr('<unset>', getMap(object, 'spec').minReplicas)),
    column('MaxPods', (object) => getNumber(object, 'spec', 'maxReplicas') ?? 0),
    column('Replicas', (object) => getNumber(object, 'status', 'currentReplicas') ?? 0),
    ageColumn,
  ],
  PodDisruptionBudget: [
    nameColumn,
    column('Min Available', (object) => valueOr('N/A', getMap(object, 'spec').minAvailable)),
    column('Max Unavailable', (object) => valueOr('N/A', getMap(object, 'spec').maxUnavailable)),
    count('Allowed Disruptions', 'status', 'disruptionsAllowed'),
    ageColumn,
  ],
  PersistentVolume: [
    nameColumn,
    textOr('0', 'Capacity', 'spec', 'capacity', 'storage'),
    column('Access Modes', (object) => accessModes(getList(object, 'spec', 'accessModes'))),
    text('Reclaim Policy', 'spec', 'persistentVolumeReclaimPolicy'),
    phase,
    column('Claim', (object) => {
      const claim = getMap(object, 'spec').claimRef;
      return isObject(claim) ? `${getString(claim, 'namespace')}/${getString(claim, 'name')}` : '';
    }),
    text('StorageClass', 'spec', 'storageClassName'),
    textOr('<unset>', 'VolumeAttributesClass', 'spec', 'volumeAttributesClassName'),
    text('Reason', 'status', 'reason'),
    ageColumn,
    column('VolumeMode', (object) => getString(object, 'spec', 'volumeMode') || '<unset>', wide),
  ],
  PersistentVolumeClaim: [
    nameColumn,
    phase,
    text('Volume', 'spec', 'volumeName'),
    column('Capacity', (object) => (isBound(object) ? getString(object, 'status', 'capacity', 'storage') || '0' : '')),
    column('Access Modes', (object) => (isBound(object) ? accessModes(getList(object, 'status', 'accessModes')) : '')),
    text('StorageClass', 'spec', 'storageClassName'),
    textOr('<unset>', 'VolumeAttributesClass', 'spec', 'volumeAttributesClassName'),
    ageColumn,
    column('VolumeMode', (object) => getString(object, 'spec', 'volumeMode') || '<unset>', wide),
  ],
  StorageClass: [
    className('storageclass.kubernetes.io/is-default-class'),
    text('Provisioner', 'provisioner'),
    textOr('Delete', 'ReclaimPolicy', 'reclaimPolicy'),
    textOr('Immediate', 'VolumeBindingMode', 'volumeBindingMode'),
    column('AllowVolumeExpansion', (object) => object.allowVolumeExpansion === true),
    ageColumn,
  ],
  ResourceQuota: [
    nameColumn,
    column('Request', (object) => amounts(object, false)),
    column('Limit', (object) => amounts(object, true)),
    ageColumn,
  ],
  LimitRange: [nameColumn, column('Created At', ({ metadata }) => metadata.creationTimestamp ?? null)],
  PriorityClass: [
    nameColumn,
    column('Value', (object) => getNumber(object, 'value') ?? 0, integer),
    column('Global-Default', (object) => object.globalDefault === true, boolean),
    ageColumn,
    text('PreemptionPolicy', 'preemptionPolicy'),
  ],
  Node: [
    nameColumn,
    column('Status', nodeStatus),
    column('Roles', nodeRoles),
    ageColumn,
    text('Version', 'status', 'nodeInfo', 'kubeletVersion'),
    column('Internal-IP', nodeAddress('InternalIP'), wide),
    column('External-IP', nodeAddress('ExternalIP'), wide),
    column('OS-Image', (object) => getString(object, 'status', 'nodeInfo', 'osImage') || '<unknown>', wide),
    column('Kernel-Version', kernel, wide),
    column(
      'Container-Runtime',
      (object) => getString(object, 'status', 'nodeInfo', 'containerRuntimeVersion') || '<unknown>',
      wide,
    ),
  ],
};
