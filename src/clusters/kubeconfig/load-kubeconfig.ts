// Loads a kubeconfig for the CLI, and for a watcher that runs outside of its cluster. It accepts everything that
// kubectl accepts, including plug-ins. The official client reads the kubeconfig, and the result is a Connection.

import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import path from 'node:path';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { UserError } from '../../core/errors.ts';
import type { Connection } from '../../kube/client/connection.ts';
import { checkAuthorities, checkClientCertificate, whenCertificateChanged } from '../auth/credentials.ts';
import { parseServer } from '../auth/server-url.ts';
import { limitPlugIns, plugInErrorText } from './plug-in.ts';
import { readFiles } from './read-files.ts';

/** The kubeconfig to load. */
export type KubeconfigOptions = {
  /** One file. Default: those of `paths`, then ~/.kube/config, as for kubectl. */
  readonly file?: string | undefined;
  /** The value of KUBECONFIG: files that are merged. */
  readonly paths?: string | undefined;
  /** Default: the current context. */
  readonly context?: string | undefined;
  /** Allows `insecure-skip-tls-verify`. Only for `outrigger dev`, which prints a warning. */
  readonly allowInsecure?: boolean | undefined;
  /** The time limit of a plug-in that obtains credentials. */
  readonly plugInSeconds?: number;
  readonly now?: (() => Date) | undefined;
};

/**
 * Loads a connection. Credentials are obtained at the start, so the error of a broken plug-in appears at once. They are
 * obtained again when they are rotated: token files every minute, everything else, and the authorities of the server,
 * after a 401 or when a certificate is not trusted. Throws a UserError.
 */
export async function loadKubeconfig({
  file,
  paths,
  context,
  allowInsecure = false,
  plugInSeconds = 60,
  now = () => new Date(),
}: KubeconfigOptions = {}): Promise<Connection> {
  const source = file ?? (paths || 'kubeconfig');
  const files = file === undefined ? (paths ?? '').split(path.delimiter).filter(Boolean) : [file];
  const { KubeConfig } = await loadOfficialClient();
  const load = (name = context) => {
    const loaded = readConfig(() => new KubeConfig(), files, name, source);
    limitPlugIns(loaded, plugInSeconds);
    return loaded;
  };
  const config = load();
  const { cluster, user } = currentContext(config, source);
  const where = { cluster: `${source}: cluster "${cluster.name}"`, user: `${source}: user "${user.name}"` };
  rejectUnsupported(cluster, user, where, allowInsecure);
  const server = parseServer(cluster.server, `${where.cluster}: server`);
  const obtain = async (loaded: KubeConfig) => {
    const ca = authorities(currentContext(loaded, source).cluster, where.cluster);
    const { cert, key, token } = await credentials(loaded, where.user, plugInSeconds);
    if ((cert === undefined) !== (key === undefined)) {
      throw new UserError(`${where.user}: client-certificate and client-key belong together; give both`);
    }
    const clientCertificate =
      cert === undefined || key === undefined
        ? undefined
        : checkClientCertificate({ cert, key }, `${where.user}: client-certificate`, now());
    return { config: loaded, ca, token, clientCertificate };
  };
  let current = await obtain(config);
  return {
    server,
    get ca() {
      return current.ca;
    },
    untrustedAdvice: whenCertificateChanged(where.cluster, 'certificate-authority-data'),
    serverName: cluster.tlsServerName,
    ...(cluster.skipTLSVerify ? { insecureSkipTlsVerify: true as const } : {}),
    get clientCertificate() {
      return current.clientCertificate;
    },
    ...(current.token === undefined
      ? {}
      : { token: async () => (await credentials(current.config, where.user, plugInSeconds)).token ?? '' }),
    refresh: async () => {
      // Of the same context: another one may be the current one now. No credentials for another server go to this one.
      const loaded = load(config.getCurrentContext());
      if (currentContext(loaded, source).cluster.server === cluster.server) current = await obtain(loaded);
    },
  };
}

/**
 * Loads the official client at the first kubeconfig. It has a thousand modules: a command without a kubeconfig would
 * start in twice the time, and in a pod the watcher does not need it.
 */
export async function loadOfficialClient(): Promise<typeof import('@kubernetes/client-node')> {
  return await import('@kubernetes/client-node');
}

function readConfig(
  create: () => KubeConfig,
  files: readonly string[],
  context: string | undefined,
  source: string,
): KubeConfig {
  const config = create();
  try {
    if (files.length === 0) config.loadFromDefault();
    else readFiles(config, create, files);
  } catch (error) {
    throw new UserError(`${source}: ${readErrorText(error)}`);
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      const names = config
        .getContexts()
        .map(({ name }) => name)
        .join(', ');
      throw new UserError(`${source}: context "${context}" does not exist; it has ${names === '' ? 'none' : names}`);
    }
    config.setCurrentContext(context);
  }
  return config;
}

/**
 * Explains why a file could not be read. The message of the YAML parser is omitted: it quotes the line, and so a token.
 */
function readErrorText(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'no such file; give the path of a kubeconfig';
  if (code === 'EACCES') return 'not allowed to read it; check its owner and mode';
  if (code === 'EISDIR') return 'is a directory; give the path of a kubeconfig';
  return 'not a kubeconfig; write it as kubectl does (kubectl config view --raw --flatten)';
}

function currentContext(config: KubeConfig, source: string): { cluster: Cluster; user: User } {
  const name = config.getCurrentContext();
  if (!name) throw new UserError(`${source}: current-context is not set; run kubectl config use-context`);
  const context = config.getContextObject(name);
  if (context === null)
    throw new UserError(`${source}: current-context "${name}" is not among contexts; run kubectl config use-context`);
  const cluster = config.getCluster(context.cluster);
  if (cluster === null)
    throw new UserError(
      `${source}: context "${name}" names cluster "${context.cluster}", which does not exist; add it`,
    );
  const user = config.getUser(context.user);
  if (user === null)
    throw new UserError(`${source}: context "${name}" names user "${context.user}", which does not exist; add it`);
  if (name === 'loaded-context' && cluster.server === inventedServer) {
    throw new UserError(
      'no kubeconfig: neither KUBECONFIG nor ~/.kube/config nor a service account; give --kubeconfig',
    );
  }
  return { cluster, user };
}

/** The server that the official client invents if it finds no kubeconfig. */
const inventedServer = 'http://localhost:8080';

function rejectUnsupported(
  cluster: Cluster,
  user: User,
  where: { cluster: string; user: string },
  allowInsecure: boolean,
): void {
  if (cluster.skipTLSVerify && !allowInsecure) {
    throw new UserError(
      `${where.cluster}: insecure-skip-tls-verify is not allowed; give certificate-authority instead`,
    );
  }
  if (cluster.proxyUrl !== undefined)
    throw new UserError(`${where.cluster}: proxy-url is not supported; reach the API server directly`);
  if (user.username !== undefined)
    throw new UserError(`${where.user}: username is not accepted by API servers; use a token or a client certificate`);
  if (user.impersonateUser !== undefined)
    throw new UserError(`${where.user}: as is not supported; give the user itself`);
}

function authorities({ caData, caFile }: Cluster, where: string): string | undefined {
  if (caData)
    return checkAuthorities(Buffer.from(caData, 'base64').toString('utf8'), `${where}: certificate-authority-data`);
  if (!caFile) return undefined;
  let pem: string;
  try {
    pem = readFileSync(caFile, 'utf8');
  } catch (error) {
    throw new UserError(`${where}: certificate-authority ${caFile} cannot be read; check the path`, {
      cause: error,
    });
  }
  return checkAuthorities(pem, `${where}: certificate-authority ${caFile}`);
}

/**
 * Obtains the user's credentials from the official client, which runs plug-ins, reads files and caches valid
 * credentials.
 */
async function credentials(
  config: KubeConfig,
  where: string,
  plugInSeconds: number,
): Promise<{ token?: string | undefined; cert?: string; key?: string }> {
  const options: RequestOptions = { headers: {} };
  // The official client accepts http only with verification off. Here http is a loopback address (parseServer), and the
  // Connection's own verification setting was read before.
  config.clusters = config.clusters.map((one) =>
    one.server.startsWith('http:') ? { ...one, skipTLSVerify: true } : one,
  );
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw new UserError(`${where}: no credentials: ${plugInErrorText(error, plugInSeconds)}`);
  }
  const headers = new Map(
    Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  const token = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1];
  return {
    token,
    ...(options.cert ? { cert: String(options.cert) } : {}),
    ...(options.key ? { key: String(options.key) } : {}),
  };
}
