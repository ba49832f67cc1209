// A whole cluster without containers: a real control plane with kube-controller-manager, and a kubelet whose pods are
// Ready, with a real btcd in each Bitcoin pod.
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { type BitcoinPrograms, bitcoinPrograms } from '../bitcoin-node/bitcoin-programs.ts';
import type { ControlPlane, ControlPlaneOptions } from '../control-plane/control-plane.ts';
import { startControlPlane } from '../control-plane/start.ts';
import { type Kubelet, startKubelet } from './kubelet.ts';

/** The running cluster. */
export type RealCluster = {
  readonly plane: ControlPlane;
  readonly kubelet: Kubelet;
  readonly programs: BitcoinPrograms;
  /** With admin permissions. */
  readonly client: KubeClient;
  /** Stops all its processes. */
  close(): Promise<void>;
};

/** Starts the cluster, in some seconds; `options` are the control plane's, `onError` receives the kubelet's errors. */
export async function startRealCluster(
  options: Omit<ControlPlaneOptions, 'controllerManager'> = {},
  onError: (line: string) => void = () => undefined,
): Promise<RealCluster> {
  await using cleanup = new AsyncDisposableStack();
  const programs = await bitcoinPrograms();
  cleanup.defer(() => programs.close());
  const plane = await startControlPlane({ ...options, controllerManager: true });
  cleanup.defer(() => plane.stop());
  const client = createClient(plane.connection(), { userAgent: 'kubelet' });
  cleanup.defer(() => client.close());
  const kubelet = await startKubelet(client, { programs, onError });
  cleanup.defer(() => kubelet.close());
  const resources = cleanup.move();
  return { plane, kubelet, programs, client, close: () => resources.disposeAsync() };
}
