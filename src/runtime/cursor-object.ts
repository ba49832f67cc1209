// Where the cursor is kept: one ConfigMap, shipped empty, so that its watcher needs no more than get and patch by name.
import { existingKind } from '../core/kind.ts';
import { cursorName, systemNamespace } from '../core/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { type KubeObject, parseObject } from '../kube/client/object.ts';
import { objectPath } from '../kube/client/path.ts';
import { getObject } from '../kube/client/read.ts';
import { isRecord } from '../kube/record.ts';

const configMap = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const namespaces = existingKind<object>({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
const place = { namespace: systemNamespace, name: cursorName };
const dataKey = 'cursor';

/** The cursor's text, undefined as it is shipped, and the version of the object that holds it. */
export type CursorObject = {
  readonly text: string | undefined;
  readonly resourceVersion: string;
  /** When the manifests brought it, in milliseconds since 1970; NaN where nobody says. */
  readonly createdAtMs: number;
};

/** Reads the cursor; undefined when its object is not there. */
export async function readCursorObject(
  client: KubeClient,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<CursorObject | undefined> {
  const object = await getObject(client, configMap, place, { signal });
  return object === undefined ? undefined : cursorIn(object);
}

/** Writes the cursor over the one that was read, and returns it with its new version. isConflict when it has changed since. */
export async function writeCursorObject(
  client: KubeClient,
  { text, resourceVersion }: Pick<CursorObject, 'text' | 'resourceVersion'>,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<CursorObject> {
  const { body } = await client.request({
    method: 'PATCH',
    path: objectPath(configMap, place),
    query: { fieldManager: 'outrigger-watcher' },
    contentType: 'application/merge-patch+json',
    body: { metadata: { resourceVersion }, data: { [dataKey]: text } },
    signal,
  });
  return cursorIn(parseObject(body));
}

/** Reads whose cluster this is: the uid of kube-system; undefined when nobody can tell. */
export async function readClusterUid(
  client: KubeClient,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<string | undefined> {
  return (await getObject(client, namespaces, { name: 'kube-system' }, { signal }))?.metadata.uid;
}

/** Tells the cursor's own object from everything that is watched: its changes concern nobody. */
export function isCursorObject(
  { group, plural }: { readonly group: string; readonly plural: string },
  { namespace, name }: { readonly namespace?: string; readonly name: string },
): boolean {
  return group === '' && plural === configMap.plural && namespace === place.namespace && name === place.name;
}

function cursorIn({ metadata, data }: KubeObject): CursorObject {
  const text = isRecord(data) ? data[dataKey] : undefined;
  return {
    text: typeof text === 'string' ? text : undefined,
    resourceVersion: metadata.resourceVersion ?? '',
    createdAtMs: Date.parse(metadata.creationTimestamp ?? ''),
  };
}
