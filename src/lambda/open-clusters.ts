// The clusters of a function: the table that its settings name, and clients for what is in it.
import { SSMClient } from '@aws-sdk/client-ssm';
import { type Clusters, createClusters } from '../clusters/connect.ts';
import { openClusterSource } from '../clusters/open-source.ts';
import { type ClusterTable, createClusterTable } from '../clusters/table.ts';

/** Opens the clusters table at a place (`ssm:/path/` or a file) and the way to the clusters in it. */
export function openClusters(
  place: string,
  userAgent: string,
): { readonly table: ClusterTable; readonly clusters: Clusters } {
  const now = () => new Date();
  const table = createClusterTable(
    openClusterSource(place, () => new SSMClient({ maxAttempts: 3 })),
    { now },
  );
  return { table, clusters: createClusters(table, { now, client: { userAgent } }) };
}
