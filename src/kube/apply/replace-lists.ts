// Lists that the API merges by key although one controller alone should say what is in them, a Service's ports for one. An apply
// leaves there what others added, and a port that somebody renumbered becomes a second one beside ours, of the same name:
// refused for ever. What others put there is taken out by a merge patch of the whole list before the apply.
import type { KubeClient } from '../client/client.ts';
import type { KubeObject, ResourceName } from '../client/object.ts';
import { objectPath } from '../client/path.ts';
import { isRecord } from '../record.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Names the lists, by dotted paths, where an item is live that none of the wanted ones is. What the API filled in does not count. */
export function straysOf(live: KubeObject, child: KubeObject, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    const wanted = listAt(child, path);
    return listAt(live, path).some((item) => !wanted.some((one) => isWithin(one, item)));
  });
}

/** Names every list that a child has, by dotted paths; those of its metadata are nobody's alone. */
export function listsOf({ metadata: _, ...content }: KubeObject): readonly string[] {
  return listsBelow(content);
}

function listsBelow(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (Array.isArray(value)) return [name];
    return isRecord(value) ? listsBelow(value).map((path) => `${name}.${path}`) : [];
  });
}

/** Replaces lists of the live object by the child's. isConflict when the object has changed since it was read. */
export async function replaceLists(
  client: KubeClient,
  resource: ResourceName,
  { live, child }: { readonly live: KubeObject; readonly child: KubeObject },
  paths: readonly string[],
  { fieldManager, signal }: { readonly fieldManager: string; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  // The version is guard enough against an object created anew under the same name.
  const guard: Fields = { metadata: { resourceVersion: live.metadata.resourceVersion } };
  await client.request({
    method: 'PATCH',
    path: objectPath(resource, live.metadata),
    query: { fieldManager },
    contentType: 'application/merge-patch+json',
    body: paths.reduce((body, path) => withList(body, path.split('.'), listAt(child, path)), guard),
    signal,
  });
}

function listAt(object: KubeObject, path: string): readonly unknown[] {
  const found = path.split('.').reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), object);
  return Array.isArray(found) ? found : [];
}

function isWithin(wanted: unknown, live: unknown): boolean {
  if (Array.isArray(wanted) && Array.isArray(live)) {
    return wanted.length === live.length && wanted.every((one, index) => isWithin(one, live[index]));
  }
  if (!isRecord(wanted) || !isRecord(live)) return wanted === live;
  return Object.entries(wanted).every(([name, value]) => isWithin(value, live[name]));
}

function withList(body: Fields, [name = '', ...rest]: readonly string[], list: readonly unknown[]): Fields {
  const below = body[name];
  return { ...body, [name]: rest.length === 0 ? list : withList(isRecord(below) ? below : {}, rest, list) };
}
