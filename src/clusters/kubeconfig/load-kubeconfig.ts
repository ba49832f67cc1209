// The command line's way to a cluster, and a watcher's outside of its cluster: a kubeconfig with all that kubectl accepts, plug-ins
// included. The official client reads it; from there on it is a Connection like any other.
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';
import type { Connection } from '../../kube/connection.ts';
import { checkAuthorities, checkClientCertificate } from '../certificates.ts';
import { ConnectionProblem } from '../connection-problem.ts';
import { parseServer } from '../server-url.ts';

/** Which kubeconfig, and who asks. */
export interface KubeconfigOptions {
  /** Absent: KUBECONFIG, then ~/.kube/config, as kubectl looks for it. */
  readonly file?: string | undefined;
  /** Absent: the current one. */
  readonly context?: string | undefined;
  /** Accepts `insecure-skip-tls-verify`; for `outrigger dev`, which warns. */
  readonly allowInsecure?: boolean | undefined;
  readonly now?: (() => Date) | undefined;
}

/**
 * Loads a connection. Credentials are obtained once at the start, so that a broken plug-in shows at once, and again when
 * they are rotated: token files are read again by the minute, everything else after a 401. Throws a ConnectionProblem.
 */
export async function loadKubeconfig({
  file,
  context,
  allowInsecure = false,
  now = () => new Date(),
}: KubeconfigOptions = {}): Promise<Connection> {
  const source = file ?? 'kubeconfig';
  let config = load(file, context, source);
  const { cluster, user } = chosen(config, source);
  const at = { cluster: `${source}: cluster "${cluster.name}"`, user: `${source}: user "${user.name}"` };
  refuse(cluster, user, at, allowInsecure);
  const server = parseServer(cluster.server, `${at.cluster}: server`);
  const ca = authorities(cluster, at.cluster);
  const secrets = await credentials(config, at.user);
  const { cert, key } = secrets;
  if ((cert === undefined) !== (key === undefined)) {
    throw new ConnectionProblem(`${at.user}: client-certificate and client-key belong together; give both`);
  }
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    whenUntrusted: `${at.cluster}: if its certificate has changed, put the CA certificate that it has now into certificate-authority-data`,
    ...(cluster.tlsServerName === undefined ? {} : { serverName: cluster.tlsServerName }),
    ...(cluster.skipTLSVerify ? { insecureSkipTlsVerify: true as const } : {}),
    ...(cert === undefined || key === undefined
      ? {}
      : { clientCertificate: checkClientCertificate({ cert, key }, `${at.user}: client-certificate`, now()) }),
    ...(secrets.token === undefined ? {} : { token: async () => (await credentials(config, at.user)).token ?? '' }),
    refresh: () => {
      config = load(file, context, source);
    },
  };
}

function load(file: string | undefined, context: string | undefined, source: string): KubeConfig {
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    throw new ConnectionProblem(`${source}: ${readingProblem(error)}`);
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      const names = config
        .getContexts()
        .map(({ name }) => name)
        .join(', ');
      throw new ConnectionProblem(
        `${source}: context "${context}" is not there; it has ${names === '' ? 'none' : names}`,
      );
    }
    config.setCurrentContext(context);
  }
  return config;
}

/** Why a file could not be read. YAML's own message is left out: it quotes the line, which may hold a token. */
function readingProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'no such file; give the path of a kubeconfig';
  if (code === 'EACCES') return 'not allowed to read it; check its owner and mode';
  if (code === 'EISDIR') return 'is a directory; give the path of a kubeconfig';
  return 'not a kubeconfig; write it as kubectl does (kubectl config view --raw --flatten)';
}

function chosen(config: KubeConfig, source: string): { cluster: Cluster; user: User } {
  const name = config.getCurrentContext();
  if (!name) throw new ConnectionProblem(`${source}: current-context is not set; run kubectl config use-context`);
  const context = config.getContextObject(name);
  if (context === null)
    throw new ConnectionProblem(
      `${source}: current-context "${name}" is not among contexts; run kubectl config use-context`,
    );
  const cluster = config.getCluster(context.cluster);
  if (cluster === null)
    throw new ConnectionProblem(
      `${source}: context "${name}" names cluster "${context.cluster}", which is not there; add it`,
    );
  const user = config.getUser(context.user);
  if (user === null)
    throw new ConnectionProblem(
      `${source}: context "${name}" names user "${context.user}", which is not there; add it`,
    );
  if (name === 'loaded-context' && cluster.server === NOTHING_FOUND) {
    throw new ConnectionProblem(
      'no kubeconfig: neither KUBECONFIG nor ~/.kube/config nor a service account; give --kubeconfig',
    );
  }
  return { cluster, user };
}

/** What the official client makes up when it finds nothing at all. */
const NOTHING_FOUND = 'http://localhost:8080';

function refuse(cluster: Cluster, user: User, at: { cluster: string; user: string }, allowInsecure: boolean): void {
  if (cluster.skipTLSVerify && !allowInsecure) {
    throw new ConnectionProblem(
      `${at.cluster}: insecure-skip-tls-verify is refused; give certificate-authority instead`,
    );
  }
  if (cluster.proxyUrl !== undefined)
    throw new ConnectionProblem(`${at.cluster}: proxy-url is not supported; reach the API server directly`);
  if (user.username !== undefined)
    throw new ConnectionProblem(
      `${at.user}: username is not accepted by API servers; use a token or a client certificate`,
    );
  if (user.impersonateUser !== undefined)
    throw new ConnectionProblem(`${at.user}: as is not supported; give the user itself`);
}

function authorities({ caData, caFile }: Cluster, where: string): string | undefined {
  if (caData)
    return checkAuthorities(Buffer.from(caData, 'base64').toString('utf8'), `${where}: certificate-authority-data`);
  if (!caFile) return undefined;
  let pem: string;
  try {
    pem = readFileSync(caFile, 'utf8');
  } catch (error) {
    throw new ConnectionProblem(`${where}: certificate-authority ${caFile} cannot be read; check the path`, {
      cause: error,
    });
  }
  return checkAuthorities(pem, `${where}: certificate-authority ${caFile}`);
}

/** Asks the official client for the user's credentials: it runs plug-ins and reads files, and keeps what is still valid. */
async function credentials(
  config: KubeConfig,
  where: string,
): Promise<{ token?: string; cert?: string; key?: string }> {
  const options: RequestOptions = { headers: {} };
  // The official client takes http only with verification off. Here http is this machine's own (parseServer), and what the
  // Connection says of verification was read before.
  config.clusters = config.clusters.map((one) =>
    one.server.startsWith('http:') ? { ...one, skipTLSVerify: true } : one,
  );
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw new ConnectionProblem(`${where}: no credentials: ${credentialProblem(error)}`);
  }
  const headers = new Map(
    Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  const token = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1];
  return {
    ...(token === undefined ? {} : { token }),
    ...(options.cert ? { cert: String(options.cert) } : {}),
    ...(options.key ? { key: String(options.key) } : {}),
  };
}

/** A parser's message may quote a plug-in's output, the token included; others say what a person needs. */
function credentialProblem(error: unknown): string {
  if (!(error instanceof Error) || error instanceof SyntaxError)
    return 'its plug-in did not answer with an ExecCredential; run it by hand';
  return error.message.split('\n').find((line) => line.trim() !== '') ?? 'its plug-in failed; run it by hand';
}
