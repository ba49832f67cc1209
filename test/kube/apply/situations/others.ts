// Situations 65 to 105: autoscalers, sidecars and other appliers, whose fields stay; restores and hand-overs; refusals,
// conflicts and crashes.
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  PersistentVolumeClaim,
  RoleBinding,
  Service,
  StatefulSet,
} from '../../../../src/kubernetes.ts';
import { autoscaler, binding, claimOf, cpuMetric, data, service, statefulSet, template, workload } from './objects.ts';
import {
  applies,
  at,
  clears,
  managersOf,
  patches,
  portsOf,
  replaces,
  restores,
  type Situation,
  type Step,
  says,
  scales,
  settles,
  valueAt,
} from './situation.ts';
import type { Loose } from './stage.ts';

const one = service({ http: 80 });
const both = service({ http: 80, admin: 8080 });
const labels = { a: 'b' };
const containers = (...list: Loose[]): Loose => ({ spec: { template: { spec: { containers: list } } } });
const ports = (...list: Loose[]): Loose => ({ spec: { ports: list } });
const containersOf = (object: unknown): unknown => {
  const list = at(object, 'spec.template.spec.containers');
  return Array.isArray(list) ? list.map((container: unknown) => [at(container, 'name'), at(container, 'image')]) : list;
};
const env = 'spec.template.spec.containers.0.env';
const restarted = {
  spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026' } } } },
};
const restartsOf = (object: unknown): unknown => Object.keys(Object(at(object, 'spec.template.metadata.annotations')));
const a1 = data({ a: '1' });
const b2 = data({ b: '2' });
const both12 = data({ a: '1', b: '2' });
const thorough =
  (fields: Loose): Step =>
  (stage) =>
    stage.reconcile(fields, { isThorough: true });

const scaleSituations: readonly Situation[] = [
  {
    title: '65: an autoscaler sets the scale of a Deployment without replicas, and keeps it',
    kind: Deployment,
    run: [says(workload()), scales(7), says(workload()), settles(workload({ revisionHistoryLimit: 3 }))],
    requests: 'C; 0; S; 0',
    of: valueAt('spec.replicas'),
    end: 7,
  },
  {
    title: '66: an autoscaler has set the scale, and the controller drops replicas',
    kind: Deployment,
    run: [says(workload({ replicas: 3 })), scales(7), settles(workload())],
    requests: 'C; 0; 0',
    of: valueAt('spec.replicas'),
    end: 7,
  },
  {
    title: '67: a controller with replicas takes them back from an autoscaler',
    kind: Deployment,
    run: [says(workload({ replicas: 3 })), scales(7), settles(workload({ replicas: 3 }))],
    requests: 'C; S; 0',
    of: valueAt('spec.replicas'),
    end: 3,
  },
  {
    title: '68: an autoscaler sets the same scale, and the controller drops replicas: they stay',
    kind: Deployment,
    run: [says(workload({ replicas: 3 })), scales(7), scales(3), says(workload({ replicas: 3 })), settles(workload())],
    requests: 'C; S; S; 0',
    of: valueAt('spec.replicas'),
    end: 3,
  },
  {
    title: '87: a tool that writes replicas itself keeps them when the controller drops them',
    kind: Deployment,
    run: [
      says(workload({ replicas: 3 })),
      patches('keda', { spec: { replicas: 7 } }),
      says(workload({ replicas: 7 })),
      settles(workload()),
    ],
    requests: 'C; S; S; 0',
    of: valueAt('spec.replicas'),
    end: 7,
  },
];

const keptSituations: readonly Situation[] = [
  {
    title: '69: annotations and labels of other tools stay through a repair',
    kind: Service,
    run: [
      says(one),
      patches('tool', { metadata: { annotations: { tool: 'x' }, labels: { t: 'y' } } }),
      patches('kubectl-edit', ports({ name: 'http', port: 81 })),
      settles(one),
    ],
    requests: 'C; S422, M, S; 0',
    of: (object) => [portsOf(object), object.metadata.annotations?.tool, object.metadata.labels?.t],
    end: [['http:80'], 'x', 'y'],
  },
  {
    title: '70: a sidecar of another applier stays',
    kind: Deployment,
    run: [
      says(workload()),
      applies('injector', containers({ name: 'side', image: 's' })),
      settles(workload({}, { image: 'j' })),
    ],
    requests: 'C; S; 0',
    of: containersOf,
    end: [
      ['c', 'j'],
      ['side', 's'],
    ],
  },
  {
    title: '71: a variable that an edit has added to a container stays, and goes with it',
    kind: Deployment,
    run: [
      says(withSecond()),
      patches(
        'kubectl-set',
        containers({ name: 'c', image: 'i' }, { name: 'd', image: 'j', env: [{ name: 'E', value: 'x' }] }),
      ),
      says(withSecond()),
      settles(workload()),
    ],
    requests: 'C; 0; M, S; 0',
    of: containersOf,
    end: [['c', 'i']],
  },
  {
    title: '72: the annotation of a restart stays',
    kind: Deployment,
    run: [says(workload()), patches('kubectl-rollout', restarted), settles(workload({ minReadySeconds: 1 }))],
    requests: 'C; S; 0',
    of: restartsOf,
    end: ['kubectl.kubernetes.io/restartedAt'],
  },
  {
    title: '73: a replace drops a key, it is repaired, and then dropped',
    kind: ConfigMap,
    run: [says(both12), replaces('kubectl-replace', (live) => ({ ...live, ...b2 })), settles(both12), settles(b2)],
    requests: 'C; S; 0; S; 0',
    of: valueAt('data'),
    end: { b: '2' },
  },
  {
    title: '74: an edit changes a key and changes it back, and then it is dropped',
    kind: ConfigMap,
    run: [
      says(both12),
      patches('kubectl-edit', data({ a: '9' })),
      patches('kubectl-edit', a1),
      settles(both12),
      settles(b2),
    ],
    requests: 'C; S; 0; M, S; 0',
    of: valueAt('data'),
    end: { b: '2' },
  },
  {
    title: '75: a child that a client-side apply has written before loses a key',
    kind: ConfigMap,
    run: [restores(both12, 'kubectl-client-side-apply'), says(both12), settles(b2)],
    requests: 'S; M, S; 0',
    of: valueAt('data'),
    end: { b: '2' },
  },
  {
    title: '76: a replace adds a variable to an exact list',
    kind: Deployment,
    exact: [env.replace('.0', '')],
    run: [
      says(workload({}, { env: [{ name: 'A', value: '1' }] })),
      replaces('kubectl-replace', (live) => ({
        ...live,
        spec: {
          ...Object(live.spec),
          template: template({
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
          }),
        },
      })),
      settles(workload({}, { env: [{ name: 'A', value: '1' }] })),
    ],
    requests: 'C; M, S; 0',
    of: valueAt(env),
    end: [{ name: 'A', value: '1' }],
  },
  {
    title: '95: the second owner and the finalizer of another stay',
    kind: ConfigMap,
    run: [says(a1), (stage) => stage.addOwner('other', ['x.example.com/z']), settles(data({ a: '2' }))],
    requests: 'C; S; 0',
    of: ({ metadata }) => [metadata.ownerReferences?.length, metadata.finalizers],
    end: [2, ['x.example.com/z']],
  },
  {
    title: '96: the former name of the controller owns a key, too: it stays',
    kind: ConfigMap,
    run: [restores({}), clears, applies('outrigger-old', both12), says(both12), settles(a1)],
    requests: 'S; S; 0',
    of: valueAt('data'),
    end: { a: '1', b: '2' },
  },
  {
    title: '97: the former name of the controller owns a key of exact data, too: it goes',
    kind: ConfigMap,
    exact: ['data'],
    run: [restores({}), clears, applies('outrigger-old', both12), says(both12), settles(a1)],
    requests: 'S, M, S; S; 0',
    of: valueAt('data'),
    end: { a: '1' },
  },
];

const restoreSituations: readonly Situation[] = [
  {
    title: '88: an object that was created by a POST of the controller loses a key',
    kind: ConfigMap,
    run: [restores(both12, 'outrigger-cases'), says(both12), settles(a1)],
    requests: 'M, S; S; 0',
    of: valueAt('data'),
    end: { a: '1' },
  },
  {
    title: '89: another changes the exact metrics of an autoscaler',
    kind: HorizontalPodAutoscaler,
    exact: ['spec.metrics'],
    run: [
      says(autoscaler(cpuMetric(50))),
      patches('kubectl-edit', { spec: { minReplicas: 2, metrics: [cpuMetric(70)] } }),
      settles(autoscaler(cpuMetric(50))),
    ],
    requests: 'C; M, S; 0',
    of: (object) => [at(object, 'spec.metrics.0.resource.target.averageUtilization'), at(object, 'spec.minReplicas')],
    end: [50, 2],
  },
  {
    title: '90: whole structs are dropped after a restore',
    kind: Deployment,
    run: [
      restores(
        workload(
          {},
          {
            resources: { limits: { cpu: '1' } },
            ports: [{ containerPort: 80 }],
            securityContext: { privileged: false },
          },
          { securityContext: { fsGroup: 1 } },
        ),
      ),
      says(
        workload(
          {},
          {
            resources: { limits: { cpu: '1' } },
            ports: [{ containerPort: 80 }],
            securityContext: { privileged: false },
          },
          { securityContext: { fsGroup: 1 } },
        ),
      ),
      settles(workload()),
    ],
    requests: 'S; M, S; 0',
    of: (object) => {
      const pod = 'spec.template.spec';
      const names = ['containers.0.ports', 'containers.0.resources', 'containers.0.securityContext', 'securityContext'];
      return names.map((name) => JSON.stringify(at(object, `${pod}.${name}`) ?? {}));
    },
    end: ['{}', '{}', '{}', '{}'],
  },
  {
    title: '91: a Service of a node port is restored, and becomes one of a cluster address',
    kind: Service,
    run: [
      restores(service({ http: 80 }, { type: 'NodePort' })),
      says(service({ http: 80 }, { type: 'NodePort' })),
      settles(service({ http: 80 }, { type: 'ClusterIP' })),
    ],
    requests: 'S; S; 0',
    of: valueAt('spec.type'),
    end: 'ClusterIP',
  },
  {
    title: '92: a Deployment is restored with its strategy, and becomes Recreate',
    kind: Deployment,
    run: [
      restores(workload({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } })),
      says(workload()),
      settles(workload({ strategy: { type: 'Recreate' } })),
    ],
    requests: 'S; S422, M, S; 0',
    of: valueAt('spec.strategy'),
    end: { type: 'Recreate' },
  },
  {
    title: '94: the volume of a restored claim is not touched',
    kind: PersistentVolumeClaim,
    run: [restores({ spec: { ...Object(claimOf('1Gi').spec), volumeName: 'pv1' } }), settles(claimOf('1Gi'))],
    requests: 'S; 0',
    of: valueAt('spec.volumeName'),
    end: 'pv1',
  },
];

const refusedSituations: readonly Situation[] = [
  {
    title: '80: an immutable field is asked for beside the port of another, and taken back',
    kind: Service,
    run: [says(one), says(service({ http: 80 }, { clusterIP: 'None' })), says(one), says(service({ http: 82 }))],
    requests: 'C; S422, M, S422, M; 0; S',
    of: (object) => [at(object, 'spec.clusterIP') !== 'None', portsOf(object)],
    end: [true, ['http:82']],
  },
  {
    title: '81: a mistake of the author does not cost another client its port',
    kind: Service,
    run: [
      says(one),
      patches('kubectl-edit', ports({ name: 'http', port: 80 }, { name: 'z', port: 81 })),
      says(service({ http: 99999 })),
      settles(service({ http: 83 })),
    ],
    requests: 'C; S422, M, S422, M; S; 0',
    of: (object) => [portsOf(object)].flat().toSorted(),
    end: ['http:83', 'z:81'],
  },
  {
    title: '82: a strategy, a volume and a variable are contested at once',
    kind: Deployment,
    run: [
      says(
        workload(
          {},
          { env: [{ name: 'E', value: 'x' }], volumeMounts: [{ name: 'v', mountPath: '/v' }] },
          { volumes: [{ name: 'v', configMap: { name: 'm' } }] },
        ),
      ),
      patches(
        'kubectl-edit',
        containers({
          name: 'c',
          image: 'i',
          env: [{ name: 'E', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
        }),
      ),
      settles(
        workload(
          { strategy: { type: 'Recreate' } },
          { env: [{ name: 'E', value: 'x' }], volumeMounts: [{ name: 'v', mountPath: '/v' }] },
          { volumes: [{ name: 'v', emptyDir: {} }] },
        ),
      ),
    ],
    requests: 'C; S422, M, S; 0',
    of: (object) => [
      at(object, 'spec.strategy'),
      at(object, env),
      Object.keys(Object(at(object, 'spec.template.spec.volumes.0'))).toSorted(),
    ],
    end: [{ type: 'Recreate' }, [{ name: 'E', value: 'x' }], ['emptyDir', 'name']],
  },
  {
    title: '93: K7: the role of a binding changes, and the author allows its deletion',
    kind: RoleBinding,
    recreate: true,
    run: [says(binding('view')), settles(binding('edit')), says(binding('edit'))],
    requests: 'C; S422, P409, D; C; 0',
    of: valueAt('roleRef.name'),
    end: 'edit',
  },
  {
    title: '93: a mistake of the author does not cost the child, although he allows its deletion',
    kind: Service,
    recreate: true,
    run: [says(one), says(service({ http: 99999 })), says(one)],
    requests: 'C; S422, P422; 0',
    of: portsOf,
    end: ['http:80'],
  },
  {
    title: '99: a policy refuses with 422 and no field: nothing is claimed',
    kind: ConfigMap,
    refuses: ({ body }) => JSON.stringify(body).includes('forbidden'),
    run: [says(a1), patches('kubectl-edit', data({ z: '9' })), says(data({ a: 'forbidden' }))],
    requests: 'C; S422',
    of: (object) => [at(object, 'data'), managersOf(object)],
    end: [{ a: '1', z: '9' }, ['kubectl-edit/Update', 'outrigger-cases/Apply']],
  },
  {
    title: '98: an immutable field beside the replicas of another: all is as before',
    kind: StatefulSet,
    run: [
      says(statefulSet()),
      patches('kubectl-edit', { spec: { replicas: 5 } }),
      says(statefulSet({ serviceName: 't' })),
      says(statefulSet()),
    ],
    requests: 'C; S422; 0',
    of: (object) => [at(object, 'spec.serviceName'), at(object, 'spec.replicas'), managersOf(object)],
    end: ['s', 5, ['kubectl-edit/Update', 'outrigger-cases/Apply']],
  },
];

const conflictSituations: readonly Situation[] = [
  {
    title: '78: two versions of the controller apply under one name',
    kind: ConfigMap,
    run: [says(both12), says(b2), settles(data({ c: '3' }))],
    requests: 'C; S; S; 0',
    of: valueAt('data'),
    end: { c: '3' },
  },
  {
    title: '79: another client writes before the patch of managedFields: it is read again',
    kind: Service,
    exact: ['spec.ports'],
    before: (stage, request) =>
      stage.onceBeforeOwnership(request, () => stage.merge('kubectl-edit', { metadata: { labels: { z: '1' } } })),
    run: [says(one), patches('kubectl-edit', ports({ name: 'http', port: 81 })), settles(one)],
    requests: 'C; M409, M, S; 0',
    of: (object) => [portsOf(object), object.metadata.labels?.z],
    end: [['http:80'], '1'],
  },
  {
    title: '85: admission changes a value that the controller owns: it is remembered',
    kind: ConfigMap,
    rewrites: (body) => ({ ...body, data: { a: 'mutated' } }),
    run: [settles(a1), settles(data({ a: '2' }))],
    requests: 'C; 0; S; 0',
    of: valueAt('data'),
    end: { a: 'mutated' },
  },
  {
    title: '86: a value that the server changes is applied again by a thorough reconcile alone',
    kind: Service,
    run: [
      settles(service({ http: 80 }, { sessionAffinity: 'ClientIP', sessionAffinityConfig: {} })),
      thorough(service({ http: 80 }, { sessionAffinity: 'ClientIP', sessionAffinityConfig: {} })),
    ],
    requests: 'C; 0; S',
    of: valueAt('spec.sessionAffinity'),
    end: 'ClientIP',
  },
  {
    title: '100: an edit renumbers 8080 to 9090, and the port is dropped',
    kind: Service,
    run: [
      says(both),
      patches('kubectl-edit', ports({ name: 'http', port: 80 }, { name: 'admin', port: 9090 })),
      settles(both),
      settles(one),
    ],
    requests: 'C; S422, M, S; 0; S; 0',
    of: portsOf,
    end: ['http:80'],
  },
  {
    title: '101: a replace with another port is repaired, and the port dropped',
    kind: Service,
    run: [
      says(both),
      replaces('kubectl-replace', (live) => ({
        ...live,
        spec: {
          ...Object(live.spec),
          ports: [
            { name: 'http', port: 80 },
            { name: 'admin', port: 9090 },
          ],
        },
      })),
      settles(both),
      settles(one),
    ],
    requests: 'C; S422, M, S; 0; S; 0',
    of: portsOf,
    end: ['http:80'],
  },
  {
    title: '102: a forced apply by kubectl that the server refuses changes nothing',
    kind: Service,
    run: [
      says(both),
      (stage) => stage.apply('kubectl', ports({ name: 'admin', port: 9090 })).catch(() => undefined),
      settles(both),
      settles(one),
    ],
    requests: 'C; 0; 0; S; 0',
    of: portsOf,
    end: ['http:80'],
  },
  {
    title: '103: kubectl sets an image, scales, restarts, labels and annotates',
    kind: Deployment,
    run: [
      says(workload({ replicas: 2 })),
      patches('kubectl-set', containers({ name: 'c', image: 'j' })),
      scales(5),
      patches('kubectl-rollout', restarted),
      patches('kubectl-label', { metadata: { labels: { x: 'y' } } }),
      patches('kubectl-annotate', { metadata: { annotations: { m: 'n' } } }),
      settles(workload({ replicas: 2 })),
    ],
    requests: 'C; S; 0',
    of: (object) => [
      at(object, 'spec.replicas'),
      containersOf(object),
      object.metadata.labels?.x,
      object.metadata.annotations?.m,
      restartsOf(object),
    ],
    end: [2, [['c', 'i']], 'y', 'n', ['kubectl.kubernetes.io/restartedAt']],
  },
  {
    title: '104: a client-side apply over the child, and a key is dropped',
    kind: ConfigMap,
    run: [says(both12), patches('kubectl-client-side-apply', data({ a: '9', c: '3' })), says(both12), settles(a1)],
    requests: 'C; S; S; 0',
    of: valueAt('data'),
    end: { a: '1', c: '3' },
  },
  {
    title: '105: a crash between the patch of managedFields and the apply is ended by the next reconcile',
    kind: ConfigMap,
    exact: ['data'],
    run: [
      says(a1),
      patches('kubectl-edit', data({ z: '9' })),
      async (stage) => {
        const { managedFields = [] } = (await stage.read()).metadata;
        const moved = managedFields
          .filter(({ manager }) => manager !== 'kubectl-edit')
          .map((entry) => ({ ...entry, fieldsV1: { ...Object(entry.fieldsV1), 'f:data': { 'f:a': {}, 'f:z': {} } } }));
        await stage.merge('outrigger-cases', { metadata: { managedFields: moved } });
      },
      settles(a1),
    ],
    requests: 'C; S; 0',
    of: valueAt('data'),
    end: { a: '1' },
  },
];

export const otherOwnerSituations: readonly Situation[] = [
  ...scaleSituations,
  ...keptSituations,
  ...restoreSituations,
  ...refusedSituations,
  ...conflictSituations,
];

function withSecond(): Loose {
  return {
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
  };
}
