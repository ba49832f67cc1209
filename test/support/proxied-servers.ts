// A real control plane and an SQS server, each behind a proxy that counts requests and injects faults, and the clients
// of both.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { type ClusterAccess, openCluster } from '@outrigger/cli/dev/cluster-access';
import { createLocalSqsClient, startSqs } from '@outrigger/cli/dev/sqs-server';
import { type ChaosProxy, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import type { PlainServer } from '../../tools/chaos/plain-api.ts';
import type { ControlPlane, ControlPlaneOptions } from '../../tools/control-plane/control-plane.ts';
import { writeKubeconfig } from '../../tools/control-plane/kubeconfig.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';

/** The two servers and their clients. */
export type ProxiedServers = {
  readonly plane: ControlPlane;
  /** The proxies in front of the API server and of SQS. */
  readonly api: ChaosProxy;
  readonly sqs: ChaosProxy;
  /** The servers themselves. */
  readonly direct: { readonly api: PlainServer; readonly sqs: PlainServer };
  /** Access through the proxy, as an admin. */
  readonly cluster: ClusterAccess;
  /** A client of SQS itself. */
  readonly client: SQSClient;
};

/** Starts both. `cleanup` stops them. */
export async function startProxiedServers(
  cleanup: AsyncDisposableStack,
  options: ControlPlaneOptions,
  signal: AbortSignal,
): Promise<ProxiedServers> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-proxied-'));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const plane = await startControlPlane(options);
  cleanup.defer(() => plane.stop());
  const api = await startChaosProxy({ url: plane.url, ca: plane.ca, certificate: await certificateOf(plane) });
  cleanup.defer(() => api.close());
  const file = path.join(folder, 'kubeconfig-proxied');
  await writeKubeconfig(file, api.url, { ca: plane.ca, token: plane.adminToken });
  const cluster = await openCluster(folder, { file, signal });
  cleanup.defer(() => cluster.close());

  const server = await startSqs();
  cleanup.defer(() => server.close());
  const sqs = await startChaosProxy({ url: server.endpoint });
  cleanup.defer(() => sqs.close());
  const client = createLocalSqsClient(server.endpoint);
  cleanup.defer(() => client.destroy());
  const direct = { api: { url: plane.url, ca: plane.ca, token: plane.adminToken }, sqs: { url: server.endpoint } };
  return { plane, api, sqs, direct, cluster, client };
}

/**
 * The proxy uses the API server's own certificate: both have the same address, so no client needs another authority.
 */
async function certificateOf(plane: ControlPlane): Promise<{ readonly cert: string; readonly key: string }> {
  const certificates = path.join(path.dirname(plane.kubeconfig()), 'certificates');
  return { cert: plane.ca, key: await readFile(path.join(certificates, 'apiserver.key'), 'utf8') };
}
