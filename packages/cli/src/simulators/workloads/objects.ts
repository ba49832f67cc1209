// The kinds that the workload simulator reads, with the fields that it uses. Unknown fields are kept, because it writes
// whole objects back, as kube-controller-manager does.

import { labelExpression } from 'outrigger/internal/core/watch-list';
import type { ResourceName } from 'outrigger/internal/kube/client/object';
import * as z from 'zod';

/** A kind: its resource name and its parser. */
export type WorkloadKind<T extends WorkloadObject> = {
  readonly resource: ResourceName;
  readonly apiVersion: string;
  readonly kind: string;
  readonly parse: (value: unknown) => T;
};

const texts = z.record(z.string(), z.string());
const owner = z.looseObject({ kind: z.string(), uid: z.string(), controller: z.boolean().optional() });
const metadata = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  generation: z.number().optional(),
  creationTimestamp: z.string(),
  deletionTimestamp: z.string().optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
  ownerReferences: z.array(owner).optional(),
});
const selector = z.looseObject({
  matchLabels: texts.optional(),
  matchExpressions: z.array(labelExpression).optional(),
});
const template = z.looseObject({
  metadata: z.looseObject({ labels: texts.optional(), annotations: texts.optional() }),
  spec: z.looseObject({ volumes: z.array(z.looseObject({ name: z.string() })).optional() }),
});
const condition = z.looseObject({ type: z.string(), status: z.string(), reason: z.string().optional() });
const share = z.union([z.number(), z.string()]).optional();

const object = z.looseObject({ metadata });
const deployment = object.extend({
  spec: z.looseObject({
    replicas: z.number(),
    paused: z.boolean().optional(),
    selector,
    template,
    revisionHistoryLimit: z.number(),
    strategy: z.looseObject({
      type: z.string(),
      rollingUpdate: z.looseObject({ maxSurge: share, maxUnavailable: share }).optional(),
    }),
  }),
  status: z.looseObject({ conditions: z.array(condition).optional() }).optional(),
});
const replicaSet = object.extend({
  spec: z.looseObject({ replicas: z.number(), selector, template }),
  status: z
    .looseObject({
      replicas: z.number(),
      readyReplicas: z.number().optional(),
      availableReplicas: z.number().optional(),
    })
    .optional(),
});
const pod = object.extend({
  spec: z.looseObject({
    nodeName: z.string().optional(),
    hostname: z.string().optional(),
    subdomain: z.string().optional(),
    containers: z.array(
      z.looseObject({
        name: z.string(),
        image: z.string().optional(),
        ports: z
          .array(z.looseObject({ name: z.string().optional(), containerPort: z.number(), protocol: z.string() }))
          .optional(),
      }),
    ),
  }),
  status: z
    .looseObject({
      phase: z.string().optional(),
      podIP: z.string().optional(),
      conditions: z.array(condition).optional(),
      containerStatuses: z.array(z.looseObject({ restartCount: z.number() })).optional(),
    })
    .optional(),
});
const statefulSet = object.extend({
  spec: z.looseObject({
    replicas: z.number(),
    selector,
    template,
    serviceName: z.string().optional(),
    podManagementPolicy: z.string(),
    volumeClaimTemplates: z
      .array(
        z.looseObject({
          metadata: z.looseObject({ name: z.string(), labels: texts.optional(), annotations: texts.optional() }),
          spec: z.looseObject({}),
        }),
      )
      .optional(),
    ordinals: z.looseObject({ start: z.number().optional() }).optional(),
    updateStrategy: z.looseObject({
      type: z.string(),
      rollingUpdate: z.looseObject({ partition: z.number().optional() }).optional(),
    }),
  }),
  status: z.looseObject({ currentRevision: z.string().optional() }).optional(),
});
const claim = object.extend({
  spec: z.looseObject({
    accessModes: z.array(z.string()).optional(),
    resources: z.looseObject({ requests: texts.optional() }),
  }),
  status: z.looseObject({}).optional(),
});
const service = object.extend({
  spec: z.looseObject({
    selector: texts.optional(),
    type: z.string(),
    clusterIP: z.string().optional(),
    publishNotReadyAddresses: z.boolean().optional(),
    ports: z
      .array(
        z.looseObject({
          name: z.string().optional(),
          port: z.number(),
          protocol: z.string(),
          targetPort: z.union([z.number(), z.string()]).optional(),
          appProtocol: z.string().optional(),
        }),
      )
      .optional(),
  }),
});
const endpointSlice = object.extend({ endpoints: z.unknown().optional(), ports: z.unknown().optional() });

export type WorkloadObject = z.infer<typeof object>;
export type Selector = z.infer<typeof selector>;
export type PodTemplate = z.infer<typeof template>;
export type Deployment = z.infer<typeof deployment>;
export type ReplicaSet = z.infer<typeof replicaSet>;
export type Pod = z.infer<typeof pod>;
export type StatefulSet = z.infer<typeof statefulSet>;
type PersistentVolumeClaim = z.infer<typeof claim>;
export type Service = z.infer<typeof service>;
export type EndpointSlice = z.infer<typeof endpointSlice>;

function inGroup(group: string, plural: string): ResourceName {
  return { group, version: 'v1', plural, namespaced: true };
}

export const deployments: WorkloadKind<Deployment> = {
  resource: inGroup('apps', 'deployments'),
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  parse: (value) => deployment.parse(value),
};
export const replicaSets: WorkloadKind<ReplicaSet> = {
  resource: inGroup('apps', 'replicasets'),
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  parse: (value) => replicaSet.parse(value),
};
export const pods: WorkloadKind<Pod> = {
  resource: inGroup('', 'pods'),
  apiVersion: 'v1',
  kind: 'Pod',
  parse: (value) => pod.parse(value),
};
export const statefulSets: WorkloadKind<StatefulSet> = {
  resource: inGroup('apps', 'statefulsets'),
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  parse: (value) => statefulSet.parse(value),
};
export const persistentVolumeClaims: WorkloadKind<PersistentVolumeClaim> = {
  resource: inGroup('', 'persistentvolumeclaims'),
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  parse: (value) => claim.parse(value),
};
export const services: WorkloadKind<Service> = {
  resource: inGroup('', 'services'),
  apiVersion: 'v1',
  kind: 'Service',
  parse: (value) => service.parse(value),
};
export const endpointSlices: WorkloadKind<EndpointSlice> = {
  resource: inGroup('discovery.k8s.io', 'endpointslices'),
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  parse: (value) => endpointSlice.parse(value),
};

/** Returns whether a pod has the condition Ready. */
export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

/** Returns whether a pod is active: it has neither ended nor is it being deleted. */
export function isActive({ metadata: { deletionTimestamp }, status }: Pod): boolean {
  return deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}
