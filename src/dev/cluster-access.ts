// How the parts of the local system get into the cluster. A developer's kubeconfig may run programs and name files; the
// watcher's process and the functions get what comes out of it, plain: server, CA, and a token that is kept fresh here.
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { loadKubeconfig } from '../clusters/kubeconfig/load-kubeconfig.ts';
import { createClient, type KubeClient } from '../kube/client/client.ts';
import type { Connection } from '../kube/connection.ts';
import { ApiError, isUnauthorized } from '../kube/client/errors.ts';
import { DevProblem, errorCode } from './explain-error.ts';
import { startUnverifiedProxy, type UnverifiedProxy } from './unverified-proxy.ts';

/** The files that give access, in the `.outrigger` folder. */
export type ClusterAccess = {
  readonly client: KubeClient;
  readonly server: URL;
  /** False when the kubeconfig says insecure-skip-tls-verify. */
  readonly verified: boolean;
  /** For kubectl: the developer's own, flattened, with the chosen context as the current one. */
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
 * Opens a cluster and writes the files. `file` is a kubeconfig; its errors name it. Throws ConnectionProblem or DevProblem:
 * one line with the file, the field and what to do.
 */
export async function openCluster(
  folder: string,
  { file, context, signal }: { readonly file: string; readonly context?: string; readonly signal: AbortSignal },
): Promise<ClusterAccess> {
  const theirs = await loadKubeconfig({ file, allowInsecure: true, ...(context === undefined ? {} : { context }) });
  const proxy = theirs.insecureSkipTlsVerify === true ? await startUnverifiedProxy(theirs) : undefined;
  const connection = proxy === undefined ? theirs : behind(proxy, theirs);
  const client = createClient(connection, { userAgent: 'outrigger-dev' });
  try {
    await check(client, theirs, file, context, signal);
  } catch (error) {
    client.close();
    await proxy?.close();
    throw error;
  }
  const place = (name: string) => path.join(folder, name);
  const kubeconfigFile = place('kubeconfig');
  await put(kubeconfigFile, flattened(file, context));

  const watcherKubeconfigFile = place('watcher-kubeconfig');
  const clustersTableFile = place('clusters.json');
  const tokenFile = place('token');
  let written: string | undefined;
  const renew = async () => {
    const token = await connection.token?.();
    if (written !== undefined && token === written) return;
    written = token ?? '';
    if (token !== undefined) await put(tokenFile, token);
    await put(clustersTableFile, JSON.stringify({ [localCluster]: entryOf(connection, token) }, null, 2));
  };
  await renew();
  await put(
    watcherKubeconfigFile,
    plainKubeconfig(connection, connection.token === undefined ? {} : renewedToken(tokenFile)),
  );
  // A token that could not be renewed is still the one there is; the API server will say when it has had enough.
  const timer = setInterval(() => void renew().catch(() => undefined), renewMilliseconds);
  return {
    client,
    server: theirs.server,
    verified: proxy === undefined,
    kubeconfigFile,
    watcherKubeconfigFile,
    clustersTableFile,
    close: async () => {
      clearInterval(timer);
      client.close();
      await proxy?.close();
      // Credentials of a system that no longer runs are of no use to anyone who should have them.
      const files = [kubeconfigFile, watcherKubeconfigFile, clustersTableFile, tokenFile];
      await Promise.all(files.map((one) => rm(one, { force: true })));
    },
  };
}

/** The same cluster by way of the proxy, which has the client certificate. */
function behind({ url }: UnverifiedProxy, { token, refresh }: Connection): Connection {
  return { server: url, ...(token === undefined ? {} : { token }), ...(refresh === undefined ? {} : { refresh }) };
}

/** Makes one call, so that what is wrong shows here and not as silence of every part. */
async function check(
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
    const { cluster, user } = namesIn(file, context);
    const cause = { cause: error };
    if (isUnauthorized(error)) {
      const message = `${file}: user "${user}": ${server.origin} does not accept its credentials (401); the token may have expired, log in again`;
      throw new DevProblem(message, cause);
    }
    // Whoever may not read that namespace is at least known; what else is missing shows where it is needed.
    if (error instanceof ApiError && error.status < 500) return;
    const code = errorCode(error);
    if (code !== undefined && certificateCodes.test(code)) {
      const message = `${file}: cluster "${cluster}": certificate-authority does not fit the certificate of ${server.origin} (${code}); give the authority that signed it`;
      throw new DevProblem(message, cause);
    }
    const why =
      error instanceof ApiError
        ? `answers ${error.status}`
        : `does not answer${code === undefined ? '' : ` (${code})`}`;
    throw new DevProblem(
      `${file}: cluster "${cluster}": server ${server.origin} ${why}; check that it runs and can be reached`,
      cause,
    );
  }
}

const certificateCodes = /CERT|TLS|SSL|UNABLE_TO_(VERIFY|GET)/;

function namesIn(file: string, context: string | undefined): { readonly cluster: string; readonly user: string } {
  const config = new KubeConfig();
  config.loadFromFile(file);
  if (context !== undefined) config.setCurrentContext(context);
  return { cluster: config.getCurrentCluster()?.name ?? '', user: config.getCurrentUser()?.name ?? '' };
}

/** The same kubeconfig, its relative paths made absolute, with the chosen context. JSON is YAML, and kubectl reads it. */
function flattened(file: string, context: string | undefined): string {
  const config = new KubeConfig();
  config.loadFromFile(file);
  config.makePathsAbsolute(path.dirname(path.resolve(file)));
  if (context !== undefined) config.setCurrentContext(context);
  return config.exportConfig();
}

/** A token in a file that is read again, as the official client spells it (it does so for a pod's service account). */
function renewedToken(tokenFile: string): object {
  return { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
}

/** A kubeconfig without plug-ins and files, but for the token's where that is wanted. */
function plainKubeconfig({ server, ca, serverName, clientCertificate }: Connection, token: object): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const cluster = {
    // As URLs without a path are written; a trailing slash would be part of every path.
    server: server.href.replace(/\/$/, ''),
    ...(ca === undefined ? {} : { 'certificate-authority-data': base64(ca) }),
    ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
  };
  const certificate =
    clientCertificate === undefined
      ? {}
      : {
          'client-certificate-data': base64(clientCertificate.cert),
          'client-key-data': base64(clientCertificate.key),
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

/** An entry of the clusters table. A certificate for another name can only be said in a kubeconfig. */
function entryOf(connection: Connection, token: string | undefined): object {
  const { server, ca, clientCertificate, serverName } = connection;
  if (serverName !== undefined) {
    return {
      access: { type: 'kubeconfig', kubeconfig: plainKubeconfig(connection, token === undefined ? {} : { token }) },
    };
  }
  const where = { server: server.href, ...(ca === undefined ? {} : { ca }) };
  if (token !== undefined) return { ...where, access: { type: 'token', token } };
  if (clientCertificate !== undefined) return { ...where, access: { type: 'certificate', ...clientCertificate } };
  return { ...where, access: { type: 'none' } };
}

/** Whole or not at all: others read these files at any time. Only for their owner's eyes. */
async function put(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
