// Connects to the cluster of --kubeconfig and --context, for the commands that have these options.
import { loadKubeconfig } from '../clusters/kubeconfig/load-kubeconfig.ts';
import { createClient, type KubeClient } from '../kube/client/client.ts';
import { environment } from '../settings.ts';
import { printIgnoredProxy } from './command.ts';

/** Creates a client: of the default kubeconfig if no file is given. Throws a UserError for one that cannot be used. */
export async function connectKubeconfig(file: string | undefined, context: string | undefined): Promise<KubeClient> {
  printIgnoredProxy();
  const connection = await loadKubeconfig({ file, paths: environment().KUBECONFIG, context });
  return createClient(connection, { userAgent: 'outrigger-cli' });
}
