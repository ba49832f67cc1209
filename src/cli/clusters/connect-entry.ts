// Connects to a cluster with the credentials of an entry, for a command that has read the entry itself.
import { createSecretReader } from '../../clusters/auth/secret-reader.ts';
import { connectionOf, resolveEntry } from '../../clusters/connection.ts';
import type { ClusterEntry } from '../../clusters/registry/entry.ts';
import { createClient, type KubeClient } from '../../kube/client/client.ts';
import { awsAccess, type RegionFlag } from '../stage-table.ts';

/** Creates a client. Throws a UserError for an entry or credentials that cannot be used. */
export async function connectEntry(name: string, entry: ClusterEntry, region: RegionFlag): Promise<KubeClient> {
  const { credentials, now } = awsAccess(region);
  const resolved = await resolveEntry(name, entry, createSecretReader({ now }));
  return createClient(await connectionOf(name, resolved, { credentials, now }), { userAgent: 'outrigger-cli' });
}
