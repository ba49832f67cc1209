// Maps and lists that become empty. The server removes what a manager applied before and applies no longer, and makes
// null of a map or list of a custom kind that is empty afterwards, also when it is applied as empty: `{}` is refused
// ("must be of type object"), and of `[]` nothing is left [tried on kube-apiserver 1.36.3]. If their content is removed
// before, they are stored as applied. A JSON patch removes it, also of a required map and in an item of a keyed list,
// and leaves no entry in managedFields.
import { isRecord } from '../../core/json.ts';
import type { KubeClient } from '../client/client.ts';
import { type KubeObject, parseWritten } from '../client/object.ts';
import { valueAtStep } from './field-tree.ts';
import { matchesPath } from './managed-fields.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON pointers of what a manager owns in maps and lists that are desired empty, in the order of the live
 * object. Most times there is nothing.
 * @param desired the desired object, or its part at `pointer`
 * @param live the same part of the live object
 * @param fields the same part of the `fieldsV1` of the manager's entry
 */
export function emptiedFields(desired: unknown, live: unknown, fields: unknown, pointer = ''): readonly string[] {
  if (!isRecord(fields)) return [];
  const isEmptied = isEmpty(desired);
  return ownedParts(live, fields).flatMap(({ name, value, path }) => {
    const below = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return isEmptied ? [below] : emptiedFields(valueAtStep(desired, path), value, fields[path], below);
  });
}

/**
 * Removes parts of an object or of its status. The error is isConflict if the object changed since the read.
 * @param path of the API, of the object or its status
 */
export async function removeFields(
  client: KubeClient,
  path: string,
  { uid, resourceVersion }: KubeObject['metadata'],
  pointers: readonly string[],
  { fieldManager, signal }: { readonly fieldManager: string; readonly signal?: AbortSignal | undefined },
): Promise<KubeObject> {
  // The last one first: a removal moves the items behind it.
  const removals = pointers.toReversed().map((pointer) => ({ op: 'remove', path: pointer }));
  const { body } = await client.request({
    method: 'PATCH',
    path,
    query: { fieldManager },
    contentType: 'application/json-patch+json',
    body: [{ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion }, ...removals],
    signal,
  });
  return parseWritten(body, `PATCH ${path}`, uid);
}

function isEmpty(desired: unknown): boolean {
  if (Array.isArray(desired)) return desired.length === 0;
  return isRecord(desired) && Object.keys(desired).length === 0;
}

type Part = { readonly name: string; readonly value: unknown; readonly path: string };

/** Returns the parts of a live map or list that a tree of fields names, with their path elements. */
function ownedParts(live: unknown, fields: Fields): readonly Part[] {
  if (isRecord(live)) {
    const parts = Object.entries(live).map(([name, value]) => ({ name, value, path: `f:${name}` }));
    return parts.filter(({ path }) => Object.hasOwn(fields, path));
  }
  if (!Array.isArray(live)) return [];
  const paths = Object.keys(fields).filter((path) => path !== '.' && !path.startsWith('f:'));
  return live.flatMap((value: unknown, index) => {
    const path = paths.find((one) => matchesPath(one, value, index));
    return path === undefined ? [] : [{ name: String(index), value, path }];
  });
}
