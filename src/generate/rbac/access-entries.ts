// The access of functions to a cluster: each function has its own AWS role, and its own Kubernetes group, which the
// generated roles, bindings and admission policies refer to.
import type { ControllerDefinition } from '../../api/definition.ts';
import { clusterNames, controllerIdentity, controllerRole, resyncQueue } from '../../core/names.ts';

/** The access of one function. */
export type AccessEntry = {
  /** The function's name without the deployment's prefix. */
  readonly function: string;
  /** The Kubernetes group of the function. */
  readonly group: string;
  /** The generated ClusterRole of that group. */
  readonly clusterRole: string;
  /** Whether it also has a Role of that name, in the namespace of the watch checkpoint. */
  readonly hasRole?: boolean;
};

/** Returns the access of a fleet watcher, which is no function. */
export function fleetWatcherAccess(project?: string): Omit<AccessEntry, 'function'> {
  const { watcher, watcherIdentity } = clusterNames(project);
  return { group: watcherIdentity, clusterRole: watcher, hasRole: true };
}

/** Lists the access of each function that uses clusters. */
export function accessEntries(registry: readonly ControllerDefinition[], project?: string): readonly AccessEntry[] {
  const controllers = registry.map(({ name }) => ({
    function: name,
    group: controllerIdentity(name, project),
    clusterRole: controllerRole(name, project),
  }));
  const { resync, resyncIdentity } = clusterNames(project);
  return [...controllers, { function: resyncQueue, group: resyncIdentity, clusterRole: resync, hasRole: true }];
}
