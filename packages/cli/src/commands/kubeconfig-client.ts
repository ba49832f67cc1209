// Connects to the cluster of --kubeconfig and --context, for the commands that have these options.
import { loadKubeconfig } from 'outrigger/internal/clusters/kubeconfig/load-kubeconfig';
import { createClient, type KubeClient } from 'outrigger/internal/kube/client/client';
import { environment } from 'outrigger/internal/settings';
import { disposable, printIgnoredProxy } from './command.ts';

/** Creates a client: of the default kubeconfig if no file is given. Throws a UserError for one that cannot be used. */
export async function connectKubeconfig(
  file: string | undefined,
  context: string | undefined,
): Promise<KubeClient & Disposable> {
  printIgnoredProxy();
  const connection = await loadKubeconfig({ file, paths: environment().KUBECONFIG, context });
  return disposable(createClient(connection, { userAgent: 'outrigger-cli' }));
}
