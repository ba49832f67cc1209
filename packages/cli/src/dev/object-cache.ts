// A cache of all objects of the watched kinds, with a way to wait for a state. It is filled by a list and a watch, so
// that no change between two reads is missed.
import { EventEmitter, once } from 'node:events';
import { toError } from 'outrigger/internal/core/errors';
import { isRecord } from 'outrigger/internal/core/json';
import { placesOf } from 'outrigger/internal/core/namespaces';
import { sleep } from 'outrigger/internal/core/time';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import type { ObjectKey } from 'outrigger/internal/kube/client/object';
import { type KubeObject, parseObject, type ResourceName } from 'outrigger/internal/kube/client/object';
import { collectionPath } from 'outrigger/internal/kube/client/path';
import { listPages } from 'outrigger/internal/kube/client/read';
import { readWatchLines } from 'outrigger/internal/kube/watch/ndjson';
import { withIdleTimeout } from 'outrigger/internal/kube/watch/watch';

/** A change of an object. `before` is absent for a new object, `after` for a deleted one. */
export type CachedChange = {
  readonly resource: ResourceName;
  readonly before?: KubeObject | undefined;
  readonly after?: KubeObject;
};

/** The current objects. */
export type ObjectCache = {
  get(resource: ResourceName, key: ObjectKey): KubeObject | undefined;
  list(resource: ResourceName): readonly KubeObject[];
  /** Watches a kind besides the others. */
  follow(resource: ResourceName): void;
  /**
   * Resolves with the check's result when it is not undefined. Checks after every change. Rejects when the signal
   * aborts.
   */
  until<T>(check: (view: Pick<ObjectCache, 'get' | 'list'>) => T | undefined, signal: AbortSignal): Promise<T>;
};

/**
 * `namespaces` are the only ones of the project; all by default. `onFailure` receives each error of a list or a watch,
 * which is retried; `onListed` is called after each list.
 */
export type ObjectCacheOptions = {
  readonly signal: AbortSignal;
  readonly namespaces?: readonly string[] | undefined;
  readonly onChange?: (change: CachedChange) => void;
  readonly onFailure?: (error: Error) => void;
  readonly onListed?: () => void;
};

/** Starts watching kinds until the signal aborts. */
export function createObjectCache(
  client: KubeClient,
  resources: readonly ResourceName[],
  {
    signal,
    namespaces,
    onChange = () => undefined,
    onFailure = () => undefined,
    onListed = () => undefined,
  }: ObjectCacheOptions,
): ObjectCache {
  const collections = new Map<string, Map<string, KubeObject>>();
  const changes = new EventEmitter().setMaxListeners(0);
  // A kind with several controllers is watched once.
  for (const resource of resources) follow(resource);

  function follow(resource: ResourceName): void {
    if (collections.has(nameOf(resource))) return;
    const known = new Map<string, KubeObject>();
    collections.set(nameOf(resource), known);
    for (const place of placesOf(resource, namespaces)) void followIn(place, resource, known);
  }

  async function followIn(
    namespace: string | undefined,
    resource: ResourceName,
    known: Map<string, KubeObject>,
  ): Promise<void> {
    // An object that cannot be shown, such as one that is nested too deeply, must not end the watch of the others.
    const report = (change: CachedChange) => {
      try {
        onChange(change);
      } catch (error) {
        onFailure(toError(error));
      }
    };
    const put = (after: KubeObject) => {
      const key = keyOf(after.metadata);
      const before = known.get(key);
      known.set(key, after);
      if (before?.metadata.resourceVersion === after.metadata.resourceVersion) return;
      report({ resource, after, before });
    };
    const drop = (key: string) => {
      const before = known.get(key);
      known.delete(key);
      if (before !== undefined) report({ resource, before });
    };
    for await (const change of followObjects(client, { resource, namespace }, signal, onFailure)) {
      if (change.type === 'changed') put(change.object);
      else if (change.type === 'deleted') drop(keyOf(change.object.metadata));
      else {
        const listed = new Set(change.objects.map(({ metadata }) => keyOf(metadata)));
        const isListed = (key: string) => namespace === undefined || key.startsWith(`${namespace}/`);
        for (const key of [...known.keys()]) if (isListed(key) && !listed.has(key)) drop(key);
        change.objects.forEach(put);
        onListed();
      }
      changes.emit('change');
    }
  }

  const get: ObjectCache['get'] = (resource, key) => collections.get(nameOf(resource))?.get(keyOf(key));
  const list: ObjectCache['list'] = (resource) => [...(collections.get(nameOf(resource))?.values() ?? [])];
  return {
    get,
    list,
    follow,
    until: async (check, untilSignal) => {
      for (;;) {
        untilSignal.throwIfAborted();
        const found = check({ get, list });
        if (found !== undefined) return found;
        await once(changes, 'change', { signal: untilSignal }).catch(() => undefined);
      }
    },
  };
}

function nameOf({ group, plural }: ResourceName): string {
  return `${plural}.${group}`;
}

function keyOf({ namespace, name }: ObjectKey): string {
  return `${namespace ?? ''}/${name}`;
}

/** A change of a collection. `listed` has the complete collection, and replaces all known objects. */
type FollowedChange =
  | { readonly type: 'listed'; readonly objects: readonly KubeObject[] }
  | { readonly type: 'changed'; readonly object: KubeObject }
  | { readonly type: 'deleted'; readonly object: KubeObject };

/** The pause before the next list. */
const pauseSeconds = 1;
/**
 * A watch without an event for this long is closed: bookmarks arrive every 60 s. The connection of a machine that has
 * slept, or has changed its network, may never end by itself.
 */
const idleSeconds = 90;

/** Lists and watches a collection until the signal aborts. After an error or the end of a watch it does both again. */
async function* followObjects(
  client: KubeClient,
  { resource, namespace }: { readonly resource: ResourceName; readonly namespace: string | undefined },
  signal: AbortSignal,
  onFailure: (error: Error) => void,
): AsyncGenerator<FollowedChange> {
  while (!signal.aborted) {
    try {
      const objects: KubeObject[] = [];
      let resourceVersion = '';
      for await (const page of listPages(client, resource, { namespace, signal })) {
        objects.push(...page.items);
        resourceVersion = page.resourceVersion;
      }
      yield { type: 'listed', objects };
      const stream = await client.stream({
        method: 'GET',
        path: collectionPath(resource, namespace),
        query: { watch: true, allowWatchBookmarks: true, resourceVersion },
        signal,
      });
      let receivedAt = performance.now();
      const idle = {
        seconds: idleSeconds,
        wait: sleep,
        idleSeconds: () => (performance.now() - receivedAt) / 1000,
      };
      try {
        for await (const event of readWatchLines(withIdleTimeout(stream, idle))) {
          receivedAt = performance.now();
          const change = changeOf(event);
          if (change === 'expired') break;
          if (change !== undefined) yield change;
        }
      } finally {
        stream.close();
      }
    } catch (error) {
      if (signal.aborted) return;
      onFailure(toError(error));
    }
    await sleep(pauseSeconds, signal).catch(() => undefined);
  }
}

function changeOf(event: unknown): FollowedChange | 'expired' | undefined {
  if (!isRecord(event)) return undefined;
  if (event.type === 'ERROR') return 'expired';
  if (event.type === 'DELETED') return { type: 'deleted', object: parseObject(event.object) };
  if (event.type === 'ADDED' || event.type === 'MODIFIED')
    return { type: 'changed', object: parseObject(event.object) };
  return undefined;
}
