// Kubeconfigs for tests, with the PEM fixtures of test/kube.
import { stringify } from 'yaml';
import { pem } from '../kube/wire-server.ts';

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The fields of a kubeconfig that a test can replace. */
export type KubeconfigFields = {
  readonly current?: string | undefined;
  readonly cluster?: object;
  readonly user?: object | null;
  readonly context?: object;
};

/** Creates a kubeconfig with one context `here` of cluster `c` and user `u`. */
export function kubeconfig({
  current = 'here',
  cluster = {},
  user = { token: 'secret' },
  context = {},
}: KubeconfigFields = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', ...context } }],
    clusters: [
      {
        name: 'c',
        cluster: {
          server: 'https://127.0.0.1:6443',
          'certificate-authority-data': base64(pem('server.pem')),
          ...cluster,
        },
      },
    ],
    users: [{ name: 'u', user }],
  });
}

/** Creates a user with an inline client certificate and key. */
export function inlineCertificate(cert: string, key: string): object {
  return { 'client-certificate-data': base64(pem(`${cert}.pem`)), 'client-key-data': base64(pem(`${key}.key`)) };
}
