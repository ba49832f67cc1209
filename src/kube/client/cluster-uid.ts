// The identity of a cluster: the uid of its namespace kube-system, which a restore keeps and a new cluster does not
// have. The watcher compares it with the cluster of its checkpoint, and a function with the cluster of a key.
import { describeKind } from '../../core/kind-names.ts';
import type { KubeClient } from './client.ts';
import { getObject } from './read.ts';

const namespaces = describeKind({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });

/** Reads the identity of the cluster; undefined if there is no such namespace. */
export async function readClusterUid(
  client: KubeClient,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<string | undefined> {
  return (await getObject(client, namespaces, { name: 'kube-system' }, { signal }))?.metadata.uid;
}
