// Replaces lists that the API merges by key but that one controller should own completely, such as a Service's ports.
// An apply keeps the items of other managers. If another client renumbers a port, the next apply adds a second port
// with the same name, which the server always rejects. Before the apply, a merge patch of the whole list removes
// foreign items.
import { isRecord } from '../../core/json.ts';
import type { KubeClient } from '../client/client.ts';
import type { KubeObject, ResourceName } from '../client/object.ts';
import { objectPath } from '../client/path.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the dotted paths of the lists that have a foreign item. A default that the API filled in makes no difference.
 */
export function foreignItems(live: KubeObject, child: KubeObject, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    const desired = listAt(child, path);
    return listAt(live, path).some((item) => !desired.some((one) => isWithin(one, item)));
  });
}

/** Returns the dotted paths of all lists of a child, except in its metadata, which other managers share. */
export function listsOf({ metadata: _, ...content }: KubeObject): readonly string[] {
  return listsBelow(content);
}

function listsBelow(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (Array.isArray(value)) return [name];
    return isRecord(value) ? listsBelow(value).map((path) => `${name}.${path}`) : [];
  });
}

/** Replaces lists of the live object with the child's. The error is isConflict if the object changed since the read. */
export async function replaceLists(
  client: KubeClient,
  resource: ResourceName,
  { live, child }: { readonly live: KubeObject; readonly child: KubeObject },
  paths: readonly string[],
  { fieldManager, signal }: { readonly fieldManager: string; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  // The resourceVersion also protects against a recreated object of the same name.
  const precondition: Fields = { metadata: { resourceVersion: live.metadata.resourceVersion } };
  await client.request({
    method: 'PATCH',
    path: objectPath(resource, live.metadata),
    query: { fieldManager },
    contentType: 'application/merge-patch+json',
    body: paths.reduce((body, path) => withList(body, path.split('.'), listAt(child, path)), precondition),
    signal,
  });
}

function listAt(object: KubeObject, path: string): readonly unknown[] {
  const found = path.split('.').reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), object);
  return Array.isArray(found) ? found : [];
}

function isWithin(desired: unknown, live: unknown): boolean {
  if (Array.isArray(desired) && Array.isArray(live)) {
    return desired.length === live.length && desired.every((one, index) => isWithin(one, live[index]));
  }
  if (!isRecord(desired) || !isRecord(live)) return desired === live;
  return Object.entries(desired).every(([name, value]) => isWithin(value, live[name]));
}

function withList(body: Fields, [name = '', ...rest]: readonly string[], list: readonly unknown[]): Fields {
  const child = body[name];
  return { ...body, [name]: rest.length === 0 ? list : withList(isRecord(child) ? child : {}, rest, list) };
}
