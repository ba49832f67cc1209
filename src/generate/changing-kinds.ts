// Which changes of a kind count: built-in kinds that have a generation, and those that change so often that a
// controller of them says what counts [tried on kube-apiserver 1.36.3].
import type { ControllerDeclaration } from '../api/definition.ts';
import { isBuiltInGroup, type KindDescription } from '../core/kind-names.ts';
import type { Subscriber } from '../core/watch-list.ts';

type Named = Pick<KindDescription, 'group' | 'kind'> & { readonly aggregated?: boolean };

/** The built-in kinds of which each change of the content raises metadata.generation. That of PriorityClass stays 1. */
const withGeneration: Readonly<Record<string, readonly string[]>> = {
  '': ['Pod', 'PodTemplate', 'ReplicationController'],
  'admissionregistration.k8s.io': [
    ...['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding', 'MutatingWebhookConfiguration'],
    ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding', 'ValidatingWebhookConfiguration'],
  ],
  'apiextensions.k8s.io': ['CustomResourceDefinition'],
  apps: ['DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  batch: ['CronJob', 'Job'],
  'discovery.k8s.io': ['EndpointSlice'],
  'flowcontrol.apiserver.k8s.io': ['FlowSchema', 'PriorityLevelConfiguration'],
  'networking.k8s.io': ['Ingress', 'IngressClass', 'NetworkPolicy'],
  policy: ['PodDisruptionBudget'],
  'resource.k8s.io': ['DeviceClass', 'DeviceTaintRule', 'ResourceSlice'],
};

/** What writes to one object of a kind that changes often, and how often. */
const changingOften: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    Endpoints: 'each Pod that becomes ready or unready',
    Event: 'each repetition of it',
    Node: 'its kubelet, at least 288 times a day',
    Pod: 'its kubelet, at each step of a start and each change of a container',
  },
  'coordination.k8s.io': { Lease: 'its holder, up to 43,200 times a day' },
  'discovery.k8s.io': { EndpointSlice: 'each Pod that becomes ready or unready' },
  'events.k8s.io': { Event: 'each repetition of it' },
};

/** The kinds whose objects hold up a drain, a scale-down or a volume while a finalizer is on them. */
const heldUp = ['Node', 'PersistentVolume', 'PersistentVolumeClaim', 'Pod'];

/** Returns whether the API server counts the changes of a kind's objects: it does for every custom resource. */
export function hasGeneration({ group, kind, aggregated = false }: Named): boolean {
  return isBuiltInGroup(group) ? withGeneration[group]?.includes(kind) === true : !aggregated;
}

/** Returns what changes an object of a kind that changes often; undefined for other kinds. */
export function writersOf({ group, kind }: Named): string | undefined {
  return changingOften[group]?.[kind];
}

/** Returns whether a finalizer on the kind holds up more than its own object. */
export function holdsUpOthers({ group, kind }: Named): boolean {
  return group === '' && heldUp.includes(kind);
}

/** Returns which changes of its objects a controller is sent. */
export function predicateOf({ resource, changes }: ControllerDeclaration): Subscriber['predicate'] {
  if (changes !== undefined) return changes === 'any' ? 'resourceVersion' : 'metadata';
  if (resource.definition !== undefined) return 'generation';
  return hasGeneration(resource) ? 'metadata' : 'resourceVersion';
}
