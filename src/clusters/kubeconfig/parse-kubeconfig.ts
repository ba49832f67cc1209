// Parses a kubeconfig for the functions, with an inline token or an inline client certificate. Everything else is
// rejected, because a function must not run a program, read files that the kubeconfig names, or skip TLS verification.
// The full client library would triple the function's bundle.

import { readYaml } from '@outrigger/common/yaml/read';
import * as z from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Connection } from '../../kube/client/connection.ts';
import { bearerToken, checkAuthorities, checkClientCertificate, decodeBase64 } from '../auth/credentials.ts';
import { parseServer } from '../auth/server-url.ts';

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

/** Unsupported fields, with the reason and the advice. */
const unsupportedClusterFields: Readonly<Record<string, string>> = {
  'certificate-authority': 'names a file; use certificate-authority-data',
  'proxy-url': 'is not supported; reach the API server directly',
};
const unsupportedUserFields: Readonly<Record<string, string>> = {
  exec: 'would run a program; use a token or a client certificate',
  'auth-provider': 'is a plug-in; use a token or a client certificate',
  tokenFile: 'names a file; use token',
  'client-certificate': 'names a file; use client-certificate-data',
  'client-key': 'names a file; use client-key-data',
  username: 'is not accepted by API servers; use a token or a client certificate',
  as: 'is not supported; give the user itself',
};

/**
 * Parses the current context of a kubeconfig, or the given one, into a connection. Throws a UserError that names
 * `source` and the field.
 */
export function parseKubeconfig(
  text: string,
  {
    source,
    context: givenContext,
    now,
  }: { readonly source: string; readonly context?: string | undefined; readonly now: Date },
): Connection {
  const config = read(text, source);
  const contextName = givenContext ?? config['current-context'];
  if (contextName === undefined || contextName === '') {
    throw new UserError(`${source}: current-context is not set; set it to one of contexts`);
  }
  const [context, at] = findByName(config.contexts, contextName, `${source}: current-context`, 'contexts');
  const inContext = `${source}: contexts[${at}].context`;
  const { cluster: clusterName, user: userName } = context.context;
  const [{ cluster: server }, clusterAt] = findByName(config.clusters, clusterName, `${inContext}.cluster`, 'clusters');
  const [{ user }, userAt] = findByName(config.users, userName, `${inContext}.user`, 'users');
  const account = user ?? {};
  const where = { cluster: `${source}: clusters[${clusterAt}]`, user: `${source}: users[${userAt}]` };
  rejectFields(server, unsupportedClusterFields, where.cluster);
  rejectFields(account, unsupportedUserFields, where.user);
  if (server['insecure-skip-tls-verify'] === true) {
    throw new UserError(
      `${where.cluster}: insecure-skip-tls-verify is not allowed; give certificate-authority-data instead`,
    );
  }
  const ca = server['certificate-authority-data'];
  const serverName = server['tls-server-name'];
  return {
    server: parseServer(server.server, `${where.cluster}: server`),
    ...(ca === undefined ? {} : { ca: authorities(ca, `${where.cluster}: certificate-authority-data`) }),
    serverName,
    ...credentials(account, where.user, now),
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
    throw new UserError(`${where}: no credentials; give token, or client-certificate-data and client-key-data`);
  }
  if (cert === undefined || key === undefined) {
    throw new UserError(`${where}: client-certificate-data and client-key-data belong together; give both`);
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
  // Only the paths: zod's messages may quote a value.
  const fields = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.') || 'the document'))];
  throw new UserError(`${source}: not a kubeconfig: ${fields.join(', ')} missing or of the wrong type`);
}

function parseYaml(text: string, source: string): unknown {
  try {
    // For client-go an empty text is an absent one.
    return JSON.parse(JSON.stringify(readYaml(text), (_, value: unknown) => (value === '' ? undefined : value)));
  } catch {
    // No cause: the reader's message quotes the line, which may contain a token.
    throw new UserError(`${source}: not YAML; write it as kubectl does (kubectl config view --raw --flatten)`);
  }
}

/** Returns an item and its position. Errors quote no name: a credential may stand in its place. */
function findByName<Item extends { readonly name: string }>(
  items: readonly Item[],
  name: string,
  where: string,
  list: string,
): readonly [Item, number] {
  const at = items.findIndex((item) => item.name === name);
  const found = items[at];
  if (found !== undefined) return [found, at];
  throw new UserError(`${where}: is the name of none of the ${items.length} ${list}; give the name of one`);
}

function rejectFields(
  from: Readonly<Record<string, unknown>>,
  unsupported: Readonly<Record<string, string>>,
  where: string,
): void {
  for (const [field, reason] of Object.entries(unsupported)) {
    if (from[field] !== undefined) throw new UserError(`${where}: ${field} ${reason}`);
  }
}
