// Conformance: children that a cluster refuses (K14). Each row has the fields and the reasons of the causes; 400 is a body
// that cannot be read.
import { expect, it } from 'vitest';
import { useSuite } from './suite.ts';

const { wire, namespace } = await useSuite();

const labels = { app: 'a' };
const container = { name: 'a', image: 'i' };
const workload = (more: object = {}, pod: object = {}) => ({
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [container], ...pod } },
  ...more,
});
const job = (more: object = {}) => ({
  template: { spec: { containers: [container], restartPolicy: 'Never' } },
  ...more,
});
const cron = (schedule: string, more: object = {}) => ({ schedule, jobTemplate: { spec: job() }, ...more });
const svc = (more: object) => ({ ports: [{ port: 80 }], ...more });
const claim = (more: object) => ({
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
  ...more,
});
const backend = { service: { name: 's', port: { number: 80 } } };
const routed = (path: object) => ({ rules: [{ http: { paths: [{ ...path, backend }] } }] });
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' };
const hpa = (more: object) => ({ scaleTargetRef, maxReplicas: 3, ...more });
const limited = (limits: object, requests: object = {}) => ({ resources: { limits, requests } });
const env = (variable: object) => ({ env: [{ name: 'A', ...variable }] });
const fieldRef = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } });
const scratch = (name: string) => ({ name, emptyDir: {} });
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

/** What is wrong, the content, and the causes. */
type Row = readonly [what: string, content: object, causes: string];

/** Of the container of a Deployment, with the causes below it. */
const ofContainers: readonly Row[] = [
  ['requests above limits', limited({ cpu: '1' }, { cpu: '2' }), 'resources.requests Invalid'],
  ['an unknown resource', limited({ cpus: '1' }), 'resources.limits[cpus] Invalid'],
  ['a negative amount', limited({ cpu: '-1' }), 'resources.limits[cpu] Invalid'],
  ['a variable without a name', { env: [{ name: '', value: 'x' }] }, 'env[0].name Required'],
  [
    'a variable with value and valueFrom',
    env({ ...fieldRef('metadata.name'), value: 'x' }),
    'env[0].valueFrom Invalid',
  ],
  ['a variable of an unknown field', env(fieldRef('metadata.nme')), 'env[0].valueFrom.fieldRef.fieldPath Invalid'],
  [
    'a variable from a Secret without a key',
    env({ valueFrom: { secretKeyRef: { name: 's', key: '' } } }),
    'env[0].valueFrom.secretKeyRef.key Required',
  ],
  ['variables from nothing', { envFrom: [{}] }, 'envFrom Invalid'],
  [
    'a probe with two handlers',
    { livenessProbe: { httpGet: { port: 80 }, tcpSocket: { port: 80 } } },
    'livenessProbe.tcpSocket Forbidden',
  ],
  ['a probe without a handler', { readinessProbe: { periodSeconds: 5 } }, 'readinessProbe Required'],
  [
    'a liveness probe that needs two successes',
    { livenessProbe: { tcpSocket: { port: 80 }, successThreshold: 2 } },
    'livenessProbe.successThreshold Invalid',
  ],
  ['a probe of port 0', { livenessProbe: { httpGet: { port: 0 } } }, 'livenessProbe.httpGet.port Invalid'],
  ['an unknown pull policy', { imagePullPolicy: 'Sometimes' }, 'imagePullPolicy NotSupported'],
  [
    'a port of an unknown protocol',
    { ports: [{ containerPort: 80, protocol: 'HTTP' }] },
    'ports[0].protocol NotSupported',
  ],
  ['a negative user', { securityContext: { runAsUser: -1 } }, 'securityContext.runAsUser Invalid'],
];

/** Of the pods of a Deployment, with the causes below their spec. */
const ofPods: readonly Row[] = [
  [
    'a volume with two sources',
    { volumes: [{ ...scratch('v'), configMap: { name: 'c' } }] },
    'volumes[0].configMap Forbidden',
  ],
  ['two volumes of one name', { volumes: [scratch('v'), scratch('v')] }, 'volumes[1].name Duplicate'],
  ['a volume name with a dot', { volumes: [scratch('a.b')] }, 'volumes[0].name Invalid'],
  [
    'a ConfigMap volume without a name',
    { volumes: [{ name: 'v', configMap: {} }] },
    'volumes[0].configMap.name Required',
  ],
  [
    'a file mode beyond 0777',
    { volumes: [{ name: 'v', configMap: { name: 'c', defaultMode: 1000 } }] },
    'volumes[0].configMap.defaultMode Invalid',
  ],
  [
    'a mount of an absolute path in the volume',
    {
      volumes: [scratch('v')],
      containers: [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/v', subPath: '/x' }] }],
    },
    'containers[0].volumeMounts.subPath Invalid',
  ],
  [
    'an init container with a probe',
    { initContainers: [{ name: 'b', image: 'i', livenessProbe: { tcpSocket: { port: 80 } } }] },
    'initContainers[0].livenessProbe Forbidden',
  ],
  ['a toleration without key and operator', { tolerations: [{ value: 'x' }] }, 'tolerations[0].operator Invalid'],
  [
    'an affinity weight of 0',
    { affinity: { podAntiAffinity: { [preferred]: [{ weight: 0, podAffinityTerm: { topologyKey: 'k' } }] } } },
    `affinity.podAntiAffinity.${preferred}[0].weight Invalid`,
  ],
  [
    'a spread constraint without a key',
    { topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] },
    'topologySpreadConstraints[0].topologyKey Required',
  ],
  ['a DNS policy of None without servers', { dnsPolicy: 'None' }, 'dnsConfig Required'],
  ['a service account that is no name', { serviceAccountName: 'A b' }, 'serviceAccountName Invalid'],
  ['a host alias that is no address', { hostAliases: [{ ip: 'x', hostnames: ['a'] }] }, 'hostAliases[0].ip Invalid'],
];

/** Of a whole spec, with the causes below it, by collection. */
const ofSpecs: Readonly<Record<string, readonly Row[]>> = {
  'apps/v1/deployments': [
    [
      'Recreate with rollingUpdate',
      workload({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
      'strategy.rollingUpdate Forbidden',
    ],
    ['an unknown strategy', workload({ strategy: { type: 'BlueGreen' } }), 'strategy NotSupported'],
    [
      'maxSurge and maxUnavailable of 0',
      workload({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
      'strategy.rollingUpdate.maxUnavailable Invalid',
    ],
    [
      'a deadline not after minReadySeconds',
      workload({ minReadySeconds: 10, progressDeadlineSeconds: 5 }),
      'progressDeadlineSeconds Invalid',
    ],
    [
      'labels that the selector does not select',
      workload({ selector: { matchLabels: { app: 'b' } } }),
      'template.metadata.labels Invalid',
    ],
  ],
  'apps/v1/statefulsets': [
    [
      'OnDelete with rollingUpdate',
      workload({ serviceName: 's', updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } }),
      'updateStrategy.rollingUpdate Invalid',
    ],
    [
      'a claim template without a size',
      workload({
        serviceName: 's',
        volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'] } }],
      }),
      'volumeClaimTemplates[0].spec.resources[storage] Required',
    ],
    [
      'an unknown pod management',
      workload({ serviceName: 's', podManagementPolicy: 'Any' }),
      'podManagementPolicy Invalid',
    ],
  ],
  'apps/v1/daemonsets': [
    [
      'maxSurge beside maxUnavailable',
      workload({ updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
      'updateStrategy.rollingUpdate.maxSurge Invalid',
    ],
  ],
  'batch/v1/jobs': [
    ['negative parallelism', job({ parallelism: -1 }), 'parallelism Invalid'],
    [
      'a limit of failed indexes without one for each',
      job({ completionMode: 'Indexed', completions: 1, maxFailedIndexes: 1 }),
      'backoffLimitPerIndex Required',
    ],
  ],
  'batch/v1/cronjobs': [
    ['a schedule of four fields', cron('* * * *'), 'schedule Invalid'],
    ['an unknown time zone', cron('* * * * *', { timeZone: 'Mars/Olympus' }), 'timeZone Invalid'],
    [
      'an unknown concurrency policy',
      cron('* * * * *', { concurrencyPolicy: 'Maybe' }),
      'concurrencyPolicy NotSupported',
    ],
  ],
  'v1/services': [
    ['externalTrafficPolicy on ClusterIP', svc({ externalTrafficPolicy: 'Local' }), 'externalTrafficPolicy Invalid'],
    ['an unknown type', svc({ type: 'Public' }), 'type NotSupported'],
    ['a cluster address that is none', svc({ clusterIP: '1.2.3' }), 'clusterIPs[0] Invalid'],
    ['the same port twice', svc({ ports: ['a', 'b'].map((name) => ({ name, port: 80 })) }), 'ports[1] Duplicate'],
    [
      'source ranges without a load balancer',
      svc({ loadBalancerSourceRanges: ['10.0.0.0/8'] }),
      'LoadBalancerSourceRanges Forbidden',
    ],
  ],
  'networking.k8s.io/v1/ingresses': [
    ['a path without a type', routed({ path: '/' }), 'rules[0].http.paths[0].pathType Required'],
    ['a relative path', routed({ path: 'x', pathType: 'Prefix' }), 'rules[0].http.paths[0].path Invalid'],
    [
      'a port with name and number',
      { defaultBackend: { service: { name: 's', port: { name: 'http', number: 80 } } } },
      'defaultBackend Invalid',
    ],
  ],
  'networking.k8s.io/v1/networkpolicies': [
    [
      'a range that is none',
      { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0' } }] }] },
      'egress[0].to[0].ipBlock.cidr Invalid',
    ],
    [
      'an exception outside of its range',
      { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }] }] },
      'egress[0].to[0].ipBlock.except[0] Invalid',
    ],
    [
      'an end of ports before their begin',
      { podSelector: {}, ingress: [{ ports: [{ port: 90, endPort: 80 }] }] },
      'ingress[0].ports[0].endPort Invalid',
    ],
  ],
  'policy/v1/poddisruptionbudgets': [
    ['more than 100%', { minAvailable: '101%', selector: { matchLabels: labels } }, 'minAvailable Invalid'],
  ],
  'autoscaling/v2/horizontalpodautoscalers': [
    ['fewer maxReplicas than minReplicas', hpa({ minReplicas: 5 }), 'maxReplicas Invalid'],
    ['a metric without its source', hpa({ metrics: [{ type: 'Pods' }] }), 'metrics[0].pods Required'],
  ],
  'coordination.k8s.io/v1/leases': [
    ['a lease of 0 seconds', { leaseDurationSeconds: 0 }, 'leaseDurationSeconds Invalid'],
  ],
  'v1/persistentvolumeclaims': [
    ['no access mode', claim({ accessModes: [] }), 'accessModes Required'],
    ['a claim of 0 bytes', claim({ resources: { requests: { storage: '0' } } }), 'resources[storage] Invalid'],
  ],
  'v1/resourcequotas': [['an unknown resource to count', { hard: { widgets: '1' } }, 'hard[widgets] Invalid']],
};

type Refusal = readonly [what: string, at: string, content: object, causes: string];

const others: readonly Refusal[] = [
  ['neither rules nor a default backend', 'networking.k8s.io/v1/ingresses', { spec: {} }, 'spec Invalid'],
  [
    'minAvailable and maxUnavailable',
    'policy/v1/poddisruptionbudgets',
    { spec: { minAvailable: 1, maxUnavailable: 1, selector: { matchLabels: labels } } },
    'spec Invalid',
  ],
  [
    'kubernetes.io/tls without keys',
    'v1/secrets',
    { type: 'kubernetes.io/tls', data: {} },
    'data[tls.crt] Required, data[tls.key] Required',
  ],
  [
    'a time with milliseconds',
    'coordination.k8s.io/v1/leases',
    { spec: { renewTime: '2026-01-01T00:00:00.123Z' } },
    '400',
  ],
  ['a time at 24:00', 'coordination.k8s.io/v1/leases', { spec: { renewTime: '2026-01-01T24:00:00.000000Z' } }, '400'],
  [
    'a rule without verbs',
    'rbac.authorization.k8s.io/v1/roles',
    { rules: [{ apiGroups: [''], resources: ['pods'], verbs: [] }] },
    'rules[0].verbs Required',
  ],
  [
    'a subject of an unknown kind',
    'rbac.authorization.k8s.io/v1/rolebindings',
    { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'Robot', name: 'x' }] },
    'subjects[0].kind NotSupported',
  ],
  [
    'a default above the maximum',
    'v1/limitranges',
    { spec: { limits: [{ type: 'Container', default: { cpu: '2' }, max: { cpu: '1' } }] } },
    'spec.limits[0].defaultRequest[cpu] Invalid, spec.limits[0].default[cpu] Invalid',
  ],
];

const inTemplate = (below: string, rows: readonly Row[], specOf: (content: object) => object): readonly Refusal[] =>
  rows.map(([what, content, cause]) => [
    ...([what, 'apps/v1/deployments', { spec: specOf(content) }] as const),
    `spec.template.spec.${below}${cause}`,
  ]);
const rows: readonly Refusal[] = [
  ...inTemplate('containers[0].', ofContainers, (fields) =>
    workload({}, { containers: [{ ...container, ...fields }] }),
  ),
  ...inTemplate('', ofPods, (fields) => workload({}, fields)),
  ...Object.entries(ofSpecs).flatMap(([at, of]) =>
    of.map(([what, spec, cause]): Refusal => [what, at, { spec }, `spec.${cause}`]),
  ),
  ...others,
];

it.each(rows)('K14: %s in %s is refused', async (_what, at, content, causes) => {
  const [group = '', version = '', plural = ''] = at.split('/').length === 2 ? ['', ...at.split('/')] : at.split('/');
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const path = `${root}/namespaces/${await namespace()}/${plural}`;
  const { status, body } = await wire.post(path, { metadata: { name: 'one' }, ...content });
  const found = body.details?.causes?.map(({ field, reason = '' }) => `${field} ${reason.replace('FieldValue', '')}`);
  expect(status === 400 ? '400' : [...new Set(found)].toSorted().join(', ')).toBe(causes);
});

it('K14: a claim of 2Gi cannot become one of 1Gi, and a Service keeps its address', async () => {
  const core = `/api/v1/namespaces/${await namespace()}`;
  const sized = (storage: string) => ({ spec: { resources: { requests: { storage } } } });
  const claims = `${core}/persistentvolumeclaims`;
  await wire.post(claims, {
    metadata: { name: 'one' },
    spec: { accessModes: ['ReadWriteOnce'], ...sized('2Gi').spec },
  });
  const shrunk = await wire.mergePatch(`${claims}/one`, sized('1Gi'));
  expect(shrunk.body.details?.causes).toMatchObject([{ field: 'spec', reason: 'FieldValueForbidden' }]);
  await wire.post(`${core}/services`, { metadata: { name: 'one' }, spec: { ports: [{ port: 80 }] } });
  const headless = await wire.mergePatch(`${core}/services/one`, { spec: { clusterIP: 'None' } });
  expect(headless.body.details?.causes).toMatchObject([{ field: 'spec.clusterIPs[0]', reason: 'FieldValueInvalid' }]);
});
