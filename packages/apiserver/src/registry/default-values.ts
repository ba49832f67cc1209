// The defaults of built-in types, by the names of their published schemas (defaults.go of Kubernetes' APIs). They are
// filled in wherever an object has the type, such as the probes of each container of each pod template.
import { getIn, getList, getMap, getString, isList, isObject, type Json, type JsonObject } from '../json.ts';
import { fieldSchema, type Schema } from '../schema/schema.ts';
import { storageVersion } from './definition.ts';

/** A value for an absent field, or a function of the object and of what the field has. */
type Default = Json | ((object: JsonObject, given: Json | undefined) => Json | undefined);

/** Fills in the defaults of a value, and of all that is in it. */
export function fillTypeDefaults(value: Json, schema: Schema): Json {
  if (isList(value)) return value.map((item) => fillTypeDefaults(item, schema.items ?? {}));
  if (!isObject(value)) return value;
  const filled: Record<string, Json> = { ...value };
  for (const [field, content] of Object.entries(defaults[schema.typeName ?? ''] ?? {})) {
    const found =
      typeof content === 'function'
        ? content(filled, filled[field])
        : ((filled[field] || undefined) ?? zeroOr(filled[field], content));
    if (found !== undefined) filled[field] = found;
  }
  const fields = Object.entries(filled).map(([field, content]): [string, Json] => {
    const below = schema.properties === undefined ? undefined : fieldSchema(schema, field);
    return [field, below === undefined ? content : fillTypeDefaults(content, below)];
  });
  return Object.fromEntries(fields);
}

/** An empty text counts as absent. A number or a boolean that is given does not. */
function zeroOr(given: Json | undefined, content: Json): Json {
  return given === undefined || given === '' ? content : given;
}

/** The default of a number whose 0 counts as absent. */
function unlessZero(content: number): Default {
  return (_, given) => given || content;
}

/** The default of a value of which Go has a pointer: an empty text is one. */
function ifAbsent(content: Json): Default {
  return (_, given) => given ?? content;
}

/** A default of an object whose type is this one. An absent type counts. */
function ofType(type: string, content: JsonObject): Default {
  return (object, given) => given ?? (getString(object, 'type') === type ? content : undefined);
}

const fileMode = { defaultMode: 420 };
const rollingUpdate = { type: 'RollingUpdate', rollingUpdate: ofType('RollingUpdate', {}) };

/** An image without a tag, or with the tag `latest`, is always pulled. */
const pullPolicy: Default = (container, given) => {
  const image = getString(container, 'image');
  const tag = /:([^/@]+)$/.exec(image)?.[1] ?? (image.includes('@') ? 'digest' : 'latest');
  return given || (tag === 'latest' ? 'Always' : 'IfNotPresent');
};

const cpuMetric: JsonObject = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};
const fastest = { type: 'Percent', value: 100, periodSeconds: 15 };

/** The rules of scaling in a direction, if there are rules in one of them. */
function scaling(rules: JsonObject): Default {
  return (_, given) => ({ selectPolicy: 'Max', ...rules, ...getMap(given) });
}

/** Resources of a limit, those that another field of it has as well. */
function asIn(...fields: readonly string[]): Default {
  return (limit, given) => {
    if (limit.type !== 'Container') return given;
    const merged = Object.assign({}, ...fields.map((field) => getMap(limit, field)), getMap(given));
    return Object.keys(merged).length === 0 ? given : merged;
  };
}

/** The ranges of addresses of a node: the first is the one that the older field has. */
const nodeRanges: Default = ({ podCIDR }, given) => {
  if (typeof podCIDR !== 'string' || podCIDR === '') return given;
  return isList(given) && given[0] === podCIDR ? given : [podCIDR];
};

/** A Namespace has its name as a label. */
const namespaceMetadata: Default = (_, given = {}) => {
  const name = { 'kubernetes.io/metadata.name': getString(given, 'name') };
  return { ...getMap(given), labels: { ...getMap(given, 'labels'), ...name } };
};

/** A Job without labels has those of its template. */
const jobMetadata: Default = ({ spec }, given = {}) => {
  const labels = getIn(spec, 'template', 'metadata', 'labels');
  return labels === undefined ? given : { labels, ...getMap(given) };
};

const roleGroup = 'rbac.authorization.k8s.io';

const kindsWithStatus = [
  ...['Pod', 'Service', 'PersistentVolume', 'Node', 'ResourceQuota', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  ...['DaemonSet', 'CronJob', 'Ingress', 'HorizontalPodAutoscaler', 'PodDisruptionBudget'],
  'ValidatingAdmissionPolicy',
];

const defaults: Readonly<Record<string, Readonly<Record<string, Default>>>> = {
  // The status of a kind, with the fields that are not omitted if they are empty.
  ...Object.fromEntries(kindsWithStatus.map((kind) => [kind, { status: {} }])),
  Namespace: { metadata: namespaceMetadata, status: {} },
  Job: { metadata: jobMetadata, status: {} },
  CustomResourceDefinition: {
    status: ({ spec = {} }, given = {}) => ({ storedVersions: [storageVersion(getMap(spec))], ...getMap(given) }),
  },
  // Simulated pods have one class, which a status does not change.
  PodStatus: { qosClass: () => 'BestEffort' },
  NamespaceStatus: { phase: 'Active' },
  ServiceStatus: { loadBalancer: {} },
  LoadBalancerIngress: { ipMode: ({ ip }, given) => given ?? (ip ? 'VIP' : undefined) },
  IngressStatus: { loadBalancer: {} },
  PersistentVolumeClaimStatus: { phase: 'Pending' },
  PersistentVolumeStatus: { phase: 'Pending' },
  ReplicaSetStatus: { replicas: 0 },
  StatefulSetStatus: { replicas: 0, availableReplicas: 0 },
  DaemonSetStatus: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  HorizontalPodAutoscalerStatus: { desiredReplicas: 0, currentMetrics: null },
  PodDisruptionBudgetStatus: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  NodeStatus: { daemonEndpoints: {}, nodeInfo: {} },
  NodeDaemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  NodeSystemInfo: Object.fromEntries(
    [
      ...['machineID', 'systemUUID', 'bootID', 'kernelVersion', 'osImage', 'containerRuntimeVersion'],
      ...['kubeletVersion', 'kubeProxyVersion', 'operatingSystem', 'architecture'],
    ].map((field) => [field, '']),
  ),
  PodTemplateSpec: { metadata: {}, spec: {} },
  RoleBinding: { roleRef: {} },
  ClusterRoleBinding: { roleRef: {} },
  // The first range of addresses of a node has a field of its own as well.
  NodeSpec: { podCIDRs: nodeRanges },
  PodSpec: {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    // The older name of the same field.
    serviceAccountName: ({ serviceAccount }, given) => given || serviceAccount,
    serviceAccount: ({ serviceAccountName }) => serviceAccountName,
  },
  Container: {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicy,
    resources: {},
  },
  ContainerPort: { protocol: 'TCP' },
  ObjectFieldSelector: { apiVersion: 'v1' },
  ResourceFieldSelector: { divisor: '0' },
  Probe: {
    timeoutSeconds: unlessZero(1),
    periodSeconds: unlessZero(10),
    successThreshold: unlessZero(1),
    failureThreshold: unlessZero(3),
  },
  HTTPGetAction: { path: '/', scheme: 'HTTP' },
  GRPCAction: { service: '' },
  ConfigMapVolumeSource: fileMode,
  SecretVolumeSource: fileMode,
  ProjectedVolumeSource: fileMode,
  DownwardAPIVolumeSource: fileMode,
  ServiceAccountTokenProjection: { expirationSeconds: 3600 },
  HostPathVolumeSource: { type: '' },
  DeploymentSpec: { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: {}, template: {} },
  DeploymentStrategy: rollingUpdate,
  RollingUpdateDeployment: { maxUnavailable: ifAbsent('25%'), maxSurge: ifAbsent('25%') },
  ReplicaSetSpec: { replicas: 1, template: {} },
  PersistentVolumeClaim: { spec: {}, status: {} },
  // A volume without a source is an empty directory.
  Volume: {
    emptyDir: (volume, given) => given ?? (Object.keys(volume).every((field) => field === 'name') ? {} : undefined),
  },
  StatefulSetSpec: {
    replicas: 1,
    revisionHistoryLimit: 10,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: {},
    persistentVolumeClaimRetentionPolicy: {},
    template: {},
    volumeClaimTemplates: (_, given) =>
      given === undefined
        ? undefined
        : getList({ given }, 'given').map((claim) => ({
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            ...getMap(claim),
          })),
  },
  StatefulSetUpdateStrategy: rollingUpdate,
  RollingUpdateStatefulSetStrategy: { partition: 0 },
  StatefulSetPersistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  DaemonSetSpec: { revisionHistoryLimit: 10, updateStrategy: {}, template: {} },
  DaemonSetUpdateStrategy: rollingUpdate,
  RollingUpdateDaemonSet: { maxUnavailable: ifAbsent(1), maxSurge: ifAbsent(0) },
  JobSpec: { template: {} },
  CronJobSpec: {
    concurrencyPolicy: 'Allow',
    failedJobsHistoryLimit: 1,
    successfulJobsHistoryLimit: 3,
    suspend: false,
    jobTemplate: {},
  },
  JobTemplateSpec: { metadata: {}, spec: {} },
  PodFailurePolicyOnPodConditionsPattern: { status: 'True' },
  NetworkPolicySpec: {
    podSelector: {},
    // An empty list of rules is a policy of its own direction too.
    policyTypes: ({ egress }, given) =>
      given ?? (isList(egress) && egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress']),
  },
  NetworkPolicyPort: { protocol: 'TCP' },
  IngressClassParametersReference: { scope: 'Cluster' },
  EndpointPort: { name: '', protocol: 'TCP' },
  Endpoint: { conditions: {} },
  HorizontalPodAutoscalerSpec: { minReplicas: 1, metrics: [cpuMetric] },
  HorizontalPodAutoscalerBehavior: {
    scaleUp: scaling({
      stabilizationWindowSeconds: 0,
      policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, fastest],
    }),
    scaleDown: scaling({ policies: [fastest] }),
  },
  PersistentVolumeClaimSpec: { resources: {}, volumeMode: 'Filesystem' },
  PersistentVolumeSpec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
  LimitRangeItem: { default: asIn('max'), defaultRequest: asIn('min', 'default') },
  StorageClass: { reclaimPolicy: 'Delete', volumeBindingMode: ifAbsent('Immediate') },
  PriorityClass: { preemptionPolicy: 'PreemptLowerPriority', value: 0 },
  RoleRef: { apiGroup: roleGroup },
  Subject: { apiGroup: ({ kind }, given) => given || (kind === 'User' || kind === 'Group' ? roleGroup : undefined) },
};
