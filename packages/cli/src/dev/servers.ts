// Starts the API server and SQS of the local system. Both are embedded, unless the developer names real ones. In both
// cases the rest of the system gets an address and a client.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import type { Execute } from '@outrigger/apiserver/exec/execute';
import type { AllowedHosts } from '@outrigger/common/http/foreign-request';
import { functionUser } from 'outrigger/internal/core/names';
import { type ClusterAccess, openCluster } from './cluster-access.ts';
import { explainListening, explainQueueEndpoint } from './explain-error.ts';
import { keepObjects, readKeptObjects } from './kept-objects.ts';
import { replaceFile } from './replace-file.ts';
import { createLocalSqsClient, type LocalSqs, startSqs } from './sqs-server.ts';

/** The objects of the embedded API server, with --keep. */
const keptObjectsFile = 'objects.json';

/** The options of the API server. */
export type ClusterStart = AllowedHosts & {
  readonly folder: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly apiPort: number;
  /** Whether the objects of the embedded API server are kept in a file of the folder. */
  readonly keep: boolean;
  /** Runs commands in the pods of the embedded API server. */
  readonly execute: Execute;
  readonly signal: AbortSignal;
};

/** The servers that are embedded in this process, with their faults. */
export type EmbeddedServers = {
  readonly apiServer?: Pick<ApiServer, 'inject' | 'breakStreams'> | undefined;
  readonly sqs?: Pick<LocalSqs, 'setDown'> | undefined;
};

/** Starts the embedded API server, or opens the developer's cluster. Adds each started part to `parts`. */
export async function startCluster(
  parts: AsyncDisposableStack,
  { folder, kubeconfig, context, apiPort, keep, execute, signal, allowedHosts = [] }: ClusterStart,
): Promise<ClusterAccess & Pick<EmbeddedServers, 'apiServer'> & { readonly keptObjects: number }> {
  let file = kubeconfig;
  let apiServer: ApiServer | undefined;
  let keptObjects = 0;
  if (file === undefined) {
    const objectsFile = path.join(folder, keptObjectsFile);
    const snapshot = keep ? await readKeptObjects(objectsFile) : undefined;
    keptObjects = Object.values(snapshot?.collections ?? {}).flat().length;
    const server = await explainListening('--api-port', apiPort, () =>
      startApiServer({ port: apiPort, host: '127.0.0.1', execute, allowedHosts, snapshot, identify: functionUser }),
    );
    parts.defer(() => server.close());
    if (keep) {
      const keeper = keepObjects(server, objectsFile);
      parts.defer(() => keeper.close());
    }
    apiServer = server;
    file = path.join(folder, 'kubeconfig');
    await replaceFile(file, server.kubeconfig(), { mode: 0o600 });
  }
  const cluster = await openCluster(folder, { file, signal, context });
  parts.defer(() => cluster.close());
  return { ...cluster, keptObjects, ...(apiServer === undefined ? {} : { apiServer }) };
}

/**
 * An SQS server. `generation` identifies an embedded one, which started empty; it is empty for a developer's own
 * server.
 */
export type QueueServer = Pick<EmbeddedServers, 'sqs'> & {
  readonly endpoint: string;
  readonly client: SQSClient;
  readonly generation: string;
};

/**
 * Starts the embedded SQS server, or checks that the developer's server responds. Adds each started part to `parts`.
 */
export async function startQueueServer(
  parts: AsyncDisposableStack,
  options: AllowedHosts & {
    readonly queueEndpoint: string | undefined;
    readonly queuePort: number;
    readonly signal: AbortSignal;
  },
): Promise<QueueServer> {
  let endpoint = options.queueEndpoint;
  let sqs: LocalSqs | undefined;
  const generation = endpoint === undefined ? randomUUID() : '';
  if (endpoint === undefined) {
    const server = await explainListening('--queue-port', options.queuePort, () =>
      startSqs({ port: options.queuePort, allowedHosts: options.allowedHosts ?? [] }),
    );
    parts.defer(() => server.close());
    endpoint = server.endpoint;
    sqs = server;
  }
  await explainQueueEndpoint(endpoint, options.signal);
  const client = createLocalSqsClient(endpoint);
  parts.defer(() => client.destroy());
  return { endpoint, client, generation, sqs };
}
