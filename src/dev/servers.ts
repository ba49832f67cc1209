// The two parts that can be swapped for real ones: the API server and SQS. Embedded unless the developer names others; either
// way the rest of the system sees an address and a client.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Execute } from '../local/api-server/exec/execute.ts';
import { startApiServer } from '../apiserver/server.ts';
import { type ClusterAccess, openCluster } from './cluster-access.ts';
import { explainListening, explainQueueEndpoint } from './explain-error.ts';
import { createLocalSqsClient, startSqs } from './sqs-server.ts';

/** Which API server. */
export type ClusterStart = {
  readonly folder: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly apiPort: number;
  /** Runs commands in the pods of the embedded API server. */
  readonly execute: Execute;
  readonly signal: AbortSignal;
};

/** Starts the embedded API server, or opens the developer's cluster. What was started is put on `parts`. */
export async function startCluster(
  parts: AsyncDisposableStack,
  { folder, kubeconfig, context, apiPort, execute, signal }: ClusterStart,
): Promise<ClusterAccess> {
  let file = kubeconfig;
  if (file === undefined) {
    const server = await explainListening('--api-port', apiPort, () =>
      startApiServer({ port: apiPort, host: '127.0.0.1', execute }),
    );
    parts.defer(() => server.close());
    file = path.join(folder, 'kubeconfig');
    await writeFile(file, server.kubeconfig(), { mode: 0o600 });
  }
  const cluster = await openCluster(folder, { file, signal, ...(context === undefined ? {} : { context }) });
  parts.defer(() => cluster.close());
  return cluster;
}

/** An SQS server. `id` tells one that began empty from all others; a developer's own is told by its address. */
export type QueueServer = { readonly endpoint: string; readonly client: SQSClient; readonly id: string };

/** Starts the embedded SQS server, or makes sure that the developer's answers. What was started is put on `parts`. */
export async function startQueueServer(
  parts: AsyncDisposableStack,
  options: { readonly queueEndpoint: string | undefined; readonly queuePort: number; readonly signal: AbortSignal },
): Promise<QueueServer> {
  let endpoint = options.queueEndpoint;
  const id = endpoint === undefined ? randomUUID() : '';
  if (endpoint === undefined) {
    const server = await explainListening('--queue-port', options.queuePort, () =>
      startSqs({ port: options.queuePort }),
    );
    parts.defer(() => server.close());
    endpoint = server.endpoint;
  }
  await explainQueueEndpoint(endpoint, options.signal);
  const client = createLocalSqsClient(endpoint);
  parts.defer(() => client.destroy());
  return { endpoint, client, id };
}
