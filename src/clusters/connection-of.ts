// From an entry of the clusters table to a connection: every kind of access that a function knows, each in its own words when
// something is wrong with it.
import type { Connection } from '../kube/connection.ts';
import { isLoopback } from '../kube/loopback.ts';
import { checkAuthorities, checkClientCertificate, decodeBase64 } from './certificates.ts';
import { ConnectionProblem } from './connection-problem.ts';
import { type AwsCredentials, createEksToken } from './auth/eks-token.ts';
import type { PlainEntry } from './plain-entry.ts';
import { parseServer } from './server-url.ts';

/** Makes a connection of an entry. Throws a ConnectionProblem that names the cluster and the field. */
export async function connectionOf(
  name: string,
  entry: PlainEntry,
  { now, credentials }: { readonly now: () => Date; readonly credentials: () => Promise<AwsCredentials> },
): Promise<Connection> {
  const where = `cluster "${name}"`;
  const { access } = entry;
  const ca = entry.ca === undefined ? {} : { ca: authorities(entry.ca, `${where}: ca`) };
  const whenUntrusted = `${where}: if its certificate has changed, put the CA certificate that it has now into its entry`;
  if (access.type === 'kubeconfig') {
    // Loaded when it is needed: a YAML parser is a fifth of a function's bundle.
    const { parseKubeconfig } = await import('./kubeconfig/parse-kubeconfig.ts');
    const inner = parseKubeconfig(access.kubeconfig, { source: `${where}: access.kubeconfig`, now: now() });
    return {
      ...inner,
      ...ca,
      whenUntrusted,
      ...(entry.server === undefined ? {} : { server: parseServer(entry.server, `${where}: server`) }),
    };
  }
  const server = parseServer(entry.server ?? '', `${where}: server`);
  switch (access.type) {
    case 'eks': {
      const { cluster, region } = access;
      const { token, refresh } = createEksToken({ credentials, now }, { cluster, region, where: `${where}: access` });
      return { server, ...ca, whenUntrusted, token, refresh };
    }
    case 'token':
      return { server, ...ca, whenUntrusted, token: async () => access.token };
    case 'certificate': {
      const clientCertificate = checkClientCertificate(access, `${where}: access.cert`, now());
      return { server, ...ca, whenUntrusted, clientCertificate };
    }
    case 'none':
      if (server.protocol === 'http:' && isLoopback(server.hostname)) return { server };
      throw new ConnectionProblem(`${where}: access none is for http on this machine; give a token or a certificate`);
  }
}

function authorities(text: string, where: string): string {
  return checkAuthorities(text.includes('-----BEGIN') ? text : decodeBase64(text, where), where);
}
