// The package's entry `outrigger/kubernetes`: the kinds of Kubernetes itself, typed by the models of its own client.
// Only the types of that client are used; nothing of it gets into a bundle.
//
// Each declaration is a call at module level, which a bundler keeps unless it is marked as pure: without the mark, a
// function that uses one kind would carry them all.
import type {
  CoreV1Event,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1CronJob,
  V1CustomResourceDefinition,
  V1DaemonSet,
  V1Deployment,
  V1EndpointSlice,
  V1Ingress,
  V1IngressClass,
  V1Job,
  V1Lease,
  V1LimitRange,
  V1Namespace,
  V1NetworkPolicy,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1PriorityClass,
  V1ReplicaSet,
  V1ResourceQuota,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1StorageClass,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import { foreignKind } from './api/foreign-kind.ts';
import type { WithGeneration } from './api/kind.ts';

/** ConfigMap of v1. */
export const ConfigMap = /* @__PURE__ */ foreignKind<V1ConfigMap, 'ConfigMap'>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
});
/** Events as the core group has them, which is what kubectl shows. */
export const Event = /* @__PURE__ */ foreignKind<CoreV1Event, 'Event'>({ group: '', version: 'v1', kind: 'Event' });
/** LimitRange of v1. */
export const LimitRange = /* @__PURE__ */ foreignKind<V1LimitRange, 'LimitRange'>({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
});
/** Namespace of v1. */
export const Namespace = /* @__PURE__ */ foreignKind<V1Namespace, 'Namespace', 'Cluster'>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  scope: 'Cluster',
});
/** Node of v1. */
export const Node = /* @__PURE__ */ foreignKind<V1Node, 'Node', 'Cluster'>({
  group: '',
  version: 'v1',
  kind: 'Node',
  scope: 'Cluster',
});
/** PersistentVolume of v1. */
export const PersistentVolume = /* @__PURE__ */ foreignKind<V1PersistentVolume, 'PersistentVolume', 'Cluster'>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  scope: 'Cluster',
});
/** PersistentVolumeClaim of v1. */
export const PersistentVolumeClaim = /* @__PURE__ */ foreignKind<V1PersistentVolumeClaim, 'PersistentVolumeClaim'>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
});
/** Pod of v1. */
export const Pod = /* @__PURE__ */ foreignKind<V1Pod, 'Pod'>({ group: '', version: 'v1', kind: 'Pod' });
/** ResourceQuota of v1. */
export const ResourceQuota = /* @__PURE__ */ foreignKind<V1ResourceQuota, 'ResourceQuota'>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
});
/** Secret of v1. */
export const Secret = /* @__PURE__ */ foreignKind<V1Secret, 'Secret'>({ group: '', version: 'v1', kind: 'Secret' });
/** Service of v1. */
export const Service = /* @__PURE__ */ foreignKind<V1Service, 'Service'>({ group: '', version: 'v1', kind: 'Service' });
/** ServiceAccount of v1. */
export const ServiceAccount = /* @__PURE__ */ foreignKind<V1ServiceAccount, 'ServiceAccount'>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
});

/** DaemonSet of apps/v1. */
export const DaemonSet = /* @__PURE__ */ foreignKind<WithGeneration<V1DaemonSet>, 'DaemonSet'>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
});
/** Deployment of apps/v1. */
export const Deployment = /* @__PURE__ */ foreignKind<WithGeneration<V1Deployment>, 'Deployment'>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
});
/** ReplicaSet of apps/v1. */
export const ReplicaSet = /* @__PURE__ */ foreignKind<WithGeneration<V1ReplicaSet>, 'ReplicaSet'>({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
});
/** StatefulSet of apps/v1. */
export const StatefulSet = /* @__PURE__ */ foreignKind<WithGeneration<V1StatefulSet>, 'StatefulSet'>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
});

/** HorizontalPodAutoscaler of autoscaling/v2. */
export const HorizontalPodAutoscaler = /* @__PURE__ */ foreignKind<
  V2HorizontalPodAutoscaler,
  'HorizontalPodAutoscaler'
>({ group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' });

/** CronJob of batch/v1. */
export const CronJob = /* @__PURE__ */ foreignKind<WithGeneration<V1CronJob>, 'CronJob'>({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
});
/** Job of batch/v1. */
export const Job = /* @__PURE__ */ foreignKind<WithGeneration<V1Job>, 'Job'>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
});

/** Lease of coordination.k8s.io/v1. */
export const Lease = /* @__PURE__ */ foreignKind<V1Lease, 'Lease'>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
});

/** EndpointSlice of discovery.k8s.io/v1. */
export const EndpointSlice = /* @__PURE__ */ foreignKind<WithGeneration<V1EndpointSlice>, 'EndpointSlice'>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
});

/** Ingress of networking.k8s.io/v1. */
export const Ingress = /* @__PURE__ */ foreignKind<WithGeneration<V1Ingress>, 'Ingress'>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
});
/** IngressClass of networking.k8s.io/v1. */
export const IngressClass = /* @__PURE__ */ foreignKind<WithGeneration<V1IngressClass>, 'IngressClass', 'Cluster'>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  scope: 'Cluster',
});
/** NetworkPolicy of networking.k8s.io/v1. */
export const NetworkPolicy = /* @__PURE__ */ foreignKind<WithGeneration<V1NetworkPolicy>, 'NetworkPolicy'>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
});

/** PodDisruptionBudget of policy/v1. */
export const PodDisruptionBudget = /* @__PURE__ */ foreignKind<
  WithGeneration<V1PodDisruptionBudget>,
  'PodDisruptionBudget'
>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
});

/** ClusterRole of rbac.authorization.k8s.io/v1. */
export const ClusterRole = /* @__PURE__ */ foreignKind<V1ClusterRole, 'ClusterRole', 'Cluster'>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  scope: 'Cluster',
});
/** ClusterRoleBinding of rbac.authorization.k8s.io/v1. */
export const ClusterRoleBinding = /* @__PURE__ */ foreignKind<V1ClusterRoleBinding, 'ClusterRoleBinding', 'Cluster'>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  scope: 'Cluster',
});
/** Role of rbac.authorization.k8s.io/v1. */
export const Role = /* @__PURE__ */ foreignKind<V1Role, 'Role'>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
});
/** RoleBinding of rbac.authorization.k8s.io/v1. */
export const RoleBinding = /* @__PURE__ */ foreignKind<V1RoleBinding, 'RoleBinding'>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
});

/** PriorityClass of scheduling.k8s.io/v1. */
export const PriorityClass = /* @__PURE__ */ foreignKind<V1PriorityClass, 'PriorityClass', 'Cluster'>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  scope: 'Cluster',
});

/** StorageClass of storage.k8s.io/v1. */
export const StorageClass = /* @__PURE__ */ foreignKind<V1StorageClass, 'StorageClass', 'Cluster'>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  scope: 'Cluster',
});

/** CustomResourceDefinition of apiextensions.k8s.io/v1. */
export const CustomResourceDefinition = /* @__PURE__ */ foreignKind<
  WithGeneration<V1CustomResourceDefinition>,
  'CustomResourceDefinition',
  'Cluster'
>({ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition', scope: 'Cluster' });
