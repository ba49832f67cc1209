// The currently served kinds: the built-in ones, and those of the CustomResourceDefinitions in the store.
import type { ApiObject } from '../object.ts';
import type { BuiltinSchemas } from '../schema/builtins.ts';
import type { Store, StoreChange } from '../store/store.ts';
import { builtinResources } from './builtins.ts';
import { customResources } from './custom-resources.ts';
import { type ApiResource, collectionOf } from './resource.ts';

/** The served kinds. */
export type ResourceRegistry = {
  /** Returns a kind by group, version and plural name. */
  find(group: string, version: string, plural: string): ApiResource | undefined;
  /** Returns the kind of a collection of the store, in any version. */
  ofCollection(collection: string): ApiResource | undefined;
  /** Returns every kind in every served version. */
  all(): readonly ApiResource[];
};

/** The collection of CustomResourceDefinitions. */
export const definitionsCollection = 'apiextensions.k8s.io/customresourcedefinitions';

/** Creates the registry. It is updated with every change of a definition in the store. */
export function createRegistry(store: Store, schemas: BuiltinSchemas): ResourceRegistry {
  const builtins = builtinResources();
  const defined = new Map<string, readonly ApiResource[]>();
  const define = (definition: ApiObject): void => {
    defined.set(definition.metadata.name ?? '', customResources(definition, schemas.objectMeta));
  };
  const combine = () => [...builtins, ...[...defined.values()].flat()];
  for (const definition of store.list(definitionsCollection)) define(definition);
  let all: readonly ApiResource[] = combine();
  let byName = named(all);
  store.subscribe(definitionsCollection, ({ type, object }: StoreChange) => {
    if (type === 'DELETED') defined.delete(object.metadata.name ?? '');
    else define(object);
    all = combine();
    byName = named(all);
  });
  return {
    find: (group, version, plural) => byName.get(`${group}/${version}/${plural}`),
    ofCollection: (collection) => all.find((one) => one.alias === undefined && collectionOf(one) === collection),
    all: () => all,
  };
}

/** Of two kinds with one name the first is served: a definition does not replace a built-in kind. */
function named(all: readonly ApiResource[]): ReadonlyMap<string, ApiResource> {
  return new Map(all.toReversed().map((one) => [`${one.group}/${one.version}/${one.plural}`, one]));
}
