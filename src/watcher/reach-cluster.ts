// Which cluster a watcher watches: its own, as the pod's service account, unless it is given a kubeconfig.
import { loadServiceAccount, type ServiceAddress, serviceAccountSource } from '../clusters/auth/service-account.ts';
import type { Connection } from '../kube/connection.ts';
import type { WatcherSettings } from '../settings.ts';

/** How to reach it, and what messages call that. */
export type Reached = { readonly connection: Connection; readonly source: string };

/** Loads the connection. Throws a ConnectionProblem. */
export async function reachCluster(settings: WatcherSettings): Promise<Reached> {
  const { KUBECONFIG: file, KUBECONFIG_CONTEXT: context } = settings;
  const address = file === undefined ? addressOf(settings) : undefined;
  if (address !== undefined) return { connection: await loadServiceAccount(address), source: serviceAccountSource };
  // Loaded when it is needed: a pod does without the official client, which is most of the bundle.
  const { loadKubeconfig } = await import('../clusters/kubeconfig/load-kubeconfig.ts');
  return { connection: await loadKubeconfig({ file, context }), source: file ?? 'kubeconfig' };
}

function addressOf({
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port,
}: WatcherSettings): ServiceAddress | undefined {
  return host === undefined ? undefined : { host, port };
}
