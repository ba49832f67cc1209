// The watch list: every kind that some controller reconciles, owns or watches, and for whom.
import type { Registered } from '../core/controller.ts';
import type { Kind } from '../core/kind.ts';
import type { Subscriber, WatchedResource, WatchList } from '../core/watch-list.ts';

/** Core kinds that the API server gives no generation [seen on kube-apiserver 1.36]. */
const withoutGeneration = new Set([
  'ConfigMap',
  'Secret',
  'Service',
  'Namespace',
  'Event',
  'ServiceAccount',
  'Endpoints',
]);

/** Makes the watch list of a registry, in a stable order. */
export function watchListOf(registry: readonly Registered[]): WatchList {
  const resources = new Map<string, WatchedResource>();
  const add = (kind: Kind, subscriber: Subscriber) => {
    const { group, version, plural, namespaced, aggregated } = kind;
    const name = `${group}/${version}/${plural}`;
    const before = resources.get(name)?.subscribers ?? [];
    resources.set(name, {
      ...{ group, version, plural, kind: kind.kind, namespaced },
      ...(aggregated === true ? { aggregated } : {}),
      subscribers: [...before, subscriber],
    });
  };
  for (const { name: controller, declares } of registry) {
    const { resource, owns, watches } = declares;
    const primary = collectionOf(resource);
    add(resource, { controller, as: 'primary', primary, predicate: predicateOf(resource) });
    for (const kind of owns) add(kind, { controller, as: 'owned', primary, predicate: 'any' });
    for (const { kind, label, names } of watches) {
      const named = names === undefined ? primary : collectionOf(names);
      const by = label === undefined ? {} : { label };
      add(kind, { controller, as: 'watched', primary: named, predicate: 'any', ...by });
    }
  }
  return {
    version: 1,
    resources: [...resources].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => narrowed(resource)),
  };
}

/** Where all that matters of a kind carries one label, the rest of it (every pod of a cluster, say) is not even sent. */
function narrowed(resource: WatchedResource): WatchedResource {
  const [label, ...others] = new Set(resource.subscribers.map((subscriber) => subscriber.label));
  return label === undefined || others.length > 0 ? resource : { ...resource, labelSelector: label };
}

function predicateOf({ group, kind }: Kind): Subscriber['predicate'] {
  return group === '' && withoutGeneration.has(kind) ? 'resourceVersion' : 'generation';
}

function collectionOf({ group, version, plural, kind, namespaced }: Kind): Subscriber['primary'] {
  return { group, version, plural, kind, namespaced };
}
