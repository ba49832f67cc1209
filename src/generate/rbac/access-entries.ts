// The access of functions to a cluster: each function has its own AWS role, and its own Kubernetes group, which the
// generated roles, bindings and admission policies refer to.
import type { ControllerDefinition } from '../../api/definition.ts';
import { clusterNames, controllerIdentity, controllerRole, resyncQueue } from '../../core/names.ts';

/** The namespace of the Events of an object without a namespace. */
export const eventsNamespace = 'default';

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
  /** The namespaces in which it has a Role of that name, if the project has only some namespaces. */
  readonly namespaces?: readonly string[];
};

/** Returns the access of a fleet watcher, which is no function. */
export function fleetWatcherAccess(project?: string, namespaces?: readonly string[]): Omit<AccessEntry, 'function'> {
  const { watcher, watcherIdentity } = clusterNames(project);
  return {
    group: watcherIdentity,
    clusterRole: watcher,
    hasRole: true,
    ...(namespaces === undefined ? {} : { namespaces }),
  };
}

/**
 * Lists the access of each function that uses clusters.
 * @param namespaces the only namespaces of the project; absent: all
 */
export function accessEntries(
  registry: readonly ControllerDefinition[],
  project?: string,
  namespaces?: readonly string[],
): readonly AccessEntry[] {
  const only = namespaces === undefined ? {} : { namespaces };
  const controllers = registry.map(({ name, declaration: { resource } }) => ({
    function: name,
    group: controllerIdentity(name, project),
    clusterRole: controllerRole(name, project),
    ...(namespaces === undefined || resource.namespaced
      ? only
      : { namespaces: [...new Set([...namespaces, eventsNamespace])] }),
  }));
  const { resync, resyncIdentity } = clusterNames(project);
  return [
    ...controllers,
    { function: resyncQueue, group: resyncIdentity, clusterRole: resync, hasRole: true, ...only },
  ];
}
