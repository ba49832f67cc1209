// The kubelet's Node: its address for the API server, and the lease by which kube-controller-manager considers it
// alive.
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/client/errors.ts';
import type { ResourceName } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';

const nodes: ResourceName = { group: '', version: 'v1', plural: 'nodes', namespaced: false };
const leases: ResourceName = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true };
const leaseNamespace = 'kube-node-lease';
// The kubelet's own values: four renewals fit into the 40 s after which a node counts as lost.
const renewSeconds = 10;
const leaseSeconds = 40;
const fieldManager = 'kubelet';

/** Registers a node whose kubelet listens on a port of 127.0.0.1. `close` removes it. */
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
        metadata: { name, namespace: leaseNamespace },
        spec: {
          holderIdentity: name,
          leaseDurationSeconds: leaseSeconds,
          renewTime: time().replace('Z', '000Z'),
        },
      },
      { fieldManager, force: true },
    );
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  await applyObject(client, nodes, node, { fieldManager });
  const capacity = { cpu: '64', memory: '256Gi', pods: '10000' };
  const readySince = time().replace(/\.\d+/, '');
  /** Repeated: kube-controller-manager sets Unknown when renewals are late, and nothing else sets True again. */
  const postStatus = async () =>
    await client.request({
      method: 'PATCH',
      path: objectPath(nodes, { name }, 'status'),
      contentType: 'application/merge-patch+json',
      body: {
        status: {
          addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
          daemonEndpoints: { kubeletEndpoint: { Port: port } },
          capacity,
          allocatable: capacity,
          conditions: [
            {
              type: 'Ready',
              status: 'True',
              reason: 'KubeletReady',
              message: 'test kubelet',
              lastHeartbeatTime: time().replace(/\.\d+/, ''),
              lastTransitionTime: readySince,
            },
          ],
          // With this feature kube-apiserver forwards kubectl's WebSockets unchanged, instead of converting them to SPDY.
          declaredFeatures: ['ExtendWebSocketsToKubelet'],
        },
      },
    });
  await postStatus();
  await renew();
  // A failed renewal is followed by another.
  const renewAll = async () => await Promise.all([renew(), postStatus()]);
  const timer = setInterval(() => void renewAll().catch(() => undefined), renewSeconds * 1000).unref();
  return {
    async close() {
      clearInterval(timer);
      await remove(client, leases, { name, namespace: leaseNamespace });
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
