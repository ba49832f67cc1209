// A real control plane and an SQS server, each behind a proxy that can count what passes and break it; and what the system's own parts
// need to get to both.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { type ClusterAccess, openCluster } from '../../src/dev/cluster-access.ts';
import { createLocalSqsClient, startSqs } from '../../src/dev/sqs-server.ts';
import { type ChaosProxy, startChaosProxy } from '../chaos/chaos-proxy.ts';
import type { PlainServer } from '../../tools/chaos/plain-api.ts';
import type { ControlPlane, ControlPlaneOptions } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';

/** The two servers and the ways to them. */
export type Bordered = {
  readonly plane: ControlPlane;
  /** In front of the API server and of SQS. */
  readonly api: ChaosProxy;
  readonly sqs: ChaosProxy;
  /** The servers themselves. */
  readonly direct: { readonly api: PlainServer; readonly sqs: PlainServer };
  /** Leads by way of the proxy, as an admin. */
  readonly cluster: ClusterAccess;
  /** Leads to SQS itself. */
  readonly client: SQSClient;
};

/** Starts both. What was started is put on `parts`. */
export async function startBordered(
  parts: AsyncDisposableStack,
  options: ControlPlaneOptions,
  signal: AbortSignal,
): Promise<Bordered> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-bordered-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const plane = await startControlPlane(options);
  parts.defer(() => plane.stop());
  const api = await startChaosProxy({ url: plane.url, ca: plane.ca, certificate: await certificateOf(plane) });
  parts.defer(() => api.close());
  const file = path.join(folder, 'kubeconfig-bordered');
  await writeFile(file, kubeconfig(api.url, plane), { mode: 0o600 });
  const cluster = await openCluster(folder, { file, signal });
  parts.defer(() => cluster.close());

  const server = await startSqs();
  parts.defer(() => server.close());
  const sqs = await startChaosProxy({ url: server.endpoint });
  parts.defer(() => sqs.close());
  const client = createLocalSqsClient(server.endpoint);
  parts.defer(() => client.destroy());
  const direct = {
    api: { url: plane.url, ca: plane.ca, token: plane.adminToken },
    sqs: { url: server.endpoint },
  };
  return { plane, api, sqs, direct, cluster, client };
}

/** The proxy shows the API server's own certificate: it is on the same address, so nothing has to trust another authority. */
async function certificateOf(plane: ControlPlane): Promise<{ readonly cert: string; readonly key: string }> {
  const certificates = path.join(path.dirname(plane.kubeconfig()), 'certificates');
  return { cert: plane.ca, key: await readFile(path.join(certificates, 'apiserver.key'), 'utf8') };
}

function kubeconfig(server: string, { ca, adminToken: token }: ControlPlane): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'bordered' },
    clusters: [{ name: 'bordered', cluster }],
    users: [{ name: 'bordered', user: { token } }],
    contexts: [{ name: 'bordered', context: { cluster: 'bordered', user: 'bordered' } }],
  });
}
