// Conformance: the kinds that a user's controller may own or reconcile besides the workloads and core kinds. For each, the
// smallest object: what the server fills in, whether a change raises the generation, whether there is a status, and what
// a deletion answers.
import { describe, expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

type Row = {
  readonly kind: string;
  /** Without it the kind is namespaced. */
  readonly cluster?: true;
  readonly at: string;
  readonly made: object;
  readonly filled: object;
  /** A label unless it is given. */
  readonly change?: object;
  /** After the creation and after the change; 1 and 2 unless it is given. */
  readonly generations?: readonly [number | undefined, number | undefined];
  /** Whether there is a status subresource; true unless it is given. */
  readonly status?: false;
  /** What a deletion answers with; a Status unless it is given. */
  readonly deleted?: 'object';
};

const containers = [{ name: 'a', image: 'a:1' }];
const pod = { restartPolicy: 'Never', containers };
const termination = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' };
const filledPod = {
  containers: [{ name: 'a', image: 'a:1', resources: {}, ...termination, imagePullPolicy: 'IfNotPresent' }],
  restartPolicy: 'Never',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};
const labels = { a: 'b' };
const backend = { service: { name: 'a', port: { number: 80 } } };
const none = [undefined, undefined] as const;

const rows: readonly Row[] = [
  {
    kind: 'PersistentVolumeClaim',
    at: '/api/v1/persistentvolumeclaims',
    generations: none,
    deleted: 'object',
    made: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    filled: { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
  },
  {
    kind: 'PersistentVolume',
    at: '/api/v1/persistentvolumes',
    cluster: true,
    generations: none,
    deleted: 'object',
    made: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } } },
    filled: {
      spec: { hostPath: { path: '/a', type: '' }, persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
  },
  {
    kind: 'Node',
    at: '/api/v1/nodes',
    cluster: true,
    generations: none,
    made: { spec: { providerID: 'a' } },
    filled: { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } },
    change: { spec: { unschedulable: true } },
  },
  {
    kind: 'ResourceQuota',
    at: '/api/v1/resourcequotas',
    generations: none,
    deleted: 'object',
    made: { spec: { hard: { pods: '5' } } },
    filled: { spec: { hard: { pods: '5' } }, status: {} },
    change: { spec: { hard: { pods: '6' } } },
  },
  {
    kind: 'LimitRange',
    at: '/api/v1/limitranges',
    generations: none,
    status: false,
    made: { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } },
    filled: { spec: { limits: [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }] } },
  },
  {
    kind: 'DaemonSet',
    at: '/apis/apps/v1/daemonsets',
    made: { spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } } },
    filled: {
      spec: {
        template: { spec: { ...filledPod, restartPolicy: 'Always' } },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
        revisionHistoryLimit: 10,
      },
      status: { numberReady: 0 },
    },
    change: { spec: { minReadySeconds: 3 } },
  },
  {
    kind: 'Job',
    at: '/apis/batch/v1/jobs',
    deleted: 'object',
    made: { spec: { template: { spec: pod } } },
    filled: {
      metadata: { labels: { 'job-name': 'one', 'batch.kubernetes.io/job-name': 'one' } },
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        manualSelector: false,
        completionMode: 'NonIndexed',
        suspend: false,
        podReplacementPolicy: 'TerminatingOrFailed',
        template: { metadata: { labels: { 'job-name': 'one' } }, spec: filledPod },
      },
      status: {},
    },
    change: { spec: { backoffLimit: 2 } },
  },
  {
    kind: 'CronJob',
    at: '/apis/batch/v1/cronjobs',
    made: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: pod } } } } },
    filled: {
      spec: {
        concurrencyPolicy: 'Allow',
        suspend: false,
        jobTemplate: { metadata: {}, spec: { template: { metadata: {}, spec: filledPod } } },
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      },
      status: {},
    },
    change: { spec: { suspend: true } },
  },
  {
    kind: 'Ingress',
    at: '/apis/networking.k8s.io/v1/ingresses',
    made: { spec: { defaultBackend: backend } },
    filled: { status: { loadBalancer: {} } },
    change: { spec: { ingressClassName: 'x' } },
  },
  {
    kind: 'IngressClass',
    at: '/apis/networking.k8s.io/v1/ingressclasses',
    cluster: true,
    status: false,
    made: { spec: { controller: 'example.com/x' } },
    filled: { spec: { controller: 'example.com/x' } },
    change: { spec: { parameters: { kind: 'X', name: 'y' } } },
  },
  {
    kind: 'NetworkPolicy',
    at: '/apis/networking.k8s.io/v1/networkpolicies',
    status: false,
    made: { spec: { egress: [{ ports: [{ port: 53 }] }] } },
    filled: {
      spec: {
        podSelector: {},
        egress: [{ ports: [{ protocol: 'TCP', port: 53 }] }],
        policyTypes: ['Ingress', 'Egress'],
      },
    },
    change: { spec: { policyTypes: ['Egress'] } },
  },
  {
    kind: 'HorizontalPodAutoscaler',
    at: '/apis/autoscaling/v2/horizontalpodautoscalers',
    generations: none,
    made: { spec: { scaleTargetRef: { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' }, maxReplicas: 3 } },
    filled: {
      spec: {
        minReplicas: 1,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
        ],
      },
      status: { desiredReplicas: 0, currentMetrics: null },
    },
    change: { spec: { maxReplicas: 4 } },
  },
  {
    kind: 'PodDisruptionBudget',
    at: '/apis/policy/v1/poddisruptionbudgets',
    made: { spec: { minAvailable: 1, selector: { matchLabels: labels } } },
    filled: { status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 } },
    change: { spec: { minAvailable: 2 } },
  },
  {
    kind: 'StorageClass',
    at: '/apis/storage.k8s.io/v1/storageclasses',
    cluster: true,
    generations: none,
    status: false,
    deleted: 'object',
    made: { provisioner: 'example.com/x' },
    filled: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
    change: { allowVolumeExpansion: true },
  },
  {
    kind: 'PriorityClass',
    at: '/apis/scheduling.k8s.io/v1/priorityclasses',
    cluster: true,
    generations: [1, 1],
    status: false,
    made: { value: 5 },
    filled: { preemptionPolicy: 'PreemptLowerPriority' },
    change: { description: 'x' },
  },
];

const { wire, namespace } = await useSuite();

describe.each(rows)('$kind', ({
  kind,
  cluster,
  at,
  made,
  filled,
  change = { metadata: { labels } },
  generations = [1, 2],
  status = true,
  deleted = 'Status',
}) => {
  /** The collection, and a name that is free on a server that others use. */
  async function place(): Promise<{ readonly collection: string; readonly name: string }> {
    const ns = await namespace();
    if (cluster === true) return { collection: at, name: ns };
    const [, root = '', plural = ''] = /^(.*)\/([a-z]+)$/.exec(at) ?? [];
    return { collection: `${root}/namespaces/${ns}/${plural}`, name: 'one' };
  }

  it('the server fills in its defaults, a change raises the generation where the kind has one, it has a status subresource or none, and a deletion answers with the object or a Status', async () => {
    const { collection, name } = await place();
    const created = await wire.post(collection, { metadata: { name }, ...made });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({ kind, ...filled });
    const changed = await wire.mergePatch(`${collection}/${name}`, change);
    expect(changed.status, changed.text).toBe(200);
    expect([created.body.metadata?.generation, changed.body.metadata?.generation]).toEqual(generations);
    const written = await wire.mergePatch(`${collection}/${name}/status`, { metadata: { labels } });
    expect(written.status).toBe(status ? 200 : 404);
    const gone = await wire.remove(`${collection}/${name}`);
    expect(gone.status).toBe(200);
    expect(gone.body).toMatchObject({ kind: deleted === 'Status' ? 'Status' : kind });
  });

  it('an apply owns the fields that it names and no default, and the same apply again changes nothing', async () => {
    const { collection, name } = await place();
    const [, group = '', version = ''] = /^\/api(?:s\/([^/]+))?\/([^/]+)\//.exec(at) ?? [];
    const object = { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata: { name }, ...made };
    const path = `${collection}/${name}`;
    const first = await wire.apply(path, 'alpha', object);
    expect(first.status, first.text).toBe(201);
    const again = await wire.apply(path, 'alpha', object);
    // A controller of the cluster may write to the object between the two, which changes its version.
    expect(again.body.metadata?.generation).toBe(first.body.metadata?.generation);
    const [entry] = first.body.metadata?.managedFields ?? [];
    expect(again.body.metadata?.managedFields).toContainEqual(entry);
    expect(entry).toMatchObject({ manager: 'alpha', operation: 'Apply' });
    const named = Object.keys(made).map((field) => `f:${field}`);
    expect(Object.keys(Object(entry?.fieldsV1)).sort()).toEqual(named.sort());
    await wire.remove(path);
  });
});

it.each([
  ['a', 201],
  ['a-b', 201],
  ['a.example.com', 201],
  ['a.bc', 201],
  ['a.b', 422],
  ['a.b1', 422],
  ['-a', 422],
  ['a_b', 422],
])('the format hostname: %s is answered with %d', async (host, status) => {
  const ns = await namespace();
  const made = await wire.post(gadgets(ns), gadget('one', { size: 1, host }));
  expect(made.status, made.text).toBe(status);
});

it.each([
  ['*.a-b.example.com', []],
  ['A_b', ['spec.rules[0].host']],
  ['a.*.example.com', ['spec.rules[0].host']],
  ['192.0.2.1', ['spec.rules[0].host']],
])('an Ingress with the host %s is rejected at the fields %j', async (host, fields) => {
  const ns = await namespace();
  const rules = [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }];
  const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'a' }, spec: { rules } };
  const { body } = await wire.post(`/apis/networking.k8s.io/v1/namespaces/${ns}/ingresses`, ingress);
  expect((body.details?.causes ?? []).map(({ field }) => field)).toEqual(fields);
});
