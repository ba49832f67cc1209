// An object of each kind of `outrigger/kubernetes` that every API server accepts, with most of the fields that a
// controller sets in a child. The comparison of the servers changes them at random.
import type { Json, JsonObject } from '@outrigger/apiserver/json';

/** An accepted object without its name, and where its collection is. */
export type GoodObject = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly content: JsonObject;
  /** The names that the kind requires, such as `plural.group` of a definition; `one` and `two` unless they are given. */
  readonly names?: readonly [string, string];
};

const labels = { app: 'a' };
const selector = { matchLabels: labels };

const container: JsonObject = {
  name: 'main',
  image: 'example.org/main:1',
  command: ['run'],
  ports: [
    { name: 'http', containerPort: 8080, protocol: 'TCP' },
    { containerPort: 53, protocol: 'UDP' },
  ],
  env: [
    { name: 'A', value: 'a' },
    { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'D', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
  ],
  envFrom: [{ prefix: 'P_', configMapRef: { name: 'c' } }],
  resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } },
  volumeMounts: [
    { name: 'config', mountPath: '/config', readOnly: true },
    { name: 'scratch', mountPath: '/scratch', subPath: 'a' },
  ],
  livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 5 },
  readinessProbe: { tcpSocket: { port: 8080 } },
  startupProbe: { exec: { command: ['check'] } },
  lifecycle: { preStop: { exec: { command: ['stop'] } } },
  securityContext: { runAsUser: 1000, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
  imagePullPolicy: 'IfNotPresent',
};

const podSpec: JsonObject = {
  initContainers: [
    { name: 'first', image: 'i' },
    { name: 'side', image: 'i', restartPolicy: 'Always' },
  ],
  containers: [container, { name: 'other', image: 'i' }],
  volumes: [
    { name: 'config', configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } },
    { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
    { name: 'secret', secret: { secretName: 's', defaultMode: 256 } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
    { name: 'host', hostPath: { path: '/var', type: 'Directory' } },
    {
      name: 'mixed',
      projected: {
        sources: [
          { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
          { downwardAPI: { items: [{ path: 'd', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      },
    },
  ],
  nodeSelector: { disk: 'ssd' },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }],
      },
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: selector } },
      ],
    },
  },
  tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 5 }],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
  ],
  securityContext: { fsGroup: 1, runAsUser: 1, supplementalGroups: [2], seccompProfile: { type: 'RuntimeDefault' } },
  serviceAccountName: 'a',
  terminationGracePeriodSeconds: 5,
  hostAliases: [{ ip: '10.0.0.1', hostnames: ['a.example'] }],
  imagePullSecrets: [{ name: 'p' }],
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['10.0.0.2'], searches: ['a.example'], options: [{ name: 'ndots', value: '2' }] },
};

const template: JsonObject = { metadata: { labels, annotations: { note: 'n' } }, spec: podSpec };
const jobTemplate: JsonObject = { ...template, spec: { ...podSpec, restartPolicy: 'Never' } };
const jobSpec: JsonObject = {
  template: jobTemplate,
  parallelism: 1,
  completions: 2,
  completionMode: 'Indexed',
  backoffLimitPerIndex: 1,
  maxFailedIndexes: 1,
  activeDeadlineSeconds: 60,
  ttlSecondsAfterFinished: 5,
  podFailurePolicy: {
    rules: [
      { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [1, 2] } },
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    ],
  },
};

const claimSpec: JsonObject = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'standard',
  resources: { requests: { storage: '1Gi' } },
};

function kind(
  apiVersion: string,
  name: string,
  content: JsonObject,
  { plural = `${name.toLowerCase()}s`, namespaced = true, names }: Partial<GoodObject> = {},
): GoodObject {
  return { kind: name, apiVersion, plural, namespaced, content, ...(names === undefined ? {} : { names }) };
}

const cluster = { namespaced: false };
const rules: Json = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] }];
const subjects: Json = [
  { kind: 'ServiceAccount', name: 'a', namespace: 'b' },
  { kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' },
];

/** One or two objects of each kind. */
export const goodObjects: readonly GoodObject[] = [
  kind('v1', 'ConfigMap', { data: { a: 'b' }, binaryData: { c: 'ZA==' } }),
  kind('v1', 'Secret', { data: { a: 'Yg==' }, type: 'Opaque' }),
  kind('v1', 'Secret', { data: { 'tls.crt': '', 'tls.key': '' }, type: 'kubernetes.io/tls' }),
  kind('v1', 'Secret', { stringData: { username: 'a' }, type: 'kubernetes.io/basic-auth' }),
  kind('v1', 'Event', {
    involvedObject: { kind: 'ConfigMap', name: 'a', namespace: 'compare-event' },
    reason: 'R',
    message: 'm',
    type: 'Normal',
    source: { component: 'c' },
  }),
  kind('v1', 'LimitRange', {
    spec: {
      limits: [
        {
          type: 'Container',
          default: { cpu: '2' },
          defaultRequest: { cpu: '1' },
          max: { cpu: '4' },
          min: { cpu: '100m' },
        },
        { type: 'PersistentVolumeClaim', max: { storage: '2Gi' }, min: { storage: '1Gi' } },
      ],
    },
  }),
  kind('v1', 'Namespace', {}, cluster),
  kind(
    'v1',
    'Node',
    { spec: { taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }], podCIDR: '10.1.0.0/24' } },
    cluster,
  ),
  kind(
    'v1',
    'PersistentVolume',
    {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'x',
        persistentVolumeReclaimPolicy: 'Retain',
        csi: { driver: 'd.example', volumeHandle: 'h' },
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }] },
        },
      },
    },
    cluster,
  ),
  kind('v1', 'PersistentVolumeClaim', { spec: claimSpec }),
  // The in-memory server lets an update give a Pod its node.
  kind('v1', 'Pod', { spec: { ...podSpec, nodeName: 'n' } }),
  kind('v1', 'ResourceQuota', { spec: { hard: { pods: '5', 'requests.cpu': '1' }, scopes: ['NotTerminating'] } }),
  kind('v1', 'Service', {
    spec: {
      selector: labels,
      ports: [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 'dns' },
      ],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } },
    },
  }),
  kind('v1', 'Service', {
    spec: {
      type: 'LoadBalancer',
      ports: [{ port: 80 }],
      externalTrafficPolicy: 'Local',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
    },
  }),
  kind('v1', 'Service', { spec: { type: 'ExternalName', externalName: 'a.example' } }),
  kind('v1', 'Service', { spec: { clusterIP: 'None', ports: [{ port: 80 }], selector: labels } }),
  kind('v1', 'ServiceAccount', { secrets: [{ name: 'a' }], automountServiceAccountToken: false }),
  kind('apps/v1', 'DaemonSet', { spec: { selector, template, updateStrategy: { type: 'RollingUpdate' } } }),
  kind('apps/v1', 'Deployment', {
    spec: {
      replicas: 2,
      selector,
      template,
      minReadySeconds: 1,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 60,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: '25%' } },
    },
  }),
  kind('apps/v1', 'Deployment', { spec: { selector, template, strategy: { type: 'Recreate' } } }),
  kind('apps/v1', 'ReplicaSet', { spec: { replicas: 2, selector, template } }),
  kind('apps/v1', 'StatefulSet', {
    spec: {
      replicas: 2,
      serviceName: 's',
      selector,
      template,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec }],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
    },
  }),
  kind('autoscaling/v2', 'HorizontalPodAutoscaler', {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } },
        {
          type: 'Object',
          object: {
            describedObject: { apiVersion: 'v1', kind: 'Service', name: 's' },
            metric: { name: 'm' },
            target: { type: 'Value', value: '10' },
          },
        },
        { type: 'External', external: { metric: { name: 'e' }, target: { type: 'AverageValue', averageValue: '1' } } },
      ],
      behavior: {
        scaleDown: {
          stabilizationWindowSeconds: 60,
          selectPolicy: 'Max',
          policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }],
        },
      },
    },
  }),
  kind('batch/v1', 'CronJob', {
    spec: {
      schedule: '*/5 * * * *',
      timeZone: 'Etc/UTC',
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: 60,
      successfulJobsHistoryLimit: 1,
      jobTemplate: { spec: { template: jobTemplate, backoffLimit: 1 } },
    },
  }),
  kind('batch/v1', 'Job', { spec: jobSpec }),
  kind(
    'networking.k8s.io/v1',
    'Ingress',
    {
      spec: {
        ingressClassName: 'x',
        tls: [{ hosts: ['a.example'], secretName: 's' }],
        rules: [
          {
            host: 'a.example',
            http: {
              paths: [
                { path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } },
                { path: '/b', pathType: 'Exact', backend: { service: { name: 's', port: { name: 'http' } } } },
              ],
            },
          },
        ],
      },
    },
    { plural: 'ingresses' },
  ),
  kind(
    'networking.k8s.io/v1',
    'IngressClass',
    {
      spec: {
        controller: 'example.com/x',
        parameters: { apiGroup: 'a.example', kind: 'X', name: 'x', scope: 'Cluster' },
      },
    },
    { ...cluster, plural: 'ingressclasses' },
  ),
  kind(
    'networking.k8s.io/v1',
    'NetworkPolicy',
    {
      spec: {
        podSelector: selector,
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          {
            from: [{ podSelector: selector }, { namespaceSelector: {} }],
            ports: [{ port: 80, endPort: 90 }, { port: 'http' }],
          },
        ],
        egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }],
      },
    },
    { plural: 'networkpolicies' },
  ),
  kind('policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: 1, selector } }),
  kind('policy/v1', 'PodDisruptionBudget', {
    spec: { maxUnavailable: '50%', selector, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  }),
  kind('rbac.authorization.k8s.io/v1', 'Role', { rules }),
  kind(
    'rbac.authorization.k8s.io/v1',
    'ClusterRole',
    {
      rules: [
        { nonResourceURLs: ['/healthz'], verbs: ['get'] },
        { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
      ],
    },
    cluster,
  ),
  kind(
    'rbac.authorization.k8s.io/v1',
    'ClusterRole',
    {
      aggregationRule: { clusterRoleSelectors: [selector] },
      rules: [],
    },
    cluster,
  ),
  kind('rbac.authorization.k8s.io/v1', 'RoleBinding', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects,
  }),
  kind(
    'rbac.authorization.k8s.io/v1',
    'ClusterRoleBinding',
    { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }, subjects },
    cluster,
  ),
  kind('coordination.k8s.io/v1', 'Lease', {
    spec: {
      holderIdentity: 'h',
      leaseDurationSeconds: 15,
      leaseTransitions: 1,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:01.000000Z',
    },
  }),
  kind('discovery.k8s.io/v1', 'EndpointSlice', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.1.1'], conditions: { ready: true }, hostname: 'h', nodeName: 'n', zone: 'z' }],
    ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'http' }],
  }),
  kind(
    'scheduling.k8s.io/v1',
    'PriorityClass',
    { value: 5, preemptionPolicy: 'Never' },
    { ...cluster, plural: 'priorityclasses' },
  ),
  kind(
    'storage.k8s.io/v1',
    'StorageClass',
    {
      provisioner: 'example.com/x',
      parameters: { a: 'b' },
      mountOptions: ['ro'],
      volumeBindingMode: 'Immediate',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
    },
    { ...cluster, plural: 'storageclasses' },
  ),
];
