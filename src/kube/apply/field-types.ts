// The fields of built-in kinds that the API server does not return as they were applied, by their path: quantities,
// base64 and times, which it writes in its own form, and defaults that it fills into values that one manager owns as a
// whole. It rewrites nothing in a custom resource, nor in a map of texts, whatever the names in it are.
//
// The types are those of the published schemas: a test derives them and compares. The defaults are in no schema.

/** How two values of a field are compared. Absent: as they are. */
type FieldType = 'quantity' | 'base64' | 'time' | 'microTime';

/** A field of a type, or with a default that is filled in where it is not given. */
export class TypedField {
  readonly type: FieldType | undefined;
  readonly fallback: unknown;

  constructor(type: FieldType | undefined, fallback?: unknown) {
    this.type = type;
    this.fallback = fallback;
  }
}

/** Fields by name. Lists are transparent: the fields are those of the items. `*` are all values of a map. */
export type TypedFields = { readonly [name: string]: FieldTypes };
export type FieldTypes = TypedField | TypedFields;

const quantity = new TypedField('quantity');
const base64 = new TypedField('base64');
const time = new TypedField('time');
const microTime = new TypedField('microTime');
const quantities: TypedFields = { '*': quantity };
const defaultOf = (fallback: unknown) => new TypedField(undefined, fallback);

const resources: TypedFields = { limits: quantities, requests: quantities };
/** Both references are atomic. */
const references: TypedFields = {
  fieldRef: { apiVersion: defaultOf('v1') },
  resourceFieldRef: { divisor: new TypedField('quantity', '0') },
};
const container: TypedFields = { resources, env: { valueFrom: references } };
const claim: TypedFields = { spec: { resources } };
const pod: TypedFields = {
  spec: {
    overhead: quantities,
    resources,
    containers: container,
    initContainers: container,
    ephemeralContainers: container,
    volumes: {
      downwardAPI: { items: references },
      emptyDir: { sizeLimit: quantity },
      ephemeral: { volumeClaimTemplate: claim },
      // The list of sources is atomic.
      projected: {
        sources: { downwardAPI: { items: references }, serviceAccountToken: { expirationSeconds: defaultOf(3600) } },
      },
    },
  },
};
const workload: TypedFields = { spec: { template: pod } };
const job: TypedFields = {
  // The list of rules is atomic.
  spec: { template: pod, podFailurePolicy: { rules: { onPodConditions: { status: defaultOf('True') } } } },
};
/** The lists of rules are atomic. */
const networkRule: TypedFields = { ports: { protocol: defaultOf('TCP') } };
/** The list of subjects is atomic. */
const binding: TypedFields = { subjects: { apiGroup: defaultOf('rbac.authorization.k8s.io') } };
const scaling: TypedFields = { tolerance: quantity };
const metric: TypedFields = { target: { averageValue: quantity, value: quantity } };

const kinds: Readonly<Record<string, TypedFields>> = {
  ClusterRoleBinding: binding,
  ConfigMap: { binaryData: { '*': base64 } },
  CronJob: { spec: { jobTemplate: job } },
  CustomResourceDefinition: { spec: { conversion: { webhook: { clientConfig: { caBundle: base64 } } } } },
  DaemonSet: workload,
  Deployment: workload,
  EndpointSlice: {
    // Both lists are atomic.
    ports: { name: defaultOf(''), protocol: defaultOf('TCP') },
    endpoints: { conditions: defaultOf({}) },
  },
  Event: {
    eventTime: microTime,
    firstTimestamp: time,
    lastTimestamp: time,
    series: { lastObservedTime: microTime },
  },
  HorizontalPodAutoscaler: {
    spec: {
      behavior: { scaleDown: scaling, scaleUp: scaling },
      metrics: { containerResource: metric, external: metric, object: metric, pods: metric, resource: metric },
    },
  },
  Job: job,
  Lease: { spec: { acquireTime: microTime, renewTime: microTime } },
  LimitRange: {
    spec: {
      limits: {
        default: quantities,
        defaultRequest: quantities,
        max: quantities,
        maxLimitRequestRatio: quantities,
        min: quantities,
      },
    },
  },
  NetworkPolicy: { spec: { ingress: networkRule, egress: networkRule } },
  Node: { spec: { taints: { timeAdded: time } } },
  PersistentVolume: { spec: { capacity: quantities } },
  PersistentVolumeClaim: claim,
  Pod: pod,
  ReplicaSet: workload,
  ResourceQuota: { spec: { hard: quantities } },
  RoleBinding: binding,
  Secret: { data: { '*': base64 } },
  StatefulSet: {
    spec: {
      template: pod,
      // The list is atomic. Servers before 1.36 also fill in the time.
      volumeClaimTemplates: {
        apiVersion: defaultOf('v1'),
        kind: defaultOf('PersistentVolumeClaim'),
        metadata: { creationTimestamp: defaultOf(null) },
        status: defaultOf({ phase: 'Pending' }),
        spec: { resources, volumeMode: defaultOf('Filesystem') },
      },
    },
  },
};

/** Returns the typed fields of a built-in kind. */
export function typedFieldsOf(kind: string): TypedFields | undefined {
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
}

/** Returns the types below a field. */
export function typesAt(types: FieldTypes | undefined, name: string): FieldTypes | undefined {
  if (types === undefined || types instanceof TypedField) return undefined;
  return Object.hasOwn(types, name) ? types[name] : types['*'];
}
