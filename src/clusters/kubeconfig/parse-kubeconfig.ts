// The functions' own reading of a kubeconfig: a token or a client certificate, inline. What a kubeconfig may otherwise ask for
// (running a program, reading files of whoever wrote it, not verifying TLS) has no place in a function, and the full client
// library would triple its bundle.
import { parse } from 'yaml';
import * as z from 'zod';
import type { Connection } from '../../kube/connection.ts';
import { bearerToken } from '../bearer-token.ts';
import { checkAuthorities, checkClientCertificate, decodeBase64 } from '../certificates.ts';
import { ConnectionProblem } from '../connection-problem.ts';
import { parseServer } from '../server-url.ts';

const cluster = z.looseObject({
  server: z.string(),
  'certificate-authority-data': z.string().optional(),
  'tls-server-name': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
});
const user = z.looseObject({
  token: bearerToken.optional(),
  'client-certificate-data': z.string().optional(),
  'client-key-data': z.string().optional(),
});
const context = z.looseObject({ cluster: z.string(), user: z.string() });
const kubeconfig = z.looseObject({
  'current-context': z.string().optional(),
  contexts: z.array(z.object({ name: z.string(), context })),
  clusters: z.array(z.object({ name: z.string(), cluster })),
  users: z.array(z.object({ name: z.string(), user: user.nullable() })),
});

/** Fields we refuse, and why. */
const REFUSED_FOR_CLUSTERS: Readonly<Record<string, string>> = {
  'certificate-authority': 'names a file; use certificate-authority-data',
  'proxy-url': 'is not supported; reach the API server directly',
};
const REFUSED_FOR_USERS: Readonly<Record<string, string>> = {
  exec: 'would run a program; use a token or a client certificate',
  'auth-provider': 'is a plug-in; use a token or a client certificate',
  tokenFile: 'names a file; use token',
  'client-certificate': 'names a file; use client-certificate-data',
  'client-key': 'names a file; use client-key-data',
  username: 'is not accepted by API servers; use a token or a client certificate',
  as: 'is not supported; give the user itself',
};

/**
 * Parses a kubeconfig's current context (or the named one) into a connection. Throws a ConnectionProblem, one line that
 * names `source` and the field.
 */
export function parseKubeconfig(
  text: string,
  {
    source,
    context: wanted,
    now,
  }: { readonly source: string; readonly context?: string | undefined; readonly now: Date },
): Connection {
  const config = read(text, source);
  const contextName = wanted ?? config['current-context'];
  if (contextName === undefined || contextName === '') {
    throw new ConnectionProblem(`${source}: current-context is not set; set it to one of contexts`);
  }
  const found = named(config.contexts, contextName, `${source}: context`).context;
  const at = { cluster: `${source}: cluster "${found.cluster}"`, user: `${source}: user "${found.user}"` };
  const server = named(config.clusters, found.cluster, `${source}: cluster`).cluster;
  const account = named(config.users, found.user, `${source}: user`).user ?? {};
  refuse(server, REFUSED_FOR_CLUSTERS, at.cluster);
  refuse(account, REFUSED_FOR_USERS, at.user);
  if (server['insecure-skip-tls-verify'] === true) {
    throw new ConnectionProblem(
      `${at.cluster}: insecure-skip-tls-verify is refused; give certificate-authority-data instead`,
    );
  }
  const ca = server['certificate-authority-data'];
  const serverName = server['tls-server-name'];
  return {
    server: parseServer(server.server, `${at.cluster}: server`),
    ...(ca === undefined ? {} : { ca: authorities(ca, `${at.cluster}: certificate-authority-data`) }),
    ...(serverName === undefined ? {} : { serverName }),
    ...credentials(account, at.user, now),
  };
}

function credentials(
  account: z.infer<typeof user>,
  where: string,
  now: Date,
): Pick<Connection, 'token' | 'clientCertificate'> {
  const { token, 'client-certificate-data': cert, 'client-key-data': key } = account;
  if (token !== undefined) return { token: async () => token };
  if (cert === undefined && key === undefined) {
    throw new ConnectionProblem(`${where}: no credentials; give token, or client-certificate-data and client-key-data`);
  }
  if (cert === undefined || key === undefined) {
    throw new ConnectionProblem(`${where}: client-certificate-data and client-key-data belong together; give both`);
  }
  const pair = {
    cert: decodeBase64(cert, `${where}: client-certificate-data`),
    key: decodeBase64(key, `${where}: client-key-data`),
  };
  return { clientCertificate: checkClientCertificate(pair, `${where}: client-certificate-data`, now) };
}

function authorities(base64: string, where: string): string {
  return checkAuthorities(decodeBase64(base64, where), where);
}

function read(text: string, source: string): z.infer<typeof kubeconfig> {
  const parsed = kubeconfig.safeParse(parseYaml(text, source));
  if (parsed.success) return parsed.data;
  // Paths only: a message of zod's may quote what it found.
  const fields = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.') || 'the document'))];
  throw new ConnectionProblem(`${source}: not a kubeconfig: ${fields.join(', ')} missing or of the wrong type`);
}

function parseYaml(text: string, source: string): unknown {
  try {
    // Its warnings go to stderr and quote the line as well.
    return parse(text, { logLevel: 'error' });
  } catch {
    // No cause: the parser quotes the line it stumbled over, which may hold a token.
    throw new ConnectionProblem(`${source}: not YAML; write it as kubectl does (kubectl config view --raw --flatten)`);
  }
}

function named<Item extends { readonly name: string }>(items: readonly Item[], name: string, where: string): Item {
  const found = items.find((item) => item.name === name);
  if (found !== undefined) return found;
  const names = items.map((item) => item.name).join(', ');
  throw new ConnectionProblem(`${where} "${name}" is not there; it has ${names === '' ? 'none' : names}`);
}

function refuse(
  from: Readonly<Record<string, unknown>>,
  refused: Readonly<Record<string, string>>,
  where: string,
): void {
  for (const [field, why] of Object.entries(refused)) {
    if (from[field] !== undefined) throw new ConnectionProblem(`${where}: ${field} ${why}`);
  }
}
