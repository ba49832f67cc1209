// From a cluster's name to a client: one per cluster and entry, kept as long as the entry stays the same, so that a warm
// function keeps its connections.
import { type ClientOptions, createClient, type KubeClient } from '../kube/client.ts';
import type { Connection } from '../kube/connection.ts';
import type { FoundCluster } from '../kube/found-cluster.ts';
import { isLoopback } from '../kube/loopback.ts';
import { checkAuthorities, checkClientCertificate, decodeBase64 } from './certificates.ts';
import { ConnectionProblem } from './connection-problem.ts';
import type { ClusterEntry } from './entry.ts';
import { parseServer } from './server-url.ts';
import type { ClusterTable } from './table.ts';

/** Finds clusters by name. */
export interface Clusters {
  /** Finds one. Throws what the table throws, and a ConnectionProblem for an entry that cannot be used. */
  find(name: string): Promise<FoundCluster>;
  /** Closes all clients. */
  close(): void;
}

/** Creates the way to all clusters of a table. */
export function createClusters(
  table: ClusterTable,
  { now, client: clientOptions = {} }: { readonly now: () => Date; readonly client?: ClientOptions },
): Clusters {
  const clients = new Map<string, { readonly made: string; readonly client: KubeClient }>();
  return {
    async find(name) {
      const entry = await table.get(name);
      if (entry === undefined) return { type: 'unknown' };
      if (entry.leaving === true) return { type: 'leaving' };
      const made = JSON.stringify(entry);
      const known = clients.get(name);
      if (known?.made === made) return { type: 'client', client: known.client };
      // The client before it is not closed: reconciles may be using it. Its idle connections end by themselves.
      const client = createClient(renewing(table, name, await connectionOf(name, entry, now()), now), clientOptions);
      clients.set(name, { made, client });
      return { type: 'client', client };
    },
    close() {
      for (const { client } of clients.values()) client.close();
      clients.clear();
    },
  };
}

/** Makes a connection of an entry. Throws a ConnectionProblem that names the cluster and the field. */
export async function connectionOf(name: string, entry: ClusterEntry, now: Date): Promise<Connection> {
  const where = `cluster "${name}"`;
  const { access } = entry;
  const ca = entry.ca === undefined ? {} : { ca: authorities(entry.ca, `${where}: ca`) };
  if (access.type === 'kubeconfig') {
    // Loaded when it is needed: a YAML parser is a fifth of a function's bundle.
    const { parseKubeconfig } = await import('./parse-kubeconfig.ts');
    const inner = parseKubeconfig(access.kubeconfig, { source: `${where}: access.kubeconfig`, now });
    return {
      ...inner,
      ...ca,
      ...(entry.server === undefined ? {} : { server: parseServer(entry.server, `${where}: server`) }),
    };
  }
  const server = parseServer(entry.server ?? '', `${where}: server`);
  switch (access.type) {
    case 'token':
      return { server, ...ca, token: async () => access.token };
    case 'certificate':
      return { server, ...ca, clientCertificate: checkClientCertificate(access, `${where}: access.cert`, now) };
    case 'none':
      if (server.protocol === 'http:' && isLoopback(server.hostname)) return { server };
      throw new ConnectionProblem(`${where}: access none is for http on this machine; give a token or a certificate`);
  }
}

/** After a 401 the entry is read again, and its new token is used at once; but never sent to another server than before. */
function renewing(table: ClusterTable, name: string, connection: Connection, now: () => Date): Connection {
  const { token } = connection;
  if (token === undefined) return connection;
  return {
    ...connection,
    refresh: () => table.forget(name),
    token: async () => {
      const entry = await table.get(name);
      const fresh = entry === undefined ? connection : await connectionOf(name, entry, now());
      return fresh.server.href === connection.server.href && fresh.token !== undefined ? fresh.token() : token();
    },
  };
}

function authorities(text: string, where: string): string {
  return checkAuthorities(text.includes('-----BEGIN') ? text : decodeBase64(text, where), where);
}
