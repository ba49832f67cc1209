// Which changes of a kind count: built-in kinds that have no generation, and those that change so often that a
// controller of them says what counts [tried on kube-apiserver 1.36.3].
import type { ControllerDeclaration } from '../api/definition.ts';
import type { KindDescription } from '../core/kind-names.ts';
import type { Subscriber } from '../core/watch-list.ts';

type Named = Pick<KindDescription, 'group' | 'kind'>;

/** Built-in kinds without metadata.generation. Custom resources always have one. */
const withoutGeneration: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...['ConfigMap', 'Endpoints', 'Event', 'LimitRange', 'Namespace', 'Node', 'PersistentVolume'],
    ...['PersistentVolumeClaim', 'ResourceQuota', 'Secret', 'Service', 'ServiceAccount'],
  ],
  autoscaling: ['HorizontalPodAutoscaler'],
  'apiregistration.k8s.io': ['APIService'],
  'coordination.k8s.io': ['Lease'],
  'events.k8s.io': ['Event'],
  'rbac.authorization.k8s.io': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'storage.k8s.io': ['StorageClass'],
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

/** Returns whether the API server counts the generations of a kind. */
export function hasGeneration({ group, kind }: Named): boolean {
  return withoutGeneration[group]?.includes(kind) !== true;
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
