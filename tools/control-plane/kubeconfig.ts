// Writes a kubeconfig for one user of a control plane, for kubectl, kube-controller-manager and the product. JSON is
// valid YAML, so no YAML writer is needed.
import { writeFile } from 'node:fs/promises';

/**
 * Writes a kubeconfig with one cluster, one user and the namespace `default` to `path`; only its owner may read it.
 * Without a token it is for a server that does not authenticate.
 */
export async function writeKubeconfig(
  path: string,
  server: string,
  {
    ca,
    token,
    user = 'test',
  }: { readonly ca?: string | undefined; readonly token?: string; readonly user?: string } = {},
): Promise<void> {
  const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, ...authority } }],
    users: [{ name: user, user: token === undefined ? {} : { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user, namespace: 'default' } }],
  };
  await writeFile(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
