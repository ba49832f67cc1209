// The id of an object in the console: `plural.group/namespace/name`, as in the key of a message.
import { collectionName, type Key } from '../core/key.ts';
import type { ResourceName } from '../kube/client/object.ts';

type Collection = Pick<ResourceName, 'group' | 'plural'>;

/** Returns the id of an object. */
export function objectId(
  resource: Collection,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
): string {
  return `${collectionName(resource)}/${namespace ?? ''}/${name}`;
}

/** Splits an id. The name of one that is malformed is empty. */
export function splitId(id: string): { readonly collection: string; readonly key: Key } {
  const [collection = '', namespace = '', ...rest] = id.split('/');
  const name = rest.join('/');
  return { collection, key: namespace === '' ? { name } : { namespace, name } };
}
