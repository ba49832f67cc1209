// The access of functions to a cluster: each function has its own AWS role, and its own Kubernetes group, which the
// generated roles, bindings and admission policies refer to.
import type { ControllerDefinition } from '../../api/definition.ts';
import { namespacesOfRead } from '../../api/reads.ts';
import { clusterNames, controllerIdentity, controllerRole, resyncQueue } from '../../core/names.ts';
import type { WatchList } from '../../core/watch-list.ts';

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
  /** The namespaces in which it has a Role of that name: those of the project, and of what it reads in some only. */
  readonly namespaces?: readonly string[];
};

/** Returns the access of a fleet watcher, which is no function. */
export function fleetWatcherAccess({ project, namespaces, resources }: WatchList): Omit<AccessEntry, 'function'> {
  const { watcher, watcherIdentity } = clusterNames(project);
  const places = [namespaces, ...resources.map((resource) => resource.namespaces)].flatMap((some = []) => some);
  return {
    group: watcherIdentity,
    clusterRole: watcher,
    hasRole: true,
    ...(places.length === 0 ? {} : { namespaces: [...new Set(places)] }),
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
  const controllers = registry.map(({ name, declaration: { resource, reads } }) => {
    const events = namespaces === undefined || resource.namespaced ? [] : [eventsNamespace];
    const places = [...(namespaces ?? []), ...events, ...reads.flatMap((read) => namespacesOfRead(read) ?? [])];
    return {
      function: name,
      group: controllerIdentity(name, project),
      clusterRole: controllerRole(name, project),
      ...(places.length === 0 ? {} : { namespaces: [...new Set(places)] }),
    };
  });
  const { resync, resyncIdentity } = clusterNames(project);
  return [
    ...controllers,
    { function: resyncQueue, group: resyncIdentity, clusterRole: resync, hasRole: true, ...only },
  ];
}
