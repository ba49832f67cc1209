// The kubeconfig of a server on this machine: plain HTTP, no credentials.
import { stringify } from 'yaml';

/** Returns a kubeconfig that kubectl can use as it is. */
export function kubeconfigFor(url: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'local', cluster: { server: url } }],
    users: [{ name: 'local', user: {} }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'local', namespace: 'default' } }],
    'current-context': 'local',
  });
}
