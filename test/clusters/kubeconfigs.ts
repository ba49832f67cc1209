// Kubeconfigs for tests, made of the PEM fixtures beside the tests of the client.
import { stringify } from 'yaml';
import { pem } from '../kube/wire-server.ts';

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The parts of a kubeconfig that a test may replace. */
export interface Parts {
  readonly current?: string | undefined;
  readonly cluster?: object;
  readonly user?: object | null;
  readonly context?: object;
}

/** Writes a kubeconfig with one context `here` of cluster `c` and user `u`. */
export function kubeconfig({
  current = 'here',
  cluster = {},
  user = { token: 'secret' },
  context = {},
}: Parts = {}): string {
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

/** A client certificate and key, inline. */
export function inlineCertificate(cert: string, key: string): object {
  return { 'client-certificate-data': base64(pem(`${cert}.pem`)), 'client-key-data': base64(pem(`${key}.key`)) };
}
