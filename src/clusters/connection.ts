// Creates the connection for an entry of the clusters table, for each type of access, with an error message for each.
import type { SecretReader } from '../api/secret.ts';
import { UserError } from '../core/errors.ts';
import { isRecord, parseJson } from '../core/json.ts';
import type { Connection } from '../kube/client/connection.ts';
import { isLoopback } from '../kube/client/connection.ts';
import type { AwsCredentials } from './auth/aws-credentials.ts';
import {
  bearerToken,
  checkAuthorities,
  checkClientCertificate,
  decodeBase64,
  whenCertificateChanged,
} from './auth/credentials.ts';
import { createEksToken } from './auth/eks-token.ts';
import { parseServer } from './auth/server-url.ts';
import type { ClusterEntry } from './registry/entry.ts';

/** An entry without a reference to a secret. */
export type ResolvedEntry = Omit<ClusterEntry, 'access'> & {
  readonly access: Exclude<ClusterEntry['access'], { type: 'secret' }>;
};

/** Creates the connection of an entry. Throws a UserError that names the cluster and the field. */
export async function connectionOf(
  name: string,
  entry: ResolvedEntry,
  { now, credentials }: { readonly now: () => Date; readonly credentials: () => Promise<AwsCredentials> },
): Promise<Connection> {
  const where = `cluster "${name}"`;
  const { access } = entry;
  const ca = entry.ca === undefined ? {} : { ca: authorities(entry.ca, `${where}: ca`) };
  const untrustedAdvice = whenCertificateChanged(where, 'its entry');
  if (access.type === 'kubeconfig') {
    // Imported dynamically, because the YAML parser is a fifth of a function's bundle.
    const { parseKubeconfig } = await import('./kubeconfig/parse-kubeconfig.ts');
    const inner = parseKubeconfig(access.kubeconfig, { source: `${where}: access.kubeconfig`, now: now() });
    return {
      ...inner,
      ...ca,
      untrustedAdvice,
      ...(entry.server === undefined ? {} : { server: parseServer(entry.server, `${where}: server`) }),
    };
  }
  const server = parseServer(entry.server ?? '', `${where}: server`);
  switch (access.type) {
    case 'eks': {
      const { cluster, region } = access;
      const { token, refresh } = createEksToken({ credentials, now }, { cluster, region, where: `${where}: access` });
      return { server, ...ca, untrustedAdvice, token, refresh };
    }
    case 'token':
      return { server, ...ca, untrustedAdvice, token: async () => access.token };
    case 'certificate': {
      const clientCertificate = checkClientCertificate(access, `${where}: access.cert`, now());
      return { server, ...ca, untrustedAdvice, clientCertificate };
    }
    case 'none':
      if (server.protocol === 'http:' && isLoopback(server.hostname)) return { server };
      throw new UserError(`${where}: access none is for http on this machine; give a token or a certificate`);
  }
}

/** Replaces an entry's reference by its secret. Throws the reader's errors, and a UserError that names the cluster. */
export async function resolveEntry(name: string, entry: ClusterEntry, secrets: SecretReader): Promise<ResolvedEntry> {
  const { access } = entry;
  if (access.type !== 'secret') return { ...entry, access };
  const where = `cluster "${name}": access`;
  const text = await secrets.read(access, where);
  if (access.holds === 'kubeconfig') return { ...entry, access: { type: 'kubeconfig', kubeconfig: text } };
  if (isRecord(parseJson(text)))
    throw new UserError(`${where}: its secret is JSON; name the key that has the token (access.key)`);
  const token = bearerToken.safeParse(text.trim());
  if (!token.success) throw new UserError(`${where}: its secret is not a token; store only the token`);
  return { ...entry, access: { type: 'token', token: token.data } };
}

function authorities(text: string, where: string): string {
  return checkAuthorities(text.includes('-----BEGIN') ? text : decodeBase64(text, where), where);
}
