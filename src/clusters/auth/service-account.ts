// The connection of a pod to its own cluster, from the files of its service account. The kubelet replaces the files
// while the process runs: the token before it expires, the authorities when the cluster rotates them. Both are read
// again, so no restart is needed.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from '../../core/errors.ts';
import type { Connection } from '../../kube/client/connection.ts';
import { checkAuthorities } from './credentials.ts';
import { parseServer } from './server-url.ts';

/** The address of the API server in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
export type ServiceAddress = { readonly host: string; readonly port: number };

/** The name of this source in messages. */
export const serviceAccountSource = 'service account';

/** The folder of the files (kubernetes.io: "Accessing the Kubernetes API from a Pod"). */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
/**
 * The interval of client-go. The kubelet replaces a token when a fifth of its lifetime is left, at least some minutes.
 */
const rereadMilliseconds = 60_000;

type Files = { readonly token: string; readonly ca: string; readonly readAtMs: number };

/** Loads the connection. Throws a UserError if a file cannot be read; later `token` does the same. */
export async function loadServiceAccount(
  { host, port }: ServiceAddress,
  {
    folder = accountFolder,
    now = () => performance.now(),
  }: { readonly folder?: string; readonly now?: () => number } = {},
): Promise<Connection> {
  const server = parseServer(`https://${host.includes(':') ? `[${host}]` : host}:${port}`, serviceAccountSource);
  let files = await readFiles(folder, now());
  let rejected = false;
  return {
    server,
    // Read for every request, so rotated authorities take effect with the next connection.
    get ca() {
      return files.ca;
    },
    token: async () => {
      if (rejected || now() - files.readAtMs > rereadMilliseconds) files = await readFiles(folder, now());
      rejected = false;
      return files.token;
    },
    refresh: () => {
      rejected = true;
    },
  };
}

async function readFiles(folder: string, readAtMs: number): Promise<Files> {
  const [token, ca] = await Promise.all([read(folder, 'token'), read(folder, 'ca.crt')]);
  if (token.trim() === '') throw new UserError(`${serviceAccountSource}: ${path.join(folder, 'token')} is empty`);
  return {
    token: token.trim(),
    ca: checkAuthorities(ca, `${serviceAccountSource}: ${path.join(folder, 'ca.crt')}`),
    readAtMs,
  };
}

async function read(folder: string, file: string): Promise<string> {
  const filePath = path.join(folder, file);
  try {
    return await readFile(filePath, 'utf8');
  } catch (error) {
    throw new UserError(
      `${serviceAccountSource}: ${filePath} cannot be read; mount the service account's token, or give KUBECONFIG`,
      { cause: error },
    );
  }
}
