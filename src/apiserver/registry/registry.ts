// Which kinds are served at this moment: the built-in ones, and those that definitions in the store define.
import type { ApiObject } from '../object.ts';
import type { BuiltinSchemas } from '../../local/api-server/schema/builtins.ts';
import type { Change, Store } from '../store/store.ts';
import { builtinResources } from './builtins.ts';
import { customResources } from './custom-resources.ts';
import { collectionOf, type Resource } from './resource.ts';

/** The served kinds. */
export interface Registry {
  /** Returns a kind by the words in a URL. */
  find(group: string, version: string, plural: string): Resource | undefined;
  /** Returns a kind of the collection that a store's changes name, in any version. */
  ofCollection(collection: string): Resource | undefined;
  /** Returns every kind in every served version. */
  all(): readonly Resource[];
}

/** The collection of CustomResourceDefinitions. */
export const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';

/** Follows the definitions in the store. */
export function createRegistry(store: Store, schemas: BuiltinSchemas): Registry {
  const builtins = builtinResources(schemas);
  const defined = new Map<string, readonly Resource[]>();
  let all: readonly Resource[] = builtins;
  const define = (definition: ApiObject): void => {
    defined.set(definition.metadata.name ?? '', customResources(definition, schemas.objectMeta));
  };
  store.follow(DEFINITIONS, ({ type, object }: Change) => {
    if (type === 'DELETED') defined.delete(object.metadata.name ?? '');
    else define(object);
    all = [...builtins, ...[...defined.values()].flat()];
  });
  return {
    find: (group, version, plural) =>
      all.find((one) => one.plural === plural && one.group === group && one.version === version),
    ofCollection: (collection) => all.find((one) => one.alias === undefined && collectionOf(one) === collection),
    all: () => all,
  };
}
