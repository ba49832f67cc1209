// Columns of Tables: how kubectl prints. Every kind has a name and an age; kinds with more say so here or in their CRD.
import { isList, isObject, type Json, listAt, numberAt, objectAt, textAt } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { jsonPath } from './json-path.ts';
import type { Column } from './resource.ts';

/** The name of an object. */
export const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name must be unique within a namespace.',
  cell: ({ metadata }) => metadata.name ?? '',
};

/** How long an object has existed. */
export const AGE: Column = column('Age', ({ metadata }) => metadata.creationTimestamp ?? null, { type: 'date' });

/** The columns of a kind that says nothing. */
export const PLAIN: readonly Column[] = [NAME, AGE];

/** Makes a column of text. */
function column(
  name: string,
  cell: (object: ApiObject) => Json,
  { type = 'string', priority = 0 }: { readonly type?: string; readonly priority?: number } = {},
): Column {
  return { name, type, priority, cell };
}

/** Makes a column of what a JSONPath finds, as a CRD declares it. */
export function pathColumn(declared: Json): Column {
  const type = textAt(declared, 'type');
  const find = jsonPath(textAt(declared, 'jsonPath'));
  const description = textAt(declared, 'description');
  return {
    name: textAt(declared, 'name'),
    type,
    format: textAt(declared, 'format'),
    description:
      description === ''
        ? `Custom resource definition column (in JSONPath format): ${textAt(declared, 'jsonPath')}`
        : description,
    priority: numberAt(declared, 'priority') ?? 0,
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

const integer = { type: 'integer' };
const wide = { priority: 1 };

const ready = (field: string) => (object: ApiObject) =>
  `${numberAt(object, 'status', field) ?? 0}/${numberAt(object, 'spec', 'replicas') ?? 0}`;

function containers(object: ApiObject, field: 'name' | 'image'): string {
  return listAt(object, 'spec', 'template', 'spec', 'containers')
    .map((container) => textAt(container, field))
    .join(',');
}

function selector(value: Json | undefined): string {
  const labels = isObject(value) && isObject(value.matchLabels) ? value.matchLabels : isObject(value) ? value : {};
  const said = Object.entries(labels).map(([label, wanted]) => `${label}=${String(wanted)}`);
  return said.length === 0 ? '<none>' : said.join(',');
}

const workload = [
  column('Containers', (object) => containers(object, 'name'), wide),
  column('Images', (object) => containers(object, 'image'), wide),
  column('Selector', (object) => selector(objectAt(object, 'spec').selector), wide),
];

/** Columns of built-in kinds. */
export const builtinColumns: Readonly<Record<string, readonly Column[]>> = {
  Namespace: [NAME, column('Status', (object) => textAt(object, 'status', 'phase')), AGE],
  ConfigMap: [
    NAME,
    column(
      'Data',
      (object) => Object.keys(objectAt(object, 'data')).length + Object.keys(objectAt(object, 'binaryData')).length,
    ),
    AGE,
  ],
  Secret: [
    NAME,
    column('Type', (object) => textAt(object, 'type')),
    column('Data', (object) => Object.keys(objectAt(object, 'data')).length, integer),
    AGE,
  ],
  Service: [
    NAME,
    column('Type', (object) => textAt(object, 'spec', 'type')),
    column('Cluster-IP', (object) => textAt(object, 'spec', 'clusterIP') || '<none>'),
    column('External-IP', (object) => textAt(object, 'spec', 'externalName') || '<none>'),
    column('Port(s)', (object) => ports(object)),
    AGE,
    column('Selector', (object) => selector(objectAt(object, 'spec').selector), wide),
  ],
  Pod: [
    NAME,
    column('Ready', (object) => {
      const statuses = listAt(object, 'status', 'containerStatuses');
      const up = statuses.filter((status) => isObject(status) && status.ready === true).length;
      return `${up}/${listAt(object, 'spec', 'containers').length}`;
    }),
    column('Status', (object) =>
      object.metadata.deletionTimestamp === undefined ? textAt(object, 'status', 'phase') : 'Terminating',
    ),
    column('Restarts', (object) =>
      String(
        listAt(object, 'status', 'containerStatuses').reduce<number>(
          (sum, status) => sum + (numberAt(status, 'restartCount') ?? 0),
          0,
        ),
      ),
    ),
    AGE,
    column('IP', (object) => textAt(object, 'status', 'podIP') || '<none>', wide),
    column('Node', (object) => textAt(object, 'spec', 'nodeName') || '<none>', wide),
    column('Nominated Node', () => '<none>', wide),
    column('Readiness Gates', () => '<none>', wide),
  ],
  Deployment: [
    NAME,
    column('Ready', ready('readyReplicas')),
    column('Up-to-date', (object) => numberAt(object, 'status', 'updatedReplicas') ?? 0, integer),
    column('Available', (object) => numberAt(object, 'status', 'availableReplicas') ?? 0, integer),
    AGE,
    ...workload,
  ],
  ReplicaSet: [
    NAME,
    column('Desired', (object) => numberAt(object, 'spec', 'replicas') ?? 0, integer),
    column('Current', (object) => numberAt(object, 'status', 'replicas') ?? 0, integer),
    column('Ready', (object) => numberAt(object, 'status', 'readyReplicas') ?? 0, integer),
    AGE,
    ...workload,
  ],
  StatefulSet: [NAME, column('Ready', ready('readyReplicas')), AGE, ...workload.slice(0, 2)],
  Event: [
    column(
      'Last Seen',
      (object) =>
        textAt(object, 'lastTimestamp') || textAt(object, 'eventTime') || (object.metadata.creationTimestamp ?? null),
      { type: 'date' },
    ),
    column('Type', (object) => textAt(object, 'type')),
    column('Reason', (object) => textAt(object, 'reason')),
    column(
      'Object',
      (object) =>
        `${textAt(object, 'involvedObject', 'kind').toLowerCase()}/${textAt(object, 'involvedObject', 'name')}`,
    ),
    column('Subobject', (object) => textAt(object, 'involvedObject', 'fieldPath'), wide),
    column('Source', (object) => textAt(object, 'source', 'component') || textAt(object, 'reportingComponent'), wide),
    column('Message', (object) => textAt(object, 'message').trim()),
    column('First Seen', (object) => textAt(object, 'firstTimestamp') || (object.metadata.creationTimestamp ?? null), {
      type: 'date',
      priority: 1,
    }),
    column('Count', (object) => numberAt(object, 'count') ?? 1, { type: 'integer', priority: 1 }),
    { ...NAME, priority: 1 },
  ],
  CustomResourceDefinition: [NAME, column('Created At', ({ metadata }) => metadata.creationTimestamp ?? null)],
  EndpointSlice: [
    NAME,
    column('AddressType', (object) => textAt(object, 'addressType')),
    column(
      'Ports',
      (object) =>
        listAt(object, 'ports')
          .map((port) => String(numberAt(port, 'port') ?? '*'))
          .join(',') || '<unset>',
    ),
    column(
      'Endpoints',
      (object) =>
        listAt(object, 'endpoints')
          .flatMap((endpoint) => listAt(endpoint, 'addresses'))
          .join(',') || '<unset>',
    ),
    AGE,
  ],
  Lease: [NAME, column('Holder', (object) => textAt(object, 'spec', 'holderIdentity')), AGE],
  Role: [NAME, column('Created At', ({ metadata }) => metadata.creationTimestamp ?? null)],
  ClusterRole: [NAME, column('Created At', ({ metadata }) => metadata.creationTimestamp ?? null)],
  RoleBinding: [NAME, column('Role', (object) => roleRef(object)), AGE],
  ClusterRoleBinding: [NAME, column('Role', (object) => roleRef(object)), AGE],
};

function ports(object: ApiObject): string {
  const said = listAt(object, 'spec', 'ports').map(
    (port) => `${numberAt(port, 'port') ?? 0}/${textAt(port, 'protocol')}`,
  );
  return said.length === 0 ? '<none>' : said.join(',');
}

function roleRef(object: ApiObject): string {
  return `${textAt(object, 'roleRef', 'kind')}/${textAt(object, 'roleRef', 'name')}`;
}

/** Returns an age as kubectl writes it: `45s`, `3m20s`, `5h`, `12d`, `2y10d` (k8s.io/apimachinery, duration.HumanDuration). */
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
