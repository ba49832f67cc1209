// Situations 17 to 57: fields that exclude each other or cannot change, by kind. The server clears a sibling itself, or
// refuses it because nobody owns the default in it.
import { ApiError } from '../../../../src/kube/client/errors.ts';
import {
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  RoleBinding,
  Secret,
  Service,
  StatefulSet,
} from '../../../../src/kubernetes.ts';
import {
  autoscaler,
  binding,
  claimOf,
  cpuMetric,
  data,
  ingressTo,
  job,
  service,
  statefulSet,
  withVolume,
  workload,
} from './objects.ts';
import { at, managersOf, patches, restores, type Situation, type Step, says, settles, valueAt } from './situation.ts';
import type { ChildOfKind, Loose } from './stage.ts';

const recreateStrategy = { strategy: { type: 'Recreate' } };
const strategy = valueAt('spec.strategy');
const container = 'spec.template.spec.containers.0';
const probe = (handler: Loose) => workload({}, { livenessProbe: handler });
const http = probe({ httpGet: { path: '/', port: 80 } });
const env = (one: Loose) => workload({}, { env: [{ name: 'E', ...one }] });
const volume = 'spec.template.spec.volumes.0';
const handlers = (object: unknown) =>
  Object.keys(Object(at(object, `${container}.livenessProbe`))).filter((name) =>
    /httpGet|tcpSocket|grpc|exec/.test(name),
  );
const budget = (spec: Loose): Loose => ({ spec: { selector: { matchLabels: { a: 'b' } }, ...spec } });
const cron = (schedule: string, concurrencyPolicy: string): Loose => ({
  spec: { schedule, concurrencyPolicy, jobTemplate: job() },
});
const toService = (port: Loose) => ingressTo({ service: { name: 's', port } });
const policy = (spec: Loose): Loose => ({ spec: { podSelector: {}, ...spec } });

/** A change that the server accepts at once, and back. */
function thereAndBack(
  title: string,
  kind: ChildOfKind,
  a: Loose,
  b: Loose,
  { of, end }: Pick<Situation, 'of' | 'end'>,
): Situation {
  return { title, kind, run: [says(a), settles(b), settles(a)], requests: 'C; S; 0; S; 0', of, end };
}

/** A change that the server accepts at once. */
function there(
  title: string,
  kind: ChildOfKind,
  a: Loose,
  b: Loose,
  { of, end }: Pick<Situation, 'of' | 'end'>,
): Situation {
  return { title, kind, run: [settles(a), settles(b)], requests: 'C; 0; S; 0', of, end };
}

/** A change that the server refuses for ever. */
function refused(
  title: string,
  kind: ChildOfKind,
  a: Loose,
  b: Loose,
  more: Pick<Situation, 'of' | 'end'> & Partial<Situation>,
): Situation {
  return { title, kind, run: [settles(a), settles(b)], requests: 'C; 0; S422; S422', ...more };
}

/** A contradiction that only others, or nobody, own. */
function contradicted(
  title: string,
  kind: ChildOfKind,
  run: readonly Step[],
  requests: string,
  of: Situation['of'],
  end: unknown,
): Situation {
  return { title, kind, run, requests, of, end };
}

let asked = 0;

const repaired = 'C; S422, M, S; 0';
const union = 'C; 0; S422, M, S; 0';

const strategySituations: readonly Situation[] = [
  contradicted(
    '17: K7: a Deployment without a strategy becomes Recreate',
    Deployment,
    [settles(workload()), settles(workload(recreateStrategy))],
    union,
    strategy,
    { type: 'Recreate' },
  ),
  {
    title: '18: Recreate, then a rolling update with a surge, and back',
    kind: Deployment,
    run: [
      says(workload(recreateStrategy)),
      settles(workload({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } })),
      settles(workload(recreateStrategy)),
    ],
    requests: 'C; S; 0; S; 0',
    of: strategy,
    end: { type: 'Recreate' },
  },
  contradicted(
    '19: a rolling update becomes Recreate with a null beside it',
    Deployment,
    [
      settles(workload({ strategy: { type: 'RollingUpdate' } })),
      settles(workload({ strategy: { type: 'Recreate', rollingUpdate: null } })),
    ],
    union,
    strategy,
    { type: 'Recreate' },
  ),
  contradicted(
    '20: an edit sets a surge, then Recreate',
    Deployment,
    [
      says(workload()),
      patches('kubectl-edit', { spec: { strategy: { rollingUpdate: { maxSurge: 3 } } } }),
      settles(workload(recreateStrategy)),
    ],
    repaired,
    strategy,
    { type: 'Recreate' },
  ),
  contradicted(
    '21: a StatefulSet without a strategy becomes OnDelete',
    StatefulSet,
    [settles(statefulSet()), settles(statefulSet({ updateStrategy: { type: 'OnDelete' } }))],
    union,
    valueAt('spec.updateStrategy'),
    { type: 'OnDelete' },
  ),
  there(
    '22: a StatefulSet drops OnDelete',
    StatefulSet,
    statefulSet({ updateStrategy: { type: 'OnDelete' } }),
    statefulSet(),
    {
      of: valueAt('spec.updateStrategy.type'),
      end: 'RollingUpdate',
    },
  ),
  there(
    '23: a StatefulSet with a partition becomes OnDelete',
    StatefulSet,
    statefulSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }),
    statefulSet({ updateStrategy: { type: 'OnDelete' } }),
    { of: valueAt('spec.updateStrategy'), end: { type: 'OnDelete' } },
  ),
  there('24: a DaemonSet becomes OnDelete', DaemonSet, workload(), workload({ updateStrategy: { type: 'OnDelete' } }), {
    of: valueAt('spec.updateStrategy.type'),
    end: 'OnDelete',
  }),
];

const serviceSituations: readonly Situation[] = [
  thereAndBack(
    '25: a Service of a cluster address becomes an external name, and back',
    Service,
    service({ http: 80 }),
    { spec: { type: 'ExternalName', externalName: 'e.example.com' } },
    {
      of: (object) => [at(object, 'spec.type'), at(object, 'spec.externalName') ?? null],
      end: ['ClusterIP', null],
    },
  ),
  thereAndBack(
    '26: a Service with a fixed node port becomes one without, and back',
    Service,
    { spec: { type: 'NodePort', selector: { app: 'a' }, ports: [{ name: 'http', port: 80, nodePort: 30123 }] } },
    service({ http: 80 }),
    { of: (object) => [at(object, 'spec.type'), at(object, 'spec.ports.0.nodePort')], end: ['NodePort', 30123] },
  ),
  thereAndBack(
    '27: a load balancer with local traffic becomes a cluster address, and back',
    Service,
    service({ http: 80 }, { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
    service({ http: 80 }),
    {
      of: (object) => [at(object, 'spec.type'), at(object, 'spec.externalTrafficPolicy')],
      end: ['LoadBalancer', 'Local'],
    },
  ),
  there(
    '28: a load balancer with local traffic becomes a node port',
    Service,
    service({ http: 80 }, { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
    service({ http: 80 }, { type: 'NodePort' }),
    {
      of: (object) => [at(object, 'spec.type'), at(object, 'spec.externalTrafficPolicy')],
      end: ['NodePort', 'Cluster'],
    },
  ),
  there(
    '29: a load balancer with a class becomes a cluster address',
    Service,
    service({ http: 80 }, { type: 'LoadBalancer', loadBalancerClass: 'e.example.com/lb' }),
    service({ http: 80 }),
    {
      of: (object) => [at(object, 'spec.type'), at(object, 'spec.loadBalancerClass') ?? null],
      end: ['ClusterIP', null],
    },
  ),
  refused(
    '30: a Service cannot lose its address, and what was claimed for it is given back',
    Service,
    service({ http: 80 }),
    service({ http: 80 }, { clusterIP: 'None' }),
    {
      requests: 'C; 0; S422, M, S422, M; S422, M, S422, M',
      of: (object) => at(object, 'spec.clusterIP') === 'None',
      end: false,
    },
  ),
  {
    title: '30: what another client writes between a claim and its end is not given back with it',
    kind: Service,
    before: async (stage, { body }) => {
      const isAsked = at(body, 'kind') === 'Service' && at(body, 'spec.clusterIP') === 'None';
      asked += isAsked ? 1 : 0;
      if (!isAsked || asked !== 2) return;
      await stage.apply('kubectl', { metadata: { labels: { z: '1' } } });
      throw new ApiError('PATCH', 409, { kind: 'Status', reason: 'Conflict', message: 'the quota has changed' });
    },
    run: [says(service({ http: 80 })), says(service({ http: 80 }, { clusterIP: 'None' }))],
    requests: 'C; S422, M, S422',
    of: managersOf,
    end: ['kubectl/Apply', 'outrigger-cases/Apply'],
  },
];

const volumes: readonly (readonly [number, string, Loose, string, Loose])[] = [
  [31, 'configMap', { configMap: { name: 'm' } }, 'secret', { secret: { secretName: 's' } }],
  [32, 'emptyDir', { emptyDir: {} }, 'configMap', { configMap: { name: 'm' } }],
  [33, 'hostPath', { hostPath: { path: '/p' } }, 'emptyDir', { emptyDir: {} }],
  [
    34,
    'projected',
    { projected: { sources: [{ configMap: { name: 'm' } }] } },
    'configMap',
    { configMap: { name: 'm' } },
  ],
  [
    35,
    'downwardAPI',
    { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } },
    'emptyDir',
    { emptyDir: {} },
  ],
  [36, 'secret', { secret: { secretName: 's' } }, 'emptyDir', { emptyDir: {} }],
];

const podSituations: readonly Situation[] = [
  ...volumes.map(([number, name, source, other, otherSource]) =>
    thereAndBack(
      `${number}: a volume ${name} becomes ${other}, and back`,
      Deployment,
      withVolume(source),
      withVolume(otherSource),
      {
        of: (object) => Object.keys(Object(at(object, volume))).toSorted(),
        end: [name, 'name'].toSorted(),
      },
    ),
  ),
  contradicted(
    '37: a volume that a backup tool has restored becomes another',
    Deployment,
    [
      restores(withVolume({ configMap: { name: 'm' } })),
      says(withVolume({ configMap: { name: 'm' } })),
      settles(withVolume({ emptyDir: {} })),
    ],
    'S; M, S422, M, S; 0',
    (object) => Object.keys(Object(at(object, volume))).toSorted(),
    ['emptyDir', 'name'],
  ),
  thereAndBack(
    '38: a probe by HTTP becomes one by TCP, and back',
    Deployment,
    http,
    probe({ tcpSocket: { port: 80 } }),
    { of: handlers, end: ['httpGet'] },
  ),
  thereAndBack(
    '39: a probe by gRPC becomes a command, and back',
    Deployment,
    probe({ grpc: { port: 80 } }),
    probe({ exec: { command: ['c'] } }),
    { of: handlers, end: ['grpc'] },
  ),
  contradicted(
    '40: a probe that a backup tool has restored goes',
    Deployment,
    [restores(http), says(http), settles(workload())],
    'S; M, S422, M, S; 0',
    (object) => at(object, `${container}.livenessProbe`) ?? null,
    null,
  ),
  thereAndBack(
    '41: a variable with a value gets a reference, and back',
    Deployment,
    env({ value: 'x' }),
    env({ valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
    {
      of: valueAt(`${container}.env.0.value`),
      end: 'x',
    },
  ),
  contradicted(
    '42: an edit gives a variable a reference, and it gets its value back',
    Deployment,
    [
      says(env({ value: 'x' })),
      patches('kubectl-edit', {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  name: 'c',
                  image: 'i',
                  env: [{ name: 'E', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
                },
              ],
            },
          },
        },
      }),
      settles(env({ value: 'x' })),
    ],
    repaired,
    valueAt(`${container}.env.0`),
    { name: 'E', value: 'x' },
  ),
  contradicted(
    '43: an edit replaces a probe by one of another kind, and it is repaired',
    Deployment,
    [
      says(http),
      patches('kubectl-edit', {
        spec: {
          template: { spec: { containers: [{ name: 'c', image: 'i', livenessProbe: { tcpSocket: { port: 81 } } }] } },
        },
      }),
      settles(http),
    ],
    repaired,
    handlers,
    ['httpGet'],
  ),
];

const otherSituations: readonly Situation[] = [
  there(
    '44: K11: a metric of an autoscaler changes its type',
    HorizontalPodAutoscaler,
    autoscaler(cpuMetric(50)),
    autoscaler({
      type: 'Pods',
      pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '2000m' } },
    }),
    { of: valueAt('spec.metrics.0.type'), end: 'Pods' },
  ),
  thereAndBack(
    '45: a policy of ingress becomes one of egress, and back',
    NetworkPolicy,
    policy({ ingress: [{}] }),
    policy({ egress: [{}], policyTypes: ['Egress'] }),
    {
      of: (object) => at(object, 'spec.egress') ?? null,
      end: null,
    },
  ),
  there('46: a Job gets another limit of retries', Job, job({ backoffLimit: 1 }), job({ backoffLimit: 2 }), {
    of: valueAt('spec.backoffLimit'),
    end: 2,
  }),
  refused('47: the image of a Job cannot change', Job, job(), job({}, { image: 'j' }), {
    of: valueAt('spec.template.spec.containers.0.image'),
    end: 'i',
  }),
  thereAndBack(
    '48: a budget of a minimum becomes one of a maximum, and back',
    PodDisruptionBudget,
    budget({ minAvailable: 1 }),
    budget({ maxUnavailable: 1 }),
    {
      of: (object) => [at(object, 'spec.minAvailable'), at(object, 'spec.maxUnavailable') ?? null],
      end: [1, null],
    },
  ),
  contradicted(
    '49: an edit makes a budget one of a maximum, and it is repaired',
    PodDisruptionBudget,
    [
      says(budget({ minAvailable: 1 })),
      patches('kubectl-edit', { spec: { minAvailable: null, maxUnavailable: 1 } }),
      settles(budget({ minAvailable: 1 })),
    ],
    repaired,
    (object) => [at(object, 'spec.minAvailable'), at(object, 'spec.maxUnavailable') ?? null],
    [1, null],
  ),
  refused('50: a claim cannot shrink', PersistentVolumeClaim, claimOf('2Gi'), claimOf('1Gi'), {
    of: valueAt('spec.resources.requests.storage'),
    end: '2Gi',
  }),
  refused('51: the role of a binding cannot change', RoleBinding, binding('view'), binding('edit'), {
    of: valueAt('roleRef.name'),
    end: 'view',
  }),
  refused(
    '52: the selector of a Deployment cannot change',
    Deployment,
    workload(),
    {
      spec: {
        selector: { matchLabels: { a: 'c' } },
        template: { metadata: { labels: { a: 'c' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
    { of: valueAt('spec.selector.matchLabels.a'), end: 'b' },
  ),
  refused(
    '53: the type of a Secret cannot change',
    Secret,
    { type: 'Opaque', ...data({ a: 'MQ==' }) },
    { type: 'example.com/t', ...data({ a: 'MQ==' }) },
    {
      of: valueAt('type'),
      end: 'Opaque',
    },
  ),
  there(
    '54: a CronJob gets another schedule and policy',
    CronJob,
    cron('1 * * * *', 'Allow'),
    cron('0 * * * *', 'Forbid'),
    {
      of: (object) => [at(object, 'spec.schedule'), at(object, 'spec.concurrencyPolicy')],
      end: ['0 * * * *', 'Forbid'],
    },
  ),
  there(
    '55: a backend of an Ingress becomes a resource',
    Ingress,
    toService({ number: 80 }),
    ingressTo({ resource: { apiGroup: 'example.com', kind: 'Bucket', name: 'b' } }),
    {
      of: (object) => Object.keys(Object(at(object, 'spec.defaultBackend'))),
      end: ['resource'],
    },
  ),
  there(
    '56: a port of an Ingress gets a name for its number',
    Ingress,
    toService({ number: 80 }),
    toService({ name: 'http' }),
    {
      of: valueAt('spec.defaultBackend.service.port'),
      end: { name: 'http' },
    },
  ),
  {
    title: '57: an edit gives a port of an Ingress a name, and it gets its number back',
    kind: Ingress,
    run: [
      says(toService({ number: 80 })),
      patches('kubectl-edit', { spec: { defaultBackend: { service: { port: { name: 'http', number: null } } } } }),
      settles(toService({ number: 80 })),
    ],
    requests: 'C; S; 0',
    of: valueAt('spec.defaultBackend.service.port'),
    end: { number: 80 },
  },
];

export const unionSituations: readonly Situation[] = [
  ...strategySituations,
  ...serviceSituations,
  ...podSituations,
  ...otherSituations,
];
