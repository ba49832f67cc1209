// All objects of the followed kinds as they are now, and a way to wait for them to become something: by watch, so that
// nobody polls and nothing is missed between two looks.
import type { KubeClient } from '../kube/client/client.ts';
import type { KubeObject, ObjectKey, ResourceName } from '../kube/client/object.ts';
import { followObjects } from './follow.ts';

/** A change somebody may want to tell of. `before` is absent for an object not seen until now, `after` for one that is gone. */
export type Change = {
  readonly resource: ResourceName;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
};

/** The objects as they are now. */
export type View = {
  get(resource: ResourceName, key: ObjectKey): KubeObject | undefined;
  list(resource: ResourceName): readonly KubeObject[];
  /** Resolves with what the check gives as soon as it gives something; asked again after every change. Rejects when the signal aborts. */
  until<T>(check: (view: Pick<View, 'get' | 'list'>) => T | undefined, signal: AbortSignal): Promise<T>;
};

/** Starts following kinds until the signal aborts. */
export function createView(
  client: KubeClient,
  resources: readonly ResourceName[],
  {
    signal,
    onChange = () => undefined,
  }: { readonly signal: AbortSignal; readonly onChange?: (change: Change) => void },
): View {
  const collections = new Map<string, Map<string, KubeObject>>();
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  // A kind may have several controllers, and is followed once: each change is one.
  for (const resource of new Map(resources.map((one) => [nameOf(one), one])).values()) void follow(resource);

  async function follow(resource: ResourceName): Promise<void> {
    const known = new Map<string, KubeObject>();
    collections.set(nameOf(resource), known);
    const put = (after: KubeObject) => {
      const key = keyOf(after.metadata);
      const before = known.get(key);
      known.set(key, after);
      if (before?.metadata.resourceVersion === after.metadata.resourceVersion) return;
      onChange({ resource, after, ...(before === undefined ? {} : { before }) });
    };
    const drop = (key: string) => {
      const before = known.get(key);
      known.delete(key);
      if (before !== undefined) onChange({ resource, before });
    };
    for await (const told of followObjects(client, resource, signal)) {
      if (told.type === 'changed') put(told.object);
      else if (told.type === 'deleted') drop(keyOf(told.object.metadata));
      else {
        const listed = new Set(told.objects.map(({ metadata }) => keyOf(metadata)));
        for (const key of [...known.keys()]) if (!listed.has(key)) drop(key);
        told.objects.forEach(put);
      }
      tell();
    }
  }

  const get: View['get'] = (resource, key) => collections.get(nameOf(resource))?.get(keyOf(key));
  const list: View['list'] = (resource) => [...(collections.get(nameOf(resource))?.values() ?? [])];
  return {
    get,
    list,
    until: (check, untilSignal) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = check({ get, list });
          if (found === undefined) return;
          leave();
          resolve(found);
        };
        const give = () => {
          leave();
          reject(untilSignal.reason);
        };
        const leave = () => {
          listeners.delete(look);
          untilSignal.removeEventListener('abort', give);
        };
        listeners.add(look);
        untilSignal.addEventListener('abort', give);
        if (untilSignal.aborted) give();
        else look();
      }),
  };
}

function nameOf({ group, plural }: ResourceName): string {
  return `${plural}.${group}`;
}

function keyOf({ namespace, name }: ObjectKey): string {
  return `${namespace ?? ''}/${name}`;
}
