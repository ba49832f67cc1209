// The ConfigMap that stores the watch checkpoint. It is installed empty, with the manifests, so the watcher only needs
// the verbs get and patch on this one name.
import { isRecord } from '../core/json.ts';
import { describeKind } from '../core/kind-names.ts';
import { clusterNames, isCheckpointKey } from '../core/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { type KubeObject, parseWritten } from '../kube/client/object.ts';
import { objectPath } from '../kube/client/path.ts';
import { getObject } from '../kube/client/read.ts';
import { withServerTime } from '../kube/client/server-time.ts';

const configMap = describeKind({ group: '', version: 'v1', kind: 'ConfigMap' });
const dataKey = 'checkpoint';

/** The ConfigMap of the checkpoint. */
export type CheckpointConfigMap = {
  /** The checkpoint as text; undefined while no watcher has written it. */
  readonly text: string | undefined;
  readonly resourceVersion: string;
  /** When the manifests were applied, in milliseconds since 1970; NaN if unknown. */
  readonly createdAtMs: number;
  /** When it was read, by the clock of the API server, in milliseconds since 1970; undefined if unknown. */
  readonly readAtMs?: number | undefined;
};

/** The project whose checkpoint it is. Absent: the default one. */
type CheckpointOptions = { readonly project?: string | undefined; readonly signal?: AbortSignal | undefined };

/** Reads the ConfigMap; undefined if it does not exist. */
export async function readCheckpoint(
  client: KubeClient,
  { project, signal }: CheckpointOptions = {},
): Promise<CheckpointConfigMap | undefined> {
  let readAtMs: number | undefined;
  const dated = withServerTime(client, (ms) => {
    readAtMs = ms;
  });
  const object = await getObject(dated, configMap, checkpointKey(project), { signal });
  return object === undefined ? undefined : { ...parseConfigMap(object), readAtMs };
}

/**
 * Replaces the checkpoint in the ConfigMap that was read, and returns the new one. Throws isConflict if it changed
 * since.
 */
export async function writeCheckpoint(
  client: KubeClient,
  { text, resourceVersion }: Pick<CheckpointConfigMap, 'text' | 'resourceVersion'>,
  { project, signal }: CheckpointOptions = {},
): Promise<CheckpointConfigMap> {
  const path = objectPath(configMap, checkpointKey(project));
  const { body } = await client.request({
    method: 'PATCH',
    path,
    query: { fieldManager: clusterNames(project).watcher },
    contentType: 'application/merge-patch+json',
    body: { metadata: { resourceVersion }, data: { [dataKey]: text } },
    signal,
  });
  return parseConfigMap(parseWritten(body, `PATCH ${path}`));
}

/** Returns whether an object is the ConfigMap of a project's checkpoint. The watch loops ignore its changes. */
export function isCheckpointConfigMap(
  { group, plural }: { readonly group: string; readonly plural: string },
  { namespace = '', name }: { readonly namespace?: string; readonly name: string },
): boolean {
  const isConfigMap = group === '' && plural === configMap.plural;
  return isConfigMap && isCheckpointKey({ namespace, name });
}

function checkpointKey(project: string | undefined): { readonly namespace: string; readonly name: string } {
  const { namespace, checkpoint: name } = clusterNames(project);
  return { namespace, name };
}

function parseConfigMap({ metadata, data }: KubeObject): CheckpointConfigMap {
  const text = isRecord(data) ? data[dataKey] : undefined;
  return {
    text: typeof text === 'string' ? text : undefined,
    resourceVersion: metadata.resourceVersion ?? '',
    createdAtMs: Date.parse(metadata.creationTimestamp ?? ''),
  };
}
