// The watch loops of a cluster, and what connects them: a list of children requeues their owners, which another loop
// watches, and a restore that one loop detects is reported to all.
import { collectionName } from '../core/key.ts';
import { isSameKind } from '../core/kind-names.ts';
import type { Log } from '../core/log.ts';
import type { WatchedResource, WatchList } from '../core/watch-list.ts';
import type { Health } from './health.ts';
import { createWatchLoop, type WatchLoop, type WatchLoopDeps, type WatchScope } from './watch-loop.ts';

/** The dependencies of all loops of a cluster. */
export type WatchLoopsDeps = Omit<WatchLoopDeps, 'health' | 'requeueOwners'> & {
  readonly health: Health;
};

/** The loop of one kind, in one namespace or in all. */
type PlacedLoop = { readonly resource: WatchedResource; readonly namespace?: string; readonly loop: WatchLoop };

/**
 * Creates the loops of a watch list: one for each kind, or if only some namespaces are watched, one for each namespace
 * and namespaced kind, because no selector selects several namespaces. They do not run yet.
 * @param scope `namespaces`: those of a kind that has none of its own; absent: those of the watch list, or all
 */
export function createWatchLoops(
  deps: WatchLoopsDeps,
  { resources, namespaces: listed }: WatchList,
  { namespaces = listed, ...scope }: WatchScope & { readonly namespaces?: readonly string[] | undefined },
): readonly PlacedLoop[] {
  const loops: PlacedLoop[] = [];
  const requeueOwnersOf =
    ({ subscribers }: WatchedResource, place: string | undefined): WatchLoopDeps['requeueOwners'] =>
    (controllers, acks, missedUntilMs) => {
      // The owner of a child is in its namespace, or in none, and so is one that a label names. A function may map a
      // watched object, or the one that its label names, to any namespace.
      const mapsTo = (owner: WatchedResource, name: string) =>
        subscribers.some(
          ({ as, controller, label, primary }) =>
            as === 'watched' && controller === name && (label === undefined || !isSameKind(primary, owner)),
        );
      for (const { resource, namespace, loop } of loops) {
        const isNear = namespace === undefined || place === undefined || namespace === place;
        for (const { as, controller } of resource.subscribers) {
          if (as !== 'primary' || !controllers.includes(controller)) continue;
          if (isNear || mapsTo(resource, controller)) loop.requeueOwners(controller, acks, missedUntilMs);
        }
      }
    };
  for (const resource of resources) {
    for (const namespace of (resource.namespaced ? (resource.namespaces ?? namespaces) : undefined) ?? [undefined]) {
      const name = collectionName(resource);
      // Controllers may read a kind in two versions.
      const isTwice = resources.some((one) => one !== resource && isSameKind(one, resource));
      const kind = [isTwice ? `${name}/${resource.version}` : name, namespace].filter(Boolean).join('/');
      const loopDeps = {
        ...deps,
        requeueOwners: requeueOwnersOf(resource, namespace),
        health: deps.health.loop(kind),
        log: withFields(deps.log, { kind }),
      };
      const place = namespace === undefined ? {} : { namespace };
      loops.push({ resource, ...place, loop: createWatchLoop(loopDeps, { resource, ...scope, ...place }) });
    }
  }
  return loops;
}

function withFields({ debug, info, warn, error }: Log, fields: object): Log {
  const add = (line: Log['info']) => (message: string, more?: object) => line(message, { ...fields, ...more });
  return { debug: add(debug), info: add(info), warn: add(warn), error: add(error) };
}
