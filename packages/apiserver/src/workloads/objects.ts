// The kinds that the workloads read, with the fields that they use. The API server has validated them by its published
// schemas. Unknown fields are kept, because whole objects are written back, as kube-controller-manager does.

/** Where a kind is served. */
export type WorkloadResource = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: true;
};

/** A kind: its resource name, and the type of its objects. */
export type WorkloadKind<T extends WorkloadObject> = {
  readonly resource: WorkloadResource;
  readonly apiVersion: string;
  readonly kind: string;
  readonly parse: (value: unknown) => T;
};

/** Names one object. */
export type WorkloadKey = { readonly name: string; readonly namespace?: string | undefined };

type Texts = Record<string, string>;
type Condition = { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string };
type Share = number | string;

export type Owner = { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean };
export type WorkloadObject = {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion?: string;
    generation?: number;
    creationTimestamp: string;
    deletionTimestamp?: string;
    labels?: Texts;
    annotations?: Texts;
    ownerReferences?: Owner[];
  };
};
export type Selector = {
  matchLabels?: Texts;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
};
export type PodTemplate = {
  metadata: { labels?: Texts; annotations?: Texts };
  spec: { volumes?: { name: string }[] };
};
export type Deployment = WorkloadObject & {
  spec: {
    replicas: number;
    paused?: boolean;
    selector: Selector;
    template: PodTemplate;
    revisionHistoryLimit: number;
    strategy: { type: string; rollingUpdate?: { maxSurge?: Share; maxUnavailable?: Share } };
  };
  status?: { conditions?: Condition[] };
};
export type ReplicaSet = WorkloadObject & {
  spec: { replicas: number; selector: Selector; template: PodTemplate };
  status?: { replicas: number; readyReplicas?: number; availableReplicas?: number };
};
export type Pod = WorkloadObject & {
  spec: {
    nodeName?: string;
    hostname?: string;
    subdomain?: string;
    containers: {
      name: string;
      image?: string;
      ports?: { name?: string; containerPort: number; protocol: string }[];
    }[];
  };
  status?: {
    phase?: string;
    podIP?: string;
    conditions?: Condition[];
    containerStatuses?: { restartCount: number }[];
  };
};
export type StatefulSet = WorkloadObject & {
  spec: {
    replicas: number;
    selector: Selector;
    template: PodTemplate;
    serviceName?: string;
    podManagementPolicy: string;
    volumeClaimTemplates?: { metadata: { name: string; labels?: Texts; annotations?: Texts }; spec: object }[];
    ordinals?: { start?: number };
    updateStrategy: { type: string; rollingUpdate?: { partition?: number } };
  };
  status?: { currentRevision?: string };
};
export type Job = WorkloadObject & {
  spec: { suspend?: boolean; parallelism?: number; completions?: number; selector?: Selector; template: PodTemplate };
  status?: { conditions?: Condition[] };
};
type PersistentVolumeClaim = WorkloadObject & {
  spec: { accessModes?: string[]; resources: { requests?: Texts } };
  status?: object;
};
export type Service = WorkloadObject & {
  spec: {
    selector?: Texts;
    type: string;
    clusterIP?: string;
    publishNotReadyAddresses?: boolean;
    ports?: { name?: string; port: number; protocol: string; targetPort?: Share; appProtocol?: string }[];
  };
};
export type EndpointSlice = WorkloadObject & { endpoints?: unknown; ports?: unknown };

function kindOf<T extends WorkloadObject>(group: string, plural: string, kind: string): WorkloadKind<T> {
  const apiVersion = group === '' ? 'v1' : `${group}/v1`;
  return {
    resource: { group, version: 'v1', plural, namespaced: true },
    apiVersion,
    kind,
    parse: (value) => value as T,
  };
}

export const deployments = kindOf<Deployment>('apps', 'deployments', 'Deployment');
export const replicaSets = kindOf<ReplicaSet>('apps', 'replicasets', 'ReplicaSet');
export const pods = kindOf<Pod>('', 'pods', 'Pod');
export const statefulSets = kindOf<StatefulSet>('apps', 'statefulsets', 'StatefulSet');
export const jobs = kindOf<Job>('batch', 'jobs', 'Job');
export const persistentVolumeClaims = kindOf<PersistentVolumeClaim>(
  '',
  'persistentvolumeclaims',
  'PersistentVolumeClaim',
);
export const services = kindOf<Service>('', 'services', 'Service');
export const endpointSlices = kindOf<EndpointSlice>('discovery.k8s.io', 'endpointslices', 'EndpointSlice');

/** Returns whether a pod has the condition Ready. */
export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

/** Returns whether a pod is active: it has neither ended nor is it being deleted. */
export function isActive({ metadata: { deletionTimestamp }, status }: Pod): boolean {
  return deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}
