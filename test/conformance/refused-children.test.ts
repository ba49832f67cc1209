// Conformance: children that a cluster refuses (K14). Each row has the fields and the reasons of the causes; 400 is a body
// that cannot be read.
import { expect, it } from 'vitest';
import { useSuite } from './suite.ts';

const { wire, namespace } = await useSuite();

const labels = { app: 'a' };
const container = { name: 'a', image: 'i' };
const pod = (p: object = {}, k: object = {}) => ({ containers: [{ ...container, ...k }], ...p });
const workload = (more: object = {}, p: object = {}, k: object = {}) => ({
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod(p, k) }, ...more },
});
const job = (more: object = {}, p: object = {}) => ({
  spec: { template: { spec: pod({ restartPolicy: 'Never', ...p }) }, ...more },
});
const svc = (s: object) => ({ spec: { ports: [{ port: 80 }], ...s } });
const claim = (s: object) => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...s },
});
const backend = { service: { name: 's', port: { number: 80 } } };
const hpa = (s: object) => ({
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas: 3, ...s },
});
const deployments = 'apps/v1/deployments';
const rows: readonly (readonly [string, string, object, string])[] = [
  [
    'Recreate with rollingUpdate',
    deployments,
    workload({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
    'spec.strategy.rollingUpdate Forbidden',
  ],
  ['an unknown strategy', deployments, workload({ strategy: { type: 'BlueGreen' } }), 'spec.strategy NotSupported'],
  [
    'maxSurge and maxUnavailable of 0',
    deployments,
    workload({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
    'spec.strategy.rollingUpdate.maxUnavailable Invalid',
  ],
  [
    'a deadline not after minReadySeconds',
    deployments,
    workload({ minReadySeconds: 10, progressDeadlineSeconds: 5 }),
    'spec.progressDeadlineSeconds Invalid',
  ],
  [
    'labels that the selector does not select',
    deployments,
    workload({ selector: { matchLabels: { app: 'b' } } }),
    'spec.template.metadata.labels Invalid',
  ],
  [
    'requests above limits',
    deployments,
    workload({}, {}, { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    'spec.template.spec.containers[0].resources.requests Invalid',
  ],
  [
    'an unknown resource',
    deployments,
    workload({}, {}, { resources: { limits: { cpus: '1' } } }),
    'spec.template.spec.containers[0].resources.limits[cpus] Invalid',
  ],
  [
    'a negative amount',
    deployments,
    workload({}, {}, { resources: { limits: { cpu: '-1' } } }),
    'spec.template.spec.containers[0].resources.limits[cpu] Invalid',
  ],
  [
    'a variable without a name',
    deployments,
    workload({}, {}, { env: [{ name: '', value: 'x' }] }),
    'spec.template.spec.containers[0].env[0].name Required',
  ],
  [
    'a variable with value and valueFrom',
    deployments,
    workload({}, {}, { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    'spec.template.spec.containers[0].env[0].valueFrom Invalid',
  ],
  [
    'a variable of an unknown field',
    deployments,
    workload({}, {}, { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.nme' } } }] }),
    'spec.template.spec.containers[0].env[0].valueFrom.fieldRef.fieldPath Invalid',
  ],
  [
    'a variable from a Secret without a key',
    deployments,
    workload({}, {}, { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: '' } } }] }),
    'spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.key Required',
  ],
  [
    'variables from nothing',
    deployments,
    workload({}, {}, { envFrom: [{}] }),
    'spec.template.spec.containers[0].envFrom Invalid',
  ],
  [
    'a volume with two sources',
    deployments,
    workload({}, { volumes: [{ name: 'v', emptyDir: {}, configMap: { name: 'c' } }] }),
    'spec.template.spec.volumes[0].configMap Forbidden',
  ],
  [
    'two volumes of one name',
    deployments,
    workload(
      {},
      {
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'v', emptyDir: {} },
        ],
      },
    ),
    'spec.template.spec.volumes[1].name Duplicate',
  ],
  [
    'a volume name with a dot',
    deployments,
    workload({}, { volumes: [{ name: 'a.b', emptyDir: {} }] }),
    'spec.template.spec.volumes[0].name Invalid',
  ],
  [
    'a ConfigMap volume without a name',
    deployments,
    workload({}, { volumes: [{ name: 'v', configMap: {} }] }),
    'spec.template.spec.volumes[0].configMap.name Required',
  ],
  [
    'a file mode beyond 0777',
    deployments,
    workload({}, { volumes: [{ name: 'v', configMap: { name: 'c', defaultMode: 1000 } }] }),
    'spec.template.spec.volumes[0].configMap.defaultMode Invalid',
  ],
  [
    'a mount of an absolute path in the volume',
    deployments,
    workload(
      {},
      { volumes: [{ name: 'v', emptyDir: {} }] },
      { volumeMounts: [{ name: 'v', mountPath: '/v', subPath: '/x' }] },
    ),
    'spec.template.spec.containers[0].volumeMounts.subPath Invalid',
  ],
  [
    'a probe with two handlers',
    deployments,
    workload({}, {}, { livenessProbe: { httpGet: { port: 80 }, tcpSocket: { port: 80 } } }),
    'spec.template.spec.containers[0].livenessProbe.tcpSocket Forbidden',
  ],
  [
    'a probe without a handler',
    deployments,
    workload({}, {}, { readinessProbe: { periodSeconds: 5 } }),
    'spec.template.spec.containers[0].readinessProbe Required',
  ],
  [
    'a liveness probe that needs two successes',
    deployments,
    workload({}, {}, { livenessProbe: { tcpSocket: { port: 80 }, successThreshold: 2 } }),
    'spec.template.spec.containers[0].livenessProbe.successThreshold Invalid',
  ],
  [
    'a probe of port 0',
    deployments,
    workload({}, {}, { livenessProbe: { httpGet: { port: 0 } } }),
    'spec.template.spec.containers[0].livenessProbe.httpGet.port Invalid',
  ],
  [
    'an unknown pull policy',
    deployments,
    workload({}, {}, { imagePullPolicy: 'Sometimes' }),
    'spec.template.spec.containers[0].imagePullPolicy NotSupported',
  ],
  [
    'a port of an unknown protocol',
    deployments,
    workload({}, {}, { ports: [{ containerPort: 80, protocol: 'HTTP' }] }),
    'spec.template.spec.containers[0].ports[0].protocol NotSupported',
  ],
  [
    'a negative user',
    deployments,
    workload({}, {}, { securityContext: { runAsUser: -1 } }),
    'spec.template.spec.containers[0].securityContext.runAsUser Invalid',
  ],
  [
    'an init container with a probe',
    deployments,
    workload({}, { initContainers: [{ name: 'b', image: 'i', livenessProbe: { tcpSocket: { port: 80 } } }] }),
    'spec.template.spec.initContainers[0].livenessProbe Forbidden',
  ],
  [
    'a toleration without key and operator',
    deployments,
    workload({}, { tolerations: [{ value: 'x' }] }),
    'spec.template.spec.tolerations[0].operator Invalid',
  ],
  [
    'an affinity weight of 0',
    deployments,
    workload(
      {},
      {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: 'k' } }],
          },
        },
      },
    ),
    'spec.template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight Invalid',
  ],
  [
    'a spread constraint without a key',
    deployments,
    workload({}, { topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] }),
    'spec.template.spec.topologySpreadConstraints[0].topologyKey Required',
  ],
  [
    'a DNS policy of None without servers',
    deployments,
    workload({}, { dnsPolicy: 'None' }),
    'spec.template.spec.dnsConfig Required',
  ],
  [
    'a service account that is no name',
    deployments,
    workload({}, { serviceAccountName: 'A b' }),
    'spec.template.spec.serviceAccountName Invalid',
  ],
  [
    'a host alias that is no address',
    deployments,
    workload({}, { hostAliases: [{ ip: 'x', hostnames: ['a'] }] }),
    'spec.template.spec.hostAliases[0].ip Invalid',
  ],
  [
    'OnDelete with rollingUpdate',
    'apps/v1/statefulsets',
    workload({ serviceName: 's', updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } }),
    'spec.updateStrategy.rollingUpdate Invalid',
  ],
  [
    'a claim template without a size',
    'apps/v1/statefulsets',
    workload({
      serviceName: 's',
      volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'] } }],
    }),
    'spec.volumeClaimTemplates[0].spec.resources[storage] Required',
  ],
  [
    'an unknown pod management',
    'apps/v1/statefulsets',
    workload({ serviceName: 's', podManagementPolicy: 'Any' }),
    'spec.podManagementPolicy Invalid',
  ],
  [
    'maxSurge beside maxUnavailable',
    'apps/v1/daemonsets',
    workload({ updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
    'spec.updateStrategy.rollingUpdate.maxSurge Invalid',
  ],
  ['negative parallelism', 'batch/v1/jobs', job({ parallelism: -1 }), 'spec.parallelism Invalid'],
  [
    'a limit of failed indexes without one for each',
    'batch/v1/jobs',
    job({ completionMode: 'Indexed', completions: 1, maxFailedIndexes: 1 }),
    'spec.backoffLimitPerIndex Required',
  ],
  [
    'a schedule of four fields',
    'batch/v1/cronjobs',
    { spec: { schedule: '* * * *', jobTemplate: job() } },
    'spec.schedule Invalid',
  ],
  [
    'an unknown time zone',
    'batch/v1/cronjobs',
    { spec: { schedule: '* * * * *', timeZone: 'Mars/Olympus', jobTemplate: job() } },
    'spec.timeZone Invalid',
  ],
  [
    'an unknown concurrency policy',
    'batch/v1/cronjobs',
    { spec: { schedule: '* * * * *', concurrencyPolicy: 'Maybe', jobTemplate: job() } },
    'spec.concurrencyPolicy NotSupported',
  ],
  [
    'externalTrafficPolicy on ClusterIP',
    'v1/services',
    svc({ externalTrafficPolicy: 'Local' }),
    'spec.externalTrafficPolicy Invalid',
  ],
  ['an unknown type', 'v1/services', svc({ type: 'Public' }), 'spec.type NotSupported'],
  ['a cluster address that is none', 'v1/services', svc({ clusterIP: '1.2.3' }), 'spec.clusterIPs[0] Invalid'],
  [
    'the same port twice',
    'v1/services',
    svc({
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 80 },
      ],
    }),
    'spec.ports[1] Duplicate',
  ],
  [
    'source ranges without a load balancer',
    'v1/services',
    svc({ loadBalancerSourceRanges: ['10.0.0.0/8'] }),
    'spec.LoadBalancerSourceRanges Forbidden',
  ],
  ['neither rules nor a default backend', 'networking.k8s.io/v1/ingresses', { spec: {} }, 'spec Invalid'],
  [
    'a path without a type',
    'networking.k8s.io/v1/ingresses',
    { spec: { rules: [{ http: { paths: [{ path: '/', backend }] } }] } },
    'spec.rules[0].http.paths[0].pathType Required',
  ],
  [
    'a relative path',
    'networking.k8s.io/v1/ingresses',
    { spec: { rules: [{ http: { paths: [{ path: 'x', pathType: 'Prefix', backend }] } }] } },
    'spec.rules[0].http.paths[0].path Invalid',
  ],
  [
    'a port with name and number',
    'networking.k8s.io/v1/ingresses',
    { spec: { defaultBackend: { service: { name: 's', port: { name: 'http', number: 80 } } } } },
    'spec.defaultBackend Invalid',
  ],
  [
    'a range that is none',
    'networking.k8s.io/v1/networkpolicies',
    { spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0' } }] }] } },
    'spec.egress[0].to[0].ipBlock.cidr Invalid',
  ],
  [
    'an exception outside of its range',
    'networking.k8s.io/v1/networkpolicies',
    { spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }] }] } },
    'spec.egress[0].to[0].ipBlock.except[0] Invalid',
  ],
  [
    'an end of ports before their begin',
    'networking.k8s.io/v1/networkpolicies',
    { spec: { podSelector: {}, ingress: [{ ports: [{ port: 90, endPort: 80 }] }] } },
    'spec.ingress[0].ports[0].endPort Invalid',
  ],
  [
    'minAvailable and maxUnavailable',
    'policy/v1/poddisruptionbudgets',
    { spec: { minAvailable: 1, maxUnavailable: 1, selector: { matchLabels: labels } } },
    'spec Invalid',
  ],
  [
    'more than 100%',
    'policy/v1/poddisruptionbudgets',
    { spec: { minAvailable: '101%', selector: { matchLabels: labels } } },
    'spec.minAvailable Invalid',
  ],
  [
    'fewer maxReplicas than minReplicas',
    'autoscaling/v2/horizontalpodautoscalers',
    hpa({ minReplicas: 5 }),
    'spec.maxReplicas Invalid',
  ],
  [
    'a metric without its source',
    'autoscaling/v2/horizontalpodautoscalers',
    hpa({ metrics: [{ type: 'Pods' }] }),
    'spec.metrics[0].pods Required',
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
  [
    'a lease of 0 seconds',
    'coordination.k8s.io/v1/leases',
    { spec: { leaseDurationSeconds: 0 } },
    'spec.leaseDurationSeconds Invalid',
  ],
  ['no access mode', 'v1/persistentvolumeclaims', claim({ accessModes: [] }), 'spec.accessModes Required'],
  [
    'a claim of 0 bytes',
    'v1/persistentvolumeclaims',
    claim({ resources: { requests: { storage: '0' } } }),
    'spec.resources[storage] Invalid',
  ],
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
    'an unknown resource to count',
    'v1/resourcequotas',
    { spec: { hard: { widgets: '1' } } },
    'spec.hard[widgets] Invalid',
  ],
  [
    'a default above the maximum',
    'v1/limitranges',
    { spec: { limits: [{ type: 'Container', default: { cpu: '2' }, max: { cpu: '1' } }] } },
    'spec.limits[0].defaultRequest[cpu] Invalid, spec.limits[0].default[cpu] Invalid',
  ],
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
