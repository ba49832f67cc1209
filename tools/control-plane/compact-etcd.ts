// Compacts an etcd: what a cluster does every five minutes, at a moment that a test chooses.
import { callEtcd } from '../../test/control-plane/call-etcd.ts';

/** Makes the etcd that listens on a socket forget every version before its present one. Rejects when it does not. */
export async function compactEtcd(socketPath: string): Promise<void> {
  // Keys and values are base64; any key will do to be told the revision.
  const { header } = Object(await callEtcd(socketPath, '/v3/kv/range', { key: 'eA==' }));
  const { revision } = Object(header);
  await callEtcd(socketPath, '/v3/kv/compaction', { revision, physical: true });
}
