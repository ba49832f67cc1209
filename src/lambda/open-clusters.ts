// The clusters of a function: the table that its settings name, and clients for what is in it.
import { SSMClient } from '@aws-sdk/client-ssm';
import { type Clusters, createClusters } from '../clusters/connect.ts';
import { openClusterSource } from '../clusters/open-source.ts';
import { createSecretReader } from '../clusters/secret-reader.ts';
import { type ClusterTable, createClusterTable } from '../clusters/table.ts';
import type { SecretReader } from '../api/secret.ts';

/** Opens the clusters table at a place (`ssm:/path/` or a file), the way to the clusters in it, and the secrets they refer to. */
export function openClusters(
  place: string,
  userAgent: string,
): { readonly table: ClusterTable; readonly clusters: Clusters; readonly secrets: SecretReader } {
  const now = () => new Date();
  const secrets = createSecretReader({ now });
  const table = createClusterTable(
    openClusterSource(place, () => new SSMClient({ maxAttempts: 3 })),
    { now },
  );
  return { table, clusters: createClusters(table, { now, secrets, client: { userAgent } }), secrets };
}
