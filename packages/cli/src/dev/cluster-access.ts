// Gives the watchers and functions of the local system access to the cluster. A developer's kubeconfig may run programs
// and name files. The watchers and functions get its plain result: server, CA, and a token that is refreshed here.

import { readFile as readText, rm } from 'node:fs/promises';
import path from 'node:path';
import { loadKubeconfig, loadOfficialClient } from 'outrigger/internal/clusters/kubeconfig/load-kubeconfig';
import { readFile } from 'outrigger/internal/clusters/kubeconfig/read-files';
import { parseTable } from 'outrigger/internal/clusters/registry/source';
import { isCertificateCode, UserError } from 'outrigger/internal/core/errors';
import { isRecord } from 'outrigger/internal/core/json';
import { createClient, type KubeClient } from 'outrigger/internal/kube/client/client';
import type { Connection } from 'outrigger/internal/kube/client/connection';
import { ApiError, isUnauthorized } from 'outrigger/internal/kube/client/errors';
import { errorCode } from './explain-error.ts';
import { replaceFile } from './replace-file.ts';
import { startUnverifiedProxy, type UnverifiedProxy } from './unverified-proxy.ts';

/** The files that give access, in the `.outrigger` folder. */
export type ClusterAccess = {
  readonly client: KubeClient;
  readonly server: URL;
  /** False if the kubeconfig has insecure-skip-tls-verify. */
  readonly verified: boolean;
  /** For kubectl: the developer's kubeconfig, flattened, with the chosen context as the current one. */
  readonly kubeconfigFile: string;
  /** For the watcher: no plug-ins, the token in a file. */
  readonly watcherKubeconfigFile: string;
  /** The clusters table of the functions: one entry, `local`. */
  readonly clustersTableFile: string;
  close(): Promise<void>;
};

/** The name of the one cluster of this machine. */
export const localCluster = 'local';
const renewMilliseconds = 30_000;

/**
 * Opens a cluster and writes the files. `file` is a kubeconfig. Throws UserError: one line with the file, the field and
 * the fix.
 */
export async function openCluster(
  folder: string,
  {
    file,
    context,
    signal,
  }: { readonly file: string; readonly context?: string | undefined; readonly signal: AbortSignal },
): Promise<ClusterAccess> {
  const original = await loadKubeconfig({ file, allowInsecure: true, context });
  const proxy = original.insecureSkipTlsVerify === true ? await startUnverifiedProxy(original) : undefined;
  const connection = proxy === undefined ? original : throughProxy(proxy, original);
  const client = createClient(connection, { userAgent: 'outrigger-dev' });
  try {
    await checkConnection(client, original, file, context, signal);
  } catch (error) {
    client.close();
    await proxy?.close();
    throw error;
  }
  const inFolder = (name: string) => path.join(folder, name);
  const kubeconfigFile = inFolder('kubeconfig');
  // JSON is YAML, so kubectl reads it.
  await replaceFile(kubeconfigFile, (await readConfig(file, context)).exportConfig(), { mode: 0o600 });

  const watcherKubeconfigFile = inFolder('watcher-kubeconfig');
  const clustersTableFile = inFolder('clusters.json');
  const tokenFile = inFolder('token');
  let written: string | undefined;
  const renew = async () => {
    const token = await connection.token?.();
    if (written !== undefined && (token ?? '') === written) return;
    if (token !== undefined) await replaceFile(tokenFile, token, { mode: 0o600 });
    const entry = entryOf(connection, token);
    // What an operator changed since the start stays, such as a pause of the cluster.
    const table = written === undefined ? { [localCluster]: entry } : await renewedTable(clustersTableFile, entry);
    await replaceFile(clustersTableFile, JSON.stringify(table, null, 2), { mode: 0o600 });
    written = token ?? '';
  };
  await renew();
  await replaceFile(
    watcherKubeconfigFile,
    plainKubeconfig(connection, connection.token === undefined ? {} : renewedToken(tokenFile)),
    { mode: 0o600 },
  );
  // If a token cannot be renewed, the old one stays in use until the API server rejects it.
  const timer = setInterval(() => void renew().catch(() => undefined), renewMilliseconds);
  return {
    client,
    server: original.server,
    verified: proxy === undefined,
    kubeconfigFile,
    watcherKubeconfigFile,
    clustersTableFile,
    close: async () => {
      clearInterval(timer);
      client.close();
      await proxy?.close();
      // The credentials of a system that has ended are deleted.
      const files = [kubeconfigFile, watcherKubeconfigFile, clustersTableFile, tokenFile];
      await Promise.all(files.map((one) => rm(one, { force: true })));
    },
  };
}

/** The same cluster through the proxy, which has the client certificate. */
function throughProxy({ url }: UnverifiedProxy, { token, refresh }: Connection): Connection {
  return { server: url, token, refresh };
}

/** Sends one request, so that a wrong connection is one clear error here. */
async function checkConnection(
  client: KubeClient,
  { server }: Connection,
  file: string,
  context: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.request({ method: 'GET', path: '/api/v1/namespaces/kube-system', signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { cluster, user } = await namesIn(file, context);
    const cause = { cause: error };
    if (isUnauthorized(error)) {
      const fix = 'the token may have expired, log in again';
      const problem = `${server.origin} does not accept its credentials (401)`;
      throw new UserError(`${file}: user "${user}": ${problem}; ${fix}`, cause);
    }
    // A 403 proves that the credentials are valid. A missing permission is reported by the request that needs it.
    if (error instanceof ApiError && error.status < 500) return;
    const code = errorCode(error);
    if (isCertificateCode(code)) {
      const problem = `certificate-authority did not sign the certificate of ${server.origin} (${code})`;
      throw new UserError(`${file}: cluster "${cluster}": ${problem}; set the authority that did`, cause);
    }
    const problem =
      error instanceof ApiError
        ? `responds with ${error.status}`
        : `does not respond${code === undefined ? '' : ` (${code})`}`;
    throw new UserError(
      `${file}: cluster "${cluster}": server ${server.origin} ${problem}; check that it runs and can be reached`,
      cause,
    );
  }
}

async function namesIn(
  file: string,
  context: string | undefined,
): Promise<{ readonly cluster: string; readonly user: string }> {
  const config = await readConfig(file, context);
  return { cluster: config.getCurrentCluster()?.name ?? '', user: config.getCurrentUser()?.name ?? '' };
}

/** Reads a kubeconfig with absolute paths and the chosen context. */
async function readConfig(file: string, context: string | undefined) {
  const { KubeConfig } = await loadOfficialClient();
  const config = new KubeConfig();
  readFile(config, file);
  if (context !== undefined) config.setCurrentContext(context);
  return config;
}

/** A token in a file that the official client reads again, in its form for a pod's service account. */
function renewedToken(tokenFile: string): object {
  return { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
}

/** A kubeconfig without plug-ins, and without files except for the token's. */
function plainKubeconfig({ server, ca, serverName, clientCertificate }: Connection, token: object): string {
  const base64 = (text: string | undefined) => text && Buffer.from(text).toString('base64');
  const cluster = {
    // Without a trailing slash, which would become a part of every path.
    server: server.href.replace(/\/$/, ''),
    'certificate-authority-data': base64(ca),
    'tls-server-name': serverName,
  };
  const certificate = {
    'client-certificate-data': base64(clientCertificate?.cert),
    'client-key-data': base64(clientCertificate?.key),
  };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': localCluster,
    contexts: [{ name: localCluster, context: { cluster: localCluster, user: localCluster } }],
    clusters: [{ name: localCluster, cluster }],
    users: [{ name: localCluster, user: { ...token, ...certificate } }],
  });
}

/** Returns a table with another access of the local cluster. Throws UserError while the file is not a table. */
async function renewedTable(file: string, { access }: { readonly access: object }): Promise<object> {
  const entries = parseTable(file, await readText(file, 'utf8'));
  const entry = entries.get(localCluster);
  return Object.fromEntries(isRecord(entry) ? [...entries, [localCluster, { ...entry, access }]] : entries);
}

/** An entry of the clusters table. Only a kubeconfig has a field for the name in the server's certificate. */
function entryOf(connection: Connection, token: string | undefined): { readonly access: object } {
  const { server, ca, clientCertificate, serverName } = connection;
  if (serverName !== undefined) {
    return {
      access: { type: 'kubeconfig', kubeconfig: plainKubeconfig(connection, token === undefined ? {} : { token }) },
    };
  }
  const where = { server: server.href, ca };
  if (token !== undefined) return { ...where, access: { type: 'token', token } };
  if (clientCertificate !== undefined) return { ...where, access: { type: 'certificate', ...clientCertificate } };
  return { ...where, access: { type: 'none' } };
}
