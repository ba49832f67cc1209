// One loop for each collection of the watch list, and what they ask of each other: who lost a child while nobody watched is
// known to the loop of the owners, and one that finds the cluster restored says so to all.
import type { Log } from '../core/context.ts';
import type { WatchedResource, WatchList } from '../core/watch-list.ts';
import { createRestoration } from '../kube/restoration.ts';
import type { Health } from './health.ts';
import { createWatchLoop, type LoopParts, type WatchLoop } from './watch-loop.ts';

/** What all loops work with. */
export type LoopsParts = Omit<LoopParts, 'health' | 'sweep' | 'restoration'> & { readonly health: Health };

/** Whose cluster, which part of it, and whose queues. */
export type LoopsScope = {
  readonly cluster: string;
  readonly namespace?: string | undefined;
  readonly queues?: string | undefined;
};

/** Creates a watch list's loops. None runs yet. */
export function createLoops(
  parts: LoopsParts,
  { resources }: WatchList,
  scope: LoopsScope,
): ReadonlyMap<WatchedResource, WatchLoop> {
  const loops = new Map<WatchedResource, WatchLoop>();
  const sweep: LoopParts['sweep'] = (controllers, held, sinceMs) => {
    for (const [{ subscribers }, primaries] of loops) {
      for (const { as, controller } of subscribers) {
        if (as === 'primary' && controllers.includes(controller)) primaries.sweep(controller, held, sinceMs);
      }
    }
  };
  const restoration = createRestoration();
  for (const resource of resources) {
    const kind = kindOf(resource);
    const own = { ...parts, restoration, health: parts.health.loop(kind), log: withFields(parts.log, { kind }), sweep };
    loops.set(resource, createWatchLoop(own, { resource, ...scope }));
  }
  return loops;
}

/** `watertanks.plant.example.com`, as the API server calls the CRD. */
export function kindOf({ group, plural }: Pick<WatchedResource, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function withFields({ debug, info, warn, error }: Log, fields: object): Log {
  const add = (line: Log['info']) => (message: string, more?: object) => line(message, { ...fields, ...more });
  return { debug: add(debug), info: add(info), warn: add(warn), error: add(error) };
}
