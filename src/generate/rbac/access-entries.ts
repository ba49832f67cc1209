// Who must be let into a cluster, and as what: each function is an AWS role of its own, and to a cluster each is a group that the
// generated roles, bindings and admission policies know.
import type { Registered } from '../../core/controller.ts';
import { controllerIdentity, resyncIdentity, resyncQueue } from '../../core/names.ts';

/** One function's way into a cluster. */
export type AccessEntry = {
  /** The function's name without the deployment's prefix. */
  readonly function: string;
  /** The Kubernetes group that it must come in. */
  readonly group: string;
  /** The generated ClusterRole of that group. */
  readonly clusterRole: string;
};

/** Names what each function that talks to clusters needs. */
export function accessEntries(registry: readonly Registered[]): readonly AccessEntry[] {
  const controllers = registry.map(({ name }) => ({
    function: name,
    group: controllerIdentity(name),
    clusterRole: `outrigger-${name}`,
  }));
  return [...controllers, { function: resyncQueue, group: resyncIdentity, clusterRole: 'outrigger-resync' }];
}
