// From a cluster's name to a client: one per cluster and entry, kept as long as the entry stays the same, so that a warm
// function keeps its connections.
import { isDeepStrictEqual } from 'node:util';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { SecretReader } from '../api/secret.ts';
import { type ClientOptions, createClient, type KubeClient } from '../kube/client/client.ts';
import type { Connection } from '../kube/connection.ts';
import type { FoundCluster } from '../kube/found-cluster.ts';
import { connectionOf } from './connection-of.ts';
import type { AwsCredentials } from './auth/eks-token.ts';
import { type PlainEntry, plainEntry } from './plain-entry.ts';
import { createSecretReader } from './secret-reader.ts';
import type { ClusterTable } from './table.ts';

/** Finds clusters by name. */
export interface Clusters {
  /** Finds one. Throws what the table throws, and a ConnectionProblem for an entry that cannot be used. */
  find(name: string): Promise<FoundCluster>;
  /** Closes all clients. */
  close(): void;
}

/** What the ways into clusters are made of. */
export type ClusterParts = {
  readonly now: () => Date;
  /** Who this process is to AWS. */
  readonly credentials?: () => Promise<AwsCredentials>;
  readonly secrets?: SecretReader;
  readonly client?: ClientOptions;
};

/** Creates the way to all clusters of a table. Credentials and secrets come from AWS, when an entry needs them, unless given. */
export function createClusters(
  table: ClusterTable,
  {
    now,
    credentials = defaultProvider(),
    secrets = createSecretReader({ now }),
    client: clientOptions = {},
  }: ClusterParts,
): Clusters {
  const clients = new Map<string, { readonly made: PlainEntry; readonly client: KubeClient }>();
  const connect = async (name: string, entry: PlainEntry) => await connectionOf(name, entry, { now, credentials });

  return {
    async find(name) {
      const entry = await table.get(name);
      if (entry === undefined) return { type: 'unknown' };
      if (entry.leaving === true) return { type: 'leaving' };
      const made = await plainEntry(name, entry, secrets);
      const known = clients.get(name);
      if (known !== undefined && isDeepStrictEqual(known.made, made)) return { type: 'client', client: known.client };
      const connection = renewing(
        { made, connection: await connect(name, made) },
        {
          read: async () => {
            const present = await table.get(name);
            return present === undefined ? undefined : await plainEntry(name, present, secrets);
          },
          connect: async (present) => await connect(name, present),
          forget: () => {
            table.forget(name);
            if (entry.access.type === 'secret') secrets.forget(entry.access);
          },
        },
      );
      // The client before it is not closed: reconciles may be using it. Its idle connections end by themselves.
      const client = createClient(connection, clientOptions);
      clients.set(name, { made, client });
      return { type: 'client', client };
    },
    close() {
      for (const { client } of clients.values()) client.close();
      clients.clear();
    },
  };
}

type Made = { readonly made: PlainEntry; readonly connection: Connection };

/** After a 401 the entry is read again, and its new token is used at once; but never sent to another server than before. */
function renewing(
  first: Made,
  {
    read,
    connect,
    forget,
  }: {
    readonly read: () => Promise<PlainEntry | undefined>;
    readonly connect: (entry: PlainEntry) => Promise<Connection>;
    readonly forget: () => void;
  },
): Connection {
  const { connection } = first;
  const { token } = connection;
  // A client certificate is the connection's own; whoever asks for the cluster next gets one with the new one.
  if (token === undefined) return { ...connection, refresh: forget };
  let current = first;
  return {
    ...connection,
    refresh: () => {
      forget();
      current.connection.refresh?.();
    },
    token: async () => {
      const made = await read();
      if (made !== undefined && !isDeepStrictEqual(made, current.made)) {
        const fresh = await connect(made);
        if (fresh.server.href === connection.server.href) current = { made, connection: fresh };
      }
      return await (current.connection.token ?? token)();
    },
  };
}
