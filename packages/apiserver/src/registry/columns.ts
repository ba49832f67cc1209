// The columns of Tables, which kubectl prints. Every kind has a name and an age. Further columns of built-in kinds are
// here, those of custom kinds in their CRD.
import { getList, getMap, getNumber, getString, isList, isObject, type Json } from '../json.ts';
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

/** The column with the age of an object. */
export const ageColumn: Column = column('Age', ({ metadata }) => metadata.creationTimestamp ?? null, { type: 'date' });

/** The columns of a kind without columns of its own. */
export const plainColumns: readonly Column[] = [nameColumn, ageColumn];

/** Returns a column. */
export function column(
  name: string,
  cell: (object: ApiObject) => Json,
  { type = 'string', priority = 0 }: { readonly type?: string; readonly priority?: number } = {},
): Column {
  return { name, type, priority, cell };
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

/** Options of a column: its values are integers, or it is shown with `-o wide` alone. */
export const integer = { type: 'integer' };
export const wide = { priority: 1 };

const ready = (field: string) => (object: ApiObject) =>
  `${getNumber(object, 'status', field) ?? 0}/${getNumber(object, 'spec', 'replicas') ?? 0}`;

/** Returns the columns of the containers of the template at a path, and of the selector beside it. */
export function workload(...template: readonly string[]): readonly Column[] {
  const containers = (object: ApiObject, field: 'name' | 'image'): string =>
    getList(object, ...template, 'spec', 'containers')
      .map((container) => getString(container, field))
      .join(',');
  const selector = (object: ApiObject): string => selectorText(getMap(object, ...template.slice(0, -1), 'selector'));
  return [
    column('Containers', (object) => containers(object, 'name'), wide),
    column('Images', (object) => containers(object, 'image'), wide),
    column('Selector', (object) => selector(object) || '<none>', wide),
  ];
}

const ofTemplate = workload('spec', 'template');

/** The columns of built-in kinds. */
export const builtinColumns: Readonly<Record<string, readonly Column[]>> = {
  Namespace: [nameColumn, column('Status', (object) => getString(object, 'status', 'phase')), ageColumn],
  ConfigMap: [
    nameColumn,
    column(
      'Data',
      (object) => Object.keys(getMap(object, 'data')).length + Object.keys(getMap(object, 'binaryData')).length,
    ),
    ageColumn,
  ],
  Secret: [
    nameColumn,
    column('Type', (object) => getString(object, 'type')),
    column('Data', (object) => Object.keys(getMap(object, 'data')).length, integer),
    ageColumn,
  ],
  Service: [
    nameColumn,
    column('Type', (object) => getString(object, 'spec', 'type')),
    column('Cluster-IP', (object) => getString(object, 'spec', 'clusterIP') || '<none>'),
    column('External-IP', (object) => externalIps(object)),
    column('Port(s)', (object) => ports(object)),
    ageColumn,
    column('Selector', (object) => labelsText(getMap(object, 'spec', 'selector')) || '<none>', wide),
  ],
  Pod: [
    nameColumn,
    column('Ready', (object) => {
      const statuses = getList(object, 'status', 'containerStatuses');
      const up = statuses.filter((status) => isObject(status) && status.ready === true).length;
      const sidecars = getList(object, 'spec', 'initContainers').filter(
        (one) => getString(one, 'restartPolicy') === 'Always',
      );
      return `${up}/${getList(object, 'spec', 'containers').length + sidecars.length}`;
    }),
    column('Status', (object) =>
      object.metadata.deletionTimestamp === undefined ? getString(object, 'status', 'phase') : 'Terminating',
    ),
    column('Restarts', (object) =>
      String(
        getList(object, 'status', 'containerStatuses').reduce<number>(
          (sum, status) => sum + (getNumber(status, 'restartCount') ?? 0),
          0,
        ),
      ),
    ),
    ageColumn,
    column('IP', (object) => getString(object, 'status', 'podIP') || '<none>', wide),
    column('Node', (object) => getString(object, 'spec', 'nodeName') || '<none>', wide),
    column('Nominated Node', () => '<none>', wide),
    column('Readiness Gates', () => '<none>', wide),
  ],
  Deployment: [
    nameColumn,
    column('Ready', ready('readyReplicas')),
    column('Up-to-date', (object) => getNumber(object, 'status', 'updatedReplicas') ?? 0, integer),
    column('Available', (object) => getNumber(object, 'status', 'availableReplicas') ?? 0, integer),
    ageColumn,
    ...ofTemplate,
  ],
  ReplicaSet: [
    nameColumn,
    column('Desired', (object) => getNumber(object, 'spec', 'replicas') ?? 0, integer),
    column('Current', (object) => getNumber(object, 'status', 'replicas') ?? 0, integer),
    column('Ready', (object) => getNumber(object, 'status', 'readyReplicas') ?? 0, integer),
    ageColumn,
    ...ofTemplate,
  ],
  StatefulSet: [nameColumn, column('Ready', ready('readyReplicas')), ageColumn, ...ofTemplate.slice(0, 2)],
  Event: [
    column(
      'Last Seen',
      (object) =>
        getString(object, 'series', 'lastObservedTime') || getString(object, 'lastTimestamp') || firstSeen(object),
      { type: 'date' },
    ),
    column('Type', (object) => getString(object, 'type')),
    column('Reason', (object) => getString(object, 'reason')),
    column(
      'Object',
      (object) =>
        `${getString(object, 'involvedObject', 'kind').toLowerCase()}/${getString(object, 'involvedObject', 'name')}`,
    ),
    column('Subobject', (object) => getString(object, 'involvedObject', 'fieldPath'), wide),
    column(
      'Source',
      (object) => getString(object, 'source', 'component') || getString(object, 'reportingComponent'),
      wide,
    ),
    column('Message', (object) => getString(object, 'message').trim()),
    column('First Seen', firstSeen, {
      type: 'date',
      priority: 1,
    }),
    column('Count', (object) => getNumber(object, 'series', 'count') ?? (getNumber(object, 'count') || 1), {
      type: 'integer',
      priority: 1,
    }),
    { ...nameColumn, priority: 1 },
  ],
  CustomResourceDefinition: [nameColumn, column('Created At', ({ metadata }) => metadata.creationTimestamp ?? null)],
  EndpointSlice: [
    nameColumn,
    column('AddressType', (object) => getString(object, 'addressType')),
    column(
      'Ports',
      (object) =>
        getList(object, 'ports')
          .map((port) => String(getNumber(port, 'port') ?? '*'))
          .join(',') || '<unset>',
    ),
    column(
      'Endpoints',
      (object) =>
        getList(object, 'endpoints')
          .flatMap((endpoint) => getList(endpoint, 'addresses'))
          .join(',') || '<unset>',
    ),
    ageColumn,
  ],
  Lease: [nameColumn, column('Holder', (object) => getString(object, 'spec', 'holderIdentity')), ageColumn],
  Role: [nameColumn, column('Created At', ({ metadata }) => metadata.creationTimestamp ?? null)],
  ClusterRole: [nameColumn, column('Created At', ({ metadata }) => metadata.creationTimestamp ?? null)],
  RoleBinding: bindingColumns(),
  ClusterRoleBinding: bindingColumns(),
};

function externalIps(object: ApiObject): string {
  const type = getString(object, 'spec', 'type');
  if (type === 'ExternalName') return getString(object, 'spec', 'externalName');
  const addresses = getList(object, 'status', 'loadBalancer', 'ingress').map(
    (ingress) => getString(ingress, 'ip') || getString(ingress, 'hostname'),
  );
  const all = [...new Set(addresses.toSorted()), ...getList(object, 'spec', 'externalIPs')];
  return all.join(',') || (type === 'LoadBalancer' ? '<pending>' : '<none>');
}

function bindingColumns(): readonly Column[] {
  const subjects = (object: ApiObject, kind: string, shown: (subject: Json) => string): string =>
    getList(object, 'subjects')
      .filter((subject) => getString(subject, 'kind') === kind)
      .map(shown)
      .join(', ');
  const name = (subject: Json): string => getString(subject, 'name');
  const qualifiedName = (subject: Json): string => `${getString(subject, 'namespace')}/${name(subject)}`;
  return [
    nameColumn,
    column('Role', (object) => `${getString(object, 'roleRef', 'kind')}/${getString(object, 'roleRef', 'name')}`),
    ageColumn,
    column('Users', (object) => subjects(object, 'User', name), wide),
    column('Groups', (object) => subjects(object, 'Group', name), wide),
    column('ServiceAccounts', (object) => subjects(object, 'ServiceAccount', qualifiedName), wide),
  ];
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
