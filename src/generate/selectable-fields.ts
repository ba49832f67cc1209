// The fields by which the API server selects objects: two of every kind, those that the CRD of a kind declares, and a
// fixed list for built-in kinds [tried on kube-apiserver 1.36.3]. It responds to any other one with 400.
import { isBuiltInGroup, type KindDescription } from '../core/kind-names.ts';

const builtIn: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '': {
    Namespace: ['status.phase'],
    Node: ['spec.unschedulable'],
    Pod: [
      ...['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'],
      ...['status.phase', 'status.podIP'],
    ],
    Secret: ['type'],
    Service: ['spec.clusterIP', 'spec.type'],
  },
};

/** Returns whether objects of every kind are selected by a field. */
export function isAlwaysSelectable(field: string): boolean {
  return field === 'metadata.name' || field === 'metadata.namespace';
}

/** Returns whether the API server may select a built-in or foreign kind by a field; true where its CRD decides. */
export function maySelect({ group, kind }: Pick<KindDescription, 'group' | 'kind'>, field: string): boolean {
  return isAlwaysSelectable(field) || !isBuiltInGroup(group) || builtIn[group]?.[kind]?.includes(field) === true;
}
