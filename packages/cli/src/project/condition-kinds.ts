// The built-in kinds whose status has a list of conditions, by type: only there can a controller add one of its own
// [kube-apiserver 1.36.3; a test compares them with the schemas of the in-memory server].
import { isBuiltInGroup, type KindDescription } from 'outrigger/internal/core/kind-names';

const withConditions: Readonly<Record<string, readonly string[]>> = {
  '': ['Namespace', 'Node', 'PersistentVolumeClaim', 'Pod', 'ReplicationController', 'Service'],
  apps: ['DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  autoscaling: ['HorizontalPodAutoscaler'],
  batch: ['Job'],
  policy: ['PodDisruptionBudget'],
  'apiextensions.k8s.io': ['CustomResourceDefinition'],
  'apiregistration.k8s.io': ['APIService'],
  'certificates.k8s.io': ['CertificateSigningRequest'],
  'flowcontrol.apiserver.k8s.io': ['FlowSchema', 'PriorityLevelConfiguration'],
};

/** Returns false for a built-in kind without conditions. The schema of a custom resource is not known here. */
export function mayHaveConditions({ group, kind }: Pick<KindDescription, 'group' | 'kind'>): boolean {
  if (group in withConditions) return withConditions[group]?.includes(kind) === true;
  return !isBuiltInGroup(group);
}
