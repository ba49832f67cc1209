// The clusters of a function: the clusters table that its settings name, and the clients of the clusters in it.
import { SSMClient } from '@aws-sdk/client-ssm';
import type { SecretReader } from '../api/secret.ts';
import { createSecretReader } from './auth/secret-reader.ts';
import { type Clusters, createClusters } from './connect.ts';
import { type ClusterRegistry, createClusterRegistry } from './registry/registry.ts';
import { openClusterSource } from './registry/source.ts';

/**
 * Opens the clusters table at a location (`ssm:/path/` or a file), the clients of its clusters, and the reader of their
 * secrets.
 */
export function openClusters(
  location: string,
  userAgent: string,
): { readonly table: ClusterRegistry; readonly clusters: Clusters; readonly secrets: SecretReader } {
  const now = () => new Date();
  const secrets = createSecretReader({ now });
  const table = createClusterRegistry(
    openClusterSource(location, () => new SSMClient({ maxAttempts: 3 })),
    { now },
  );
  return { table, clusters: createClusters(table, { now, secrets, client: { userAgent } }), secrets };
}
