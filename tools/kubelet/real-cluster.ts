// A whole cluster without containers: a real control plane with kube-controller-manager, and a kubelet whose pods are Ready, Bitcoin's
// with a real btcd each.
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { type BitcoinPrograms, bitcoinPrograms } from '../bitcoin-node/bitcoin-programs.ts';
import type { ControlPlane, ControlPlaneOptions } from '../control-plane/control-plane.ts';
import { startControlPlane } from '../control-plane/start.ts';
import { type Kubelet, startKubelet } from './kubelet.ts';

/** The cluster, running. */
export interface RealCluster {
  readonly plane: ControlPlane;
  readonly kubelet: Kubelet;
  readonly programs: BitcoinPrograms;
  /** An admin's. */
  readonly client: KubeClient;
  /** Ends every process of it. */
  close(): Promise<void>;
}

/** Starts it, in some seconds; `options` are the control plane's, `onTrouble` hears the kubelet's complaints. */
export async function startRealCluster(
  options: Omit<ControlPlaneOptions, 'controllerManager'> = {},
  onTrouble: (line: string) => void = () => undefined,
): Promise<RealCluster> {
  await using parts = new AsyncDisposableStack();
  const programs = await bitcoinPrograms();
  parts.defer(() => programs.close());
  const plane = await startControlPlane({ ...options, controllerManager: true });
  parts.defer(() => plane.stop());
  const client = createClient(plane.connection(), { userAgent: 'kubelet' });
  parts.defer(() => client.close());
  const kubelet = await startKubelet(client, { programs, onTrouble });
  parts.defer(() => kubelet.close());
  const whole = parts.move();
  return { plane, kubelet, programs, client, close: () => whole.disposeAsync() };
}
