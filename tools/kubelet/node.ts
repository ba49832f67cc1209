// The kubelet's Node: where the API server finds it, and the lease by which kube-controller-manager believes that it lives.
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/client/errors.ts';
import type { ResourceName } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';

const nodes: ResourceName = { group: '', version: 'v1', plural: 'nodes', namespaced: false };
const leases: ResourceName = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true };
const LEASE_NAMESPACE = 'kube-node-lease';
// The kubelet's own: four of them fit into the 40 s after which a node is given up.
const RENEW_SECONDS = 10;
const LEASE_SECONDS = 40;
const fieldManager = 'kubelet';

/** Registers a node whose kubelet listens on a port of 127.0.0.1. `close` takes it away again. */
export async function registerNode(
  client: KubeClient,
  name: string,
  port: number,
): Promise<{ close(): Promise<void> }> {
  const time = () => new Date().toISOString();
  const renew = () =>
    applyObject(
      client,
      leases,
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace: LEASE_NAMESPACE },
        spec: {
          holderIdentity: name,
          leaseDurationSeconds: LEASE_SECONDS,
          renewTime: time().replace('Z', '000Z'),
        },
      },
      { fieldManager, force: true },
    );
  const described = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  await applyObject(client, nodes, described, { fieldManager });
  const capacity = { cpu: '64', memory: '256Gi', pods: '10000' };
  const seconds = time().replace(/\.\d+/, '');
  await client.request({
    method: 'PATCH',
    path: objectPath(nodes, { name }, 'status'),
    contentType: 'application/merge-patch+json',
    body: {
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
        ...{ capacity, allocatable: capacity },
        conditions: [
          {
            ...{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'a kubelet of tests' },
            ...{ lastHeartbeatTime: seconds, lastTransitionTime: seconds },
          },
        ],
        // Then kube-apiserver passes kubectl's WebSockets on as they are, and does not turn them into SPDY.
        declaredFeatures: ['ExtendWebSocketsToKubelet'],
      },
    },
  });
  await renew();
  // A renewal that fails is followed by another; what a late one costs shows in the node's conditions.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_SECONDS * 1000).unref();
  return {
    async close() {
      clearInterval(timer);
      await remove(client, leases, { name, namespace: LEASE_NAMESPACE });
      await remove(client, nodes, { name });
    },
  };
}

async function remove(
  client: KubeClient,
  resource: ResourceName,
  key: { readonly name: string; readonly namespace?: string },
): Promise<void> {
  await client.request({ method: 'DELETE', path: objectPath(resource, key) }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
