// A pod's way to its own cluster: the service account's files. The kubelet replaces them while the process runs: the token before
// it expires, the authorities when the cluster's are rotated. Neither may need a restart, so both are read again.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Connection } from '../../kube/connection.ts';
import { checkAuthorities } from '../certificates.ts';
import { ConnectionProblem } from '../connection-problem.ts';
import { parseServer } from '../server-url.ts';

/** Where the pod finds its API server: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
export type ServiceAddress = { readonly host: string; readonly port: number };

/** What messages call it. */
export const serviceAccountSource = 'service account';

/** Where the kubelet puts the files (kubernetes.io: "Accessing the Kubernetes API from a Pod"). */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
/** As often as client-go: a token is replaced when a fifth of its life is left, which is minutes at least. */
const freshMilliseconds = 60_000;

type Files = { readonly token: string; readonly ca: string; readonly readAtMs: number };

/** Loads the connection. Throws a ConnectionProblem for what cannot be read; later, so does the token. */
export async function loadServiceAccount(
  { host, port }: ServiceAddress,
  {
    folder = accountFolder,
    now = () => performance.now(),
  }: { readonly folder?: string; readonly now?: () => number } = {},
): Promise<Connection> {
  const server = parseServer(`https://${host.includes(':') ? `[${host}]` : host}:${port}`, serviceAccountSource);
  let files = await readFiles(folder, now());
  let refused = false;
  return {
    server,
    // Asked for with each connection, so that rotated authorities count from the next one on.
    get ca() {
      return files.ca;
    },
    token: async () => {
      if (refused || now() - files.readAtMs > freshMilliseconds) files = await readFiles(folder, now());
      refused = false;
      return files.token;
    },
    refresh: () => {
      refused = true;
    },
  };
}

async function readFiles(folder: string, readAtMs: number): Promise<Files> {
  const [token, ca] = await Promise.all([read(folder, 'token'), read(folder, 'ca.crt')]);
  if (token.trim() === '')
    throw new ConnectionProblem(`${serviceAccountSource}: ${path.join(folder, 'token')} is empty`);
  return {
    token: token.trim(),
    ca: checkAuthorities(ca, `${serviceAccountSource}: ${path.join(folder, 'ca.crt')}`),
    readAtMs,
  };
}

async function read(folder: string, file: string): Promise<string> {
  const place = path.join(folder, file);
  try {
    return await readFile(place, 'utf8');
  } catch (error) {
    throw new ConnectionProblem(
      `${serviceAccountSource}: ${place} cannot be read; mount the service account's token, or give KUBECONFIG`,
      { cause: error },
    );
  }
}
