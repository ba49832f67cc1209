// The columns of Tables, which kubectl prints, as kube-apiserver's printers have them (pkg/printers/internalversion,
// printers.go). Those of custom kinds are in their CRD.
import { getList, getMap, getNumber, getString, type Json } from '../json.ts';
import type { ApiObject } from '../object.ts';
import * as cells from './cells.ts';
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

/**
 * A column: its name and a field, `Type=spec.type`, with what is shown without it, `Class=spec.class|<none>`. After a
 * `#` it is an integer, 0 if it is absent. With a `+` at the end it is shown with `-o wide` alone. Or its name, a
 * function, and words: its type, and `wide`.
 */
type Entry = string | Column | readonly [string, cells.Cell, ...string[]];

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

/** Returns the columns of the containers of the template at a path, and of the selector beside it. */
function workload(...template: readonly string[]): readonly Entry[] {
  const containers = (field: string) => (object: ApiObject) =>
    getList(object, ...template, 'spec', 'containers')
      .map((container) => getString(container, field))
      .join(',');
  const selector: cells.Cell = (object) =>
    selectorText(getMap(object, ...template.slice(0, -1), 'selector')) || '<none>';
  return [
    ['Containers', containers('name'), 'wide'],
    ['Images', containers('image'), 'wide'],
    ['Selector', selector, 'wide'],
  ];
}

const ofTemplate = workload('spec', 'template');

/** The name of a class, with a mark at the default one. */
function className(annotation: string): Column {
  return {
    ...nameColumn,
    cell: ({ metadata }) => `${metadata.name}${metadata.annotations?.[annotation] === 'true' ? ' (default)' : ''}`,
  };
}

const binding: readonly Entry[] = [
  'Name',
  ['Role', (object) => `${getString(object, 'roleRef', 'kind')}/${getString(object, 'roleRef', 'name')}`],
  'Age',
  ['Users', cells.subjects('User'), 'wide'],
  ['Groups', cells.subjects('Group'), 'wide'],
  ['ServiceAccounts', cells.subjects('ServiceAccount'), 'wide'],
];
const volumeClasses = [
  'StorageClass=spec.storageClassName',
  'VolumeAttributesClass=spec.volumeAttributesClassName|<unset>',
];

const entries: Readonly<Record<string, readonly Entry[]>> = {
  Namespace: ['Name', 'Status=status.phase', 'Age'],
  ConfigMap: ['Name', ['Data', cells.size('data', 'binaryData')], 'Age'],
  Secret: ['Name', 'Type=type', ['Data', cells.size('data'), 'integer'], 'Age'],
  Service: [
    ...['Name', 'Type=spec.type', 'Cluster-IP=spec.clusterIP|<none>'],
    ['External-IP', cells.externalIps],
    ['Port(s)', cells.ports],
    'Age',
    ['Selector', (object) => labelsText(getMap(object, 'spec', 'selector')) || '<none>', 'wide'],
  ],
  Pod: [
    'Name',
    ['Ready', cells.podReady],
    ['Status', cells.phase],
    ['Restarts', cells.restarts],
    ...['Age', 'IP=status.podIP|<none>+', 'Node=spec.nodeName|<none>+'],
    ...['Nominated Node=none|<none>+', 'Readiness Gates=none|<none>+'],
  ],
  Deployment: [
    'Name',
    ['Ready', cells.ready],
    ...['Up-to-date=status.updatedReplicas#', 'Available=status.availableReplicas#', 'Age'],
    ...ofTemplate,
  ],
  ReplicaSet: [
    ...['Name', 'Desired=spec.replicas#', 'Current=status.replicas#', 'Ready=status.readyReplicas#', 'Age'],
    ...ofTemplate,
  ],
  StatefulSet: ['Name', ['Ready', cells.ready], 'Age', ...ofTemplate.slice(0, 2)],
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
    ['Last Seen', cells.lastSeen, 'date'],
    ...['Type=type', 'Reason=reason'],
    ['Object', cells.involved],
    'Subobject=involvedObject.fieldPath+',
    ['Source', (event) => getString(event, 'source', 'component') || getString(event, 'reportingComponent'), 'wide'],
    ['Message', (event) => getString(event, 'message').trim()],
    ['First Seen', cells.firstSeen, 'date', 'wide'],
    ['Count', (event) => getNumber(event, 'series', 'count') ?? (getNumber(event, 'count') || 1), 'integer', 'wide'],
    { ...nameColumn, priority: 1 },
  ],
  CustomResourceDefinition: ['Name', 'Created At'],
  EndpointSlice: [
    ...['Name', 'AddressType=addressType'],
    ['Ports', cells.listed('ports', (port) => [String(getNumber(port, 'port') ?? '*')])],
    ['Endpoints', cells.listed('endpoints', (endpoint) => getList(endpoint, 'addresses'))],
    'Age',
  ],
  Lease: ['Name', 'Holder=spec.holderIdentity', 'Age'],
  Role: ['Name', 'Created At'],
  ClusterRole: ['Name', 'Created At'],
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  Job: [
    'Name',
    ['Status', cells.jobStatus],
    ['Completions', cells.completions],
    ['Duration', cells.jobDuration],
    'Age',
    ...ofTemplate,
  ],
  CronJob: [
    ...['Name', 'Schedule=spec.schedule', 'Timezone=spec.timeZone|<none>'],
    ['Suspend', (object) => (getMap(object, 'spec').suspend === true ? 'True' : 'False'), 'boolean'],
    ['Active', (object) => getList(object, 'status', 'active').length, 'integer'],
    ['Last Schedule', cells.lastSchedule],
    'Age',
    ...workload('spec', 'jobTemplate', 'spec', 'template'),
  ],
  Ingress: [
    ...['Name', 'Class=spec.ingressClassName|<none>'],
    ['Hosts', cells.hosts],
    ['Address', cells.ingressAddress],
    ['Ports', (object) => (getList(object, 'spec', 'tls').length > 0 ? '80, 443' : '80')],
    'Age',
  ],
  IngressClass: [
    className('ingressclass.kubernetes.io/is-default-class'),
    'Controller=spec.controller',
    ['Parameters', cells.parameters],
    'Age',
  ],
  NetworkPolicy: ['Name', ['Pod-Selector', cells.selected('spec', 'podSelector')], 'Age'],
  HorizontalPodAutoscaler: [
    'Name',
    [
      'Reference',
      (object) => {
        const { kind, name } = getMap(object, 'spec', 'scaleTargetRef');
        return `${kind}/${name}`;
      },
    ],
    ['Targets', cells.metrics],
    ['MinPods', cells.valueIn('<unset>', 'spec', 'minReplicas')],
    ['MaxPods', (object) => getNumber(object, 'spec', 'maxReplicas') ?? 0],
    ['Replicas', (object) => getNumber(object, 'status', 'currentReplicas') ?? 0],
    'Age',
  ],
  PodDisruptionBudget: [
    'Name',
    ['Min Available', cells.valueIn('N/A', 'spec', 'minAvailable')],
    ['Max Unavailable', cells.valueIn('N/A', 'spec', 'maxUnavailable')],
    ...['Allowed Disruptions=status.disruptionsAllowed#', 'Age'],
  ],
  PersistentVolume: [
    ...['Name', 'Capacity=spec.capacity.storage|0'],
    ['Access Modes', (object) => cells.accessModes(getList(object, 'spec', 'accessModes'))],
    'Reclaim Policy=spec.persistentVolumeReclaimPolicy',
    ['Status', cells.phase],
    ['Claim', cells.claimOf],
    ...volumeClasses,
    ...['Reason=status.reason', 'Age', 'VolumeMode=spec.volumeMode|<unset>+'],
  ],
  PersistentVolumeClaim: [
    'Name',
    ['Status', cells.phase],
    'Volume=spec.volumeName',
    ['Capacity', (object) => (cells.isBound(object) ? getString(object, 'status', 'capacity', 'storage') || '0' : '')],
    [
      'Access Modes',
      (object) => (cells.isBound(object) ? cells.accessModes(getList(object, 'status', 'accessModes')) : ''),
    ],
    ...volumeClasses,
    ...['Age', 'VolumeMode=spec.volumeMode|<unset>+'],
  ],
  StorageClass: [
    className('storageclass.kubernetes.io/is-default-class'),
    ...['Provisioner=provisioner', 'ReclaimPolicy=reclaimPolicy|Delete'],
    'VolumeBindingMode=volumeBindingMode|Immediate',
    ['AllowVolumeExpansion', cells.isTrue('allowVolumeExpansion')],
    'Age',
  ],
  ResourceQuota: [
    'Name',
    ['Request', (object) => cells.amounts(object, false)],
    ['Limit', (object) => cells.amounts(object, true)],
    'Age',
  ],
  LimitRange: ['Name', 'Created At'],
  PriorityClass: [
    ...['Name', 'Value=value#'],
    ['Global-Default', cells.isTrue('globalDefault'), 'boolean'],
    ...['Age', 'PreemptionPolicy=preemptionPolicy'],
  ],
  Node: [
    'Name',
    ['Status', cells.nodeStatus],
    ['Roles', cells.nodeRoles],
    ...['Age', 'Version=status.nodeInfo.kubeletVersion'],
    ['Internal-IP', cells.nodeAddress('InternalIP'), 'wide'],
    ['External-IP', cells.nodeAddress('ExternalIP'), 'wide'],
    'OS-Image=status.nodeInfo.osImage|<unknown>+',
    ['Kernel-Version', cells.kernel, 'wide'],
    'Container-Runtime=status.nodeInfo.containerRuntimeVersion|<unknown>+',
  ],
};

/** The columns of built-in kinds. */
export const builtinColumns: Readonly<Record<string, readonly Column[]>> = Object.fromEntries(
  Object.entries(entries).map(([kind, columns]) => [kind, columns.map(columnOf)]),
);
