// Writes a kubeconfig for one user of a control plane, for kubectl, kube-controller-manager and the product. JSON is
// valid YAML, so no YAML writer is needed.
import { writeFile } from 'node:fs/promises';

/** Writes a kubeconfig with one cluster, one user and the namespace `default` to `path`; only its owner may read it. */
export async function writeKubeconfig(
  path: string,
  {
    url,
    ca,
    user,
    token,
  }: { readonly url: string; readonly ca: string; readonly user: string; readonly token: string },
): Promise<void> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user, namespace: 'default' } }],
    'current-context': 'test',
  };
  await writeFile(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
