// The cells of Tables: the JSONPaths of printer columns, and ages. Tables as a whole are tested in test/conformance.
import { expect, it } from 'vitest';
import type { Json } from '../../src/json.ts';
import { age } from '../../src/registry/cells.ts';
import { builtinColumns } from '../../src/registry/columns.ts';
import { jsonPath } from '../../src/registry/json-path.ts';

const object: Json = {
  spec: { size: 3, names: ['a', 'b'], 'a.b': 1 },
  metadata: { annotations: { 'example.org/x': 'y' } },
  status: {
    conditions: [
      { type: 'Other', status: 'False' },
      { type: 'Ready', status: 'True', reason: 'R' },
    ],
  },
};

it.each<[string, Json[]]>([
  ['.spec.size', [3]],
  ['{.spec.size}', [3]],
  ['$.spec.size', [3]],
  ['.spec.names[0]', ['a']],
  ['.spec.names[-1]', ['b']],
  ['.spec.names[*]', ['a', 'b']],
  ["['spec']['a.b']", [1]],
  ['.spec.a\\.b', [1]],
  ['.metadata.annotations.example\\.org/x', ['y']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='Ready')].reason", ['R']],
  ['.status.conditions[?(@.type!="Ready")].status', ['False']],
  ['.status.conditions[?(@.type=="No")].status', []],
  ['.spec.nope.deeper', []],
  ['.spec..size', []],
])('the JSONPath %s finds %j', (path, found) => {
  expect(jsonPath(path)(object)).toEqual(found);
});

// k8s.io/apimachinery, pkg/util/duration/duration_test.go
it.each([
  [0, '0s'],
  [1, '1s'],
  [70, '70s'],
  [119, '119s'],
  [120, '2m'],
  [190, '3m10s'],
  [600, '10m'],
  [2820, '47m'],
  [3600, '60m'],
  [3 * 3600, '3h'],
  [3 * 3600 + 60, '3h1m'],
  [8 * 3600 + 60, '8h'],
  [47 * 3600, '47h'],
  [48 * 3600, '2d'],
  [2 * 86_400 + 3600, '2d1h'],
  [8 * 86_400 + 3600, '8d'],
  [367 * 86_400, '367d'],
  [2 * 365 * 86_400, '2y'],
  [3 * 365 * 86_400 + 86_400, '3y1d'],
  [8 * 365 * 86_400 + 86_400, '8y'],
])('an age of %d seconds is printed as %s', (seconds, printed) => {
  const since = new Date('2026-01-01T00:00:00Z');
  expect(age(since.toISOString(), new Date(since.getTime() + seconds * 1000))).toBe(printed);
});

it.each([[undefined], ['x'], [null]])('the age of an object created at %j is unknown', (since) => {
  expect(age(since ?? null, new Date())).toBe('<unknown>');
});

const workload = {
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web', tier: 'front' } },
    template: {
      spec: {
        containers: [
          { name: 'web', image: 'nginx:1' },
          { name: 'log', image: 'fluent:2' },
        ],
      },
    },
  },
  status: { replicas: 2, readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
};
const containers = ['web,log', 'nginx:1,fluent:2', 'app=web,tier=front'];
const event = {
  type: 'Normal',
  reason: 'Synced',
  message: 'all is well\n',
  count: 4,
  lastTimestamp: '2026-01-02T00:00:00Z',
  firstTimestamp: '2026-01-01T00:00:00Z',
  source: { component: 'foo' },
  involvedObject: { kind: 'Foo', name: 'one', fieldPath: 'spec.x' },
};
const role = { roleRef: { kind: 'ClusterRole', name: 'view' } };
const created = '2026-01-01T00:00:00Z';

// The cells of kube-apiserver's printers, without those of subjects and of load balancers; `created` is the time of creation.
it.each<[kind: string, what: string, object: object, cells: readonly Json[]]>([
  ['Namespace', 'that is active', { status: { phase: 'Active' } }, ['one', 'Active', created]],
  ['ConfigMap', 'with text and bytes', { data: { a: '', b: '' }, binaryData: { c: '' } }, ['one', 3, created]],
  ['Secret', 'with one key', { type: 'Opaque', data: { a: '' } }, ['one', 'Opaque', 1, created]],
  [
    'Service',
    'with two ports',
    {
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.0.0.7',
        selector: { app: 'web' },
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 53, nodePort: 30053, protocol: 'UDP' },
        ],
      },
    },
    ['one', 'ClusterIP', '10.0.0.7', '<none>', '80/TCP,53:30053/UDP', created, 'app=web'],
  ],
  [
    'Service',
    'of an external name',
    { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
    ['one', 'ExternalName', '<none>', 'db.example.com', '<none>', created, '<none>'],
  ],
  [
    'Pod',
    'of which one container is ready',
    {
      spec: { containers: [{}, {}], nodeName: 'node-1' },
      status: {
        phase: 'Running',
        podIP: '10.1.0.4',
        containerStatuses: [
          { ready: true, restartCount: 2 },
          { ready: false, restartCount: 1 },
        ],
      },
    },
    ['one', '1/2', 'Running', '3', created, '10.1.0.4', 'node-1', '<none>', '<none>'],
  ],
  [
    'Pod',
    'that is being deleted',
    { metadata: { deletionTimestamp: created }, spec: { containers: [{}] }, status: { phase: 'Running' } },
    ['one', '0/1', 'Terminating', '0', created, '<none>', '<none>', '<none>', '<none>'],
  ],
  ['Deployment', 'that rolls out', workload, ['one', '1/3', 2, 1, created, ...containers]],
  ['ReplicaSet', 'that rolls out', workload, ['one', 3, 2, 1, created, ...containers]],
  ['StatefulSet', 'that rolls out', workload, ['one', '1/3', created, ...containers.slice(0, 2)]],
  ['StatefulSet', 'without a status', {}, ['one', '0/0', created, '', '']],
  [
    'Event',
    'that occurred several times',
    event,
    [
      ...[event.lastTimestamp, 'Normal', 'Synced', 'foo/one', 'spec.x', 'foo', 'all is well'],
      ...[event.firstTimestamp, 4, 'one'],
    ],
  ],
  [
    'Event',
    'of events.k8s.io',
    { eventTime: '2026-01-03T00:00:00Z', reportingComponent: 'bar', involvedObject: { kind: 'Foo', name: 'one' } },
    ['2026-01-03T00:00:00Z', '', '', 'foo/one', '', 'bar', '', '2026-01-03T00:00:00Z', 1, 'one'],
  ],
  [
    'Event',
    'of a series',
    { ...event, series: { count: 9, lastObservedTime: '2026-01-04T00:00:00Z' } },
    [
      ...['2026-01-04T00:00:00Z', 'Normal', 'Synced', 'foo/one', 'spec.x', 'foo', 'all is well'],
      ...[event.firstTimestamp, 9, 'one'],
    ],
  ],
  [
    'EndpointSlice',
    'with two endpoints',
    { addressType: 'IPv4', ports: [{ port: 80 }, {}], endpoints: [{ addresses: ['a'] }, { addresses: ['b', 'c'] }] },
    ['one', 'IPv4', '80,*', 'a,b,c', created],
  ],
  ['EndpointSlice', 'that is empty', { addressType: 'IPv6' }, ['one', 'IPv6', '<unset>', '<unset>', created]],
  ['Lease', 'that is held', { spec: { holderIdentity: 'watcher-1' } }, ['one', 'watcher-1', created]],
  ['ClusterRoleBinding', 'of a cluster role', role, ['one', 'ClusterRole/view', created, '', '', '']],
  ...['CustomResourceDefinition', 'Role', 'ClusterRole'].map((kind): [string, string, object, readonly Json[]] => [
    kind,
    'of any content',
    {},
    ['one', created],
  ]),
])('the table of a %s %s has the cells of kubectl', (kind, _, {
  metadata,
  ...object
}: { metadata?: object }, cells) => {
  const whole = { ...object, metadata: { name: 'one', creationTimestamp: created, ...metadata } };
  const columns = builtinColumns[kind] ?? [];
  expect(columns.map(({ cell }) => cell({ apiVersion: 'v1', kind, ...whole }))).toEqual(cells);
});
