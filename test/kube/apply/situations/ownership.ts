// Situations 1 to 16: what others own beside the controller, and maps and lists that it owns completely.
import { ConfigMap, Deployment, NetworkPolicy, ResourceQuota, Secret, Service } from '../../../../src/kubernetes.ts';
import { data, service, workload } from './objects.ts';
import {
  applies,
  at,
  clears,
  patches,
  portsOf,
  restores,
  type Situation,
  says,
  settles,
  valueAt,
} from './situation.ts';

const both = service({ http: 80, admin: 8080 });
const one = service({ http: 80 });
const onlyPorts = (...ports: object[]) => ({ spec: { ports } });
const labels = { a: 'b' };

export const ownershipSituations: readonly Situation[] = [
  {
    title: '1: an edit renumbers a port, it is repaired, and the port is dropped',
    kind: Service,
    run: [
      says(both),
      patches('kubectl-edit', onlyPorts({ name: 'http', port: 80 }, { name: 'admin', port: 9090 })),
      settles(both),
      settles(one),
    ],
    requests: 'C; S422, M, S; 0; S; 0',
    of: portsOf,
    end: ['http:80'],
  },
  {
    title: '2: an entry of an update by the controller itself, which an earlier version left, is healed',
    kind: Service,
    run: [
      says(both),
      patches(
        'outrigger-cases',
        onlyPorts({ name: 'http', port: 80 }, { name: 'admin', port: 8080, appProtocol: 'x' }),
      ),
      settles(one),
    ],
    requests: 'C; M, S; 0',
    of: portsOf,
    end: ['http:80'],
  },
  {
    title: '3: K3: the managers are cleared, and a key is dropped',
    kind: ConfigMap,
    run: [says(data({ a: '1', b: '2' })), clears, settles(data({ a: '1', b: '2' })), settles(data({ b: '2' }))],
    requests: 'C; S; 0; M, S; 0',
    of: valueAt('data'),
    end: { b: '2' },
  },
  {
    title: '4: K3: a backup tool creates the child again, and a key is dropped',
    kind: ConfigMap,
    run: [restores(data({ a: '1', b: '2' })), says(data({ a: '1', b: '2' })), settles(data({ a: '1' }))],
    requests: 'S; M, S; 0',
    of: valueAt('data'),
    end: { a: '1' },
  },
  {
    title: '5: K3: a backup tool creates a Service again with its defaults, and a port is dropped',
    kind: Service,
    run: [restores(both), says(both), settles(one)],
    requests: 'S; M, S; 0',
    of: portsOf,
    end: ['http:80'],
  },
  {
    title: '6: another adds a port and a field of ours to an exact list, and the field is dropped',
    kind: Service,
    exact: ['spec.ports'],
    run: [
      says(onlyPorts({ name: 'm', port: 80, appProtocol: 'x' })),
      patches('kubectl-edit', onlyPorts({ name: 'm', port: 80, appProtocol: 'y' }, { name: 'g', port: 81 })),
      settles(onlyPorts({ name: 'm', port: 80, appProtocol: 'x' })),
      settles(onlyPorts({ name: 'm', port: 80 })),
    ],
    requests: 'C; M, S; 0; S; 0',
    of: valueAt('spec.ports'),
    end: [{ name: 'm', protocol: 'TCP', port: 80, targetPort: 80 }],
  },
  {
    title: '7: K2: an edit renumbers a port under its name, it is repaired, and the port gets another number',
    kind: Service,
    run: [
      says(one),
      patches('kubectl-edit', onlyPorts({ name: 'http', port: 81 })),
      says(one),
      settles(service({ http: 90 })),
    ],
    requests: 'C; S422, M, S; S; 0',
    of: portsOf,
    end: ['http:90'],
  },
  {
    title: '8: K4: another renames a container of an exact list, it is repaired, and a field of it is dropped',
    kind: Deployment,
    exact: ['spec.template.spec.containers'],
    run: [
      says(workload({}, { workingDir: '/w' })),
      patches('kubectl-edit', {
        spec: { template: { spec: { containers: [{ name: 'x', image: 'i', workingDir: '/w' }] } } },
      }),
      settles(workload({}, { workingDir: '/w' })),
      settles(workload()),
    ],
    requests: 'C; M, S; 0; S; 0',
    of: (object) => [
      at(object, 'spec.template.spec.containers.0.name'),
      at(object, 'spec.template.spec.containers.0.workingDir') ?? null,
      at(object, 'spec.template.spec.containers.1') ?? null,
    ],
    end: ['c', null, null],
  },
  {
    title: '9: another applier sets the same values, and a key is dropped: it stays',
    kind: ConfigMap,
    run: [says(data({ a: '1', b: '2' })), applies('kubectl', data({ a: '1', b: '2' })), settles(data({ a: '1' }))],
    requests: 'C; S; 0',
    of: valueAt('data'),
    end: { a: '1', b: '2' },
  },
  {
    title: '10: the same with exact data: it goes',
    kind: ConfigMap,
    exact: ['data'],
    run: [says(data({ a: '1', b: '2' })), applies('kubectl', data({ a: '1', b: '2' })), settles(data({ a: '1' }))],
    requests: 'C; M, S; 0',
    of: valueAt('data'),
    end: { a: '1' },
  },
  {
    title: '11: another applier owns a part of a container, and the container is dropped',
    kind: Deployment,
    run: [
      says({
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              containers: [
                { name: 'c', image: 'i' },
                { name: 'd', image: 'j' },
              ],
            },
          },
        },
      }),
      applies('sidecar', { spec: { template: { spec: { containers: [{ name: 'd', stdin: true }] } } } }),
      says({
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              containers: [
                { name: 'c', image: 'i' },
                { name: 'd', image: 'j' },
              ],
            },
          },
        },
      }),
      settles(workload()),
    ],
    requests: 'C; 0; S422, M, S; 0',
    of: (object) => [
      at(object, 'spec.template.spec.containers.0.name'),
      at(object, 'spec.template.spec.containers.1') ?? null,
    ],
    end: ['c', null],
  },
  {
    title: '12: a key that an edit has added to exact data goes',
    kind: ConfigMap,
    exact: ['data'],
    run: [says(data({ a: '1' })), patches('kubectl-edit', data({ z: '9' })), settles(data({ a: '1' }))],
    requests: 'C; M, S; 0',
    of: valueAt('data'),
    end: { a: '1' },
  },
  {
    title: '13: a limit that another has added to an exact quota goes',
    kind: ResourceQuota,
    exact: ['spec.hard'],
    run: [
      says({ spec: { hard: { pods: '10', 'limits.cpu': '1000m' } } }),
      patches('kubectl-edit', { spec: { hard: { services: '1' } } }),
      settles({ spec: { hard: { pods: '10', 'limits.cpu': '1000m' } } }),
    ],
    requests: 'C; M, S; 0',
    of: valueAt('spec.hard'),
    end: { 'limits.cpu': '1', pods: '10' },
  },
  {
    title: '14: a label that another has added to exact labels of a template goes',
    kind: Deployment,
    exact: ['spec.template.metadata.labels'],
    run: [
      says(workload()),
      patches('kubectl-edit', { spec: { template: { metadata: { labels: { x: 'y' } } } } }),
      settles(workload()),
    ],
    requests: 'C; M, S; 0',
    of: valueAt('spec.template.metadata.labels'),
    end: labels,
  },
  {
    title: '15: an exact map that becomes empty is empty, also of the keys of others',
    kind: Secret,
    exact: ['data'],
    run: [says(data({ a: 'MQ==' })), patches('kubectl-edit', data({ z: 'OQ==' })), settles({ data: {} })],
    requests: 'C; M, S; 0',
    of: (object) => at(object, 'data') ?? {},
    end: {},
  },
  {
    title: '16: an exact list that the controller does not give goes',
    kind: NetworkPolicy,
    exact: ['spec.egress'],
    run: [
      says({ spec: { podSelector: {}, policyTypes: ['Ingress'] } }),
      patches('kubectl-edit', { spec: { egress: [{}] } }),
      settles({ spec: { podSelector: {}, policyTypes: ['Ingress'] } }),
    ],
    requests: 'C; M, S; 0',
    of: valueAt('spec.egress'),
    end: null,
  },
  {
    title:
      'a child without its labels gets them back before its managers are edited: the policy on children asks for them',
    kind: ConfigMap,
    exact: ['data'],
    run: [
      says(data({ a: '1' })),
      patches('kubectl-edit', { metadata: { labels: null }, ...data({ z: '9' }) }),
      settles(data({ a: '1' })),
    ],
    requests: 'C; S, M, S; 0',
    of: (object) => [at(object, 'data'), Object.keys(object.metadata.labels ?? {}).length],
    end: [{ a: '1' }, 2],
  },
];
