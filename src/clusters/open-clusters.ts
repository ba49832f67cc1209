// The clusters of a process: the clusters table that its settings name, and the clients of the clusters in it.
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { SecretReader } from '../api/secret.ts';
import { UserError } from '../core/errors.ts';
import { createSecretReader } from './auth/secret-reader.ts';
import { type Clusters, createClusters } from './connect.ts';
import { type ClusterRegistry, createClusterRegistry, type FailedTableRead } from './registry/registry.ts';
import { openClusterSource } from './registry/source.ts';

/** How the process reaches AWS, and what it does after a failed read of the table. */
export type OpenClustersOptions = {
  readonly region: string | undefined;
  readonly s3Endpoint: string | undefined;
  /** How long a read of the table is used. Default: that of its source. */
  readonly refreshSeconds?: number;
  readonly onFailedRead?: (failed: FailedTableRead) => void;
};

/**
 * Opens the clusters table at a location (`s3://bucket/key`, `ssm:/path/` or a file), the clients of its clusters, and
 * the reader of their secrets.
 */
export function openClusters(
  location: string,
  userAgent: string,
  { region, s3Endpoint, refreshSeconds, onFailedRead }: OpenClustersOptions,
): { readonly table: ClusterRegistry; readonly clusters: Clusters; readonly secrets: SecretReader } {
  const now = () => new Date();
  const secrets = createSecretReader({ now });
  const credentials = defaultProvider();
  const aws = { region: async () => requireRegion(region, location), credentials, s3Endpoint, now };
  const source = openClusterSource(location, aws);
  const table = createClusterRegistry(refreshSeconds === undefined ? source : { ...source, refreshSeconds }, {
    now,
    onFailedRead,
  });
  return { table, clusters: createClusters(table, { now, secrets, credentials, client: { userAgent } }), secrets };
}

function requireRegion(region: string | undefined, location: string): string {
  if (region !== undefined) return region;
  throw new UserError(`clusters table ${location}: the region is not known; set AWS_REGION`);
}
