// The id of an object in the console: `cluster:plural.group/namespace/name`, as in the key of a message.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { collectionName, type Key } from 'outrigger/internal/core/key';
import type { ResourceName } from 'outrigger/internal/kube/client/object';

type Collection = Pick<ResourceName, 'group' | 'plural'>;
type ObjectKey = { readonly namespace?: string | undefined; readonly name: string };

/** Returns the id of an object. */
export function objectId(cluster: string, resource: Collection, { namespace, name }: ObjectKey): string {
  return idIn(cluster, collectionName(resource), { namespace, name });
}

/** Returns the id of an object of a collection, which is named as in a URL: `plural.group`. */
export function idIn(cluster: string, collection: string, { namespace, name }: ObjectKey): string {
  return `${cluster}:${collection}/${namespace ?? ''}/${name}`;
}

/** Splits an id. The name of one that is malformed is empty. */
export function splitId(id: string): { readonly cluster: string; readonly collection: string; readonly key: Key } {
  // The name of a cluster has no colon; that of an RBAC object may have one.
  const [, cluster = '', rest = ''] = /^([^:/]+):(.*)$/s.exec(id) ?? [];
  const [collection = '', namespace = '', ...names] = rest.split('/');
  const name = names.join('/');
  return { cluster, collection, key: namespace === '' ? { name } : { namespace, name } };
}

/** Returns the controllers that reconcile the object of an id. */
export function controllersOf(
  controllers: readonly ControllerDefinition[],
  id: string,
): readonly ControllerDefinition[] {
  const { collection } = splitId(id);
  return controllers.filter(({ declaration: { resource } }) => collectionName(resource) === collection);
}
