// Connects to a cluster with the credentials of an entry, for a command that has read the entry itself.
import { createSecretReader } from 'outrigger/internal/clusters/auth/secret-reader';
import { connectionOf, resolveEntry } from 'outrigger/internal/clusters/connection';
import type { ClusterEntry } from 'outrigger/internal/clusters/registry/entry';
import { createClient, type KubeClient } from 'outrigger/internal/kube/client/client';
import { disposable } from '../command.ts';
import { awsAccess, type RegionFlag } from '../stage-table.ts';

/** Creates a client. Throws a UserError for an entry or credentials that cannot be used. */
export async function connectEntry(
  name: string,
  entry: ClusterEntry,
  region: RegionFlag,
): Promise<KubeClient & Disposable> {
  const { credentials, now } = awsAccess(region);
  const resolved = await resolveEntry(name, entry, createSecretReader({ now }));
  return disposable(
    createClient(await connectionOf(name, resolved, { credentials, now }), { userAgent: 'outrigger-cli' }),
  );
}
