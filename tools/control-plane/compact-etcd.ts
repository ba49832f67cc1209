// Compacts an etcd, as kube-apiserver does every five minutes, at a moment that the test chooses.
import { callEtcd } from './call-etcd.ts';

/** Compacts the etcd that listens on a socket up to its present revision. Rejects on an error. */
export async function compactEtcd(socketPath: string): Promise<void> {
  // Keys and values are base64. A read of any key returns the present revision.
  const { header } = Object(await callEtcd(socketPath, '/v3/kv/range', { key: 'eA==' }));
  const { revision } = Object(header);
  await callEtcd(socketPath, '/v3/kv/compaction', { revision, physical: true });
}
