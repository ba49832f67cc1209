// Finds the client of a cluster by name. A client is reused until the cluster's entry changes, so a warm function keeps
// its connections.

import { isDeepStrictEqual } from 'node:util';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { SecretReader } from '../api/secret.ts';
import { type ClientOptions, createClient, type KubeClient } from '../kube/client/client.ts';
import { readClusterUid } from '../kube/client/cluster-uid.ts';
import type { Connection } from '../kube/client/connection.ts';
import { isForbidden } from '../kube/client/errors.ts';
import type { AwsCredentials } from './auth/aws-credentials.ts';
import { createSecretReader } from './auth/secret-reader.ts';
import { connectionOf, type ResolvedEntry, resolveEntry } from './connection.ts';
import { type ClusterEntry, isHeld, withoutState } from './registry/entry.ts';
import type { ClusterRegistry } from './registry/registry.ts';

/** Connects to a found cluster, paused or not; undefined for one that is unknown or being decommissioned. */
export async function connectTo(found: ClusterLookup): Promise<KubeClient | undefined> {
  if (found.type === 'client') return found.client;
  return found.type === 'paused' ? await found.connect() : undefined;
}

/**
 * The result of a lookup: a client, a paused cluster, one that is being decommissioned, or an unknown name. A paused
 * cluster is not called by the functions; its watcher and an operator's commands connect to it.
 */
export type ClusterLookup =
  | {
      readonly type: 'client';
      readonly client: KubeClient;
      /** Returns whether it is another cluster than the one whose namespace kube-system has this uid. */
      readonly isOther?: (uid: string, options: { readonly signal: AbortSignal }) => Promise<boolean>;
    }
  | { readonly type: 'paused'; readonly connect: () => Promise<KubeClient> }
  | { readonly type: 'decommissioning' }
  | { readonly type: 'unknown' };

/** Finds a cluster. Throws if the clusters table cannot be read. */
export type FindCluster = (name: string, options: { readonly signal: AbortSignal }) => Promise<ClusterLookup>;

/** Finds clusters by name. */
export type Clusters = {
  /** Finds a cluster. Throws the clusters table's errors, and a UserError for an invalid entry. */
  find(name: string): Promise<ClusterLookup>;
  /** Closes all clients. */
  close(): void;
};

/** The dependencies of Clusters. */
export type ClusterDeps = {
  readonly now: () => Date;
  /** The AWS credentials of this process. */
  readonly credentials?: () => Promise<AwsCredentials>;
  readonly secrets?: SecretReader;
  readonly client?: ClientOptions;
};

/**
 * Creates the Clusters of a clusters table. By default, credentials and secrets are read from AWS when an entry needs
 * them.
 */
export function createClusters(
  registry: ClusterRegistry,
  {
    now,
    credentials = defaultProvider(),
    secrets = createSecretReader({ now }),
    client: clientOptions = {},
  }: ClusterDeps,
): Clusters {
  const clients = new Map<string, KnownClient>();
  /** The clients that are being made, by the entries: the keys of a batch need the same one at the same time. */
  const connecting = new Map<ClusterEntry, Promise<KubeClient>>();
  const connect = async (name: string, entry: ResolvedEntry) => await connectionOf(name, entry, { now, credentials });

  /** The client stays the same when a cluster is paused or moved. */
  async function clientOf(name: string, found: ClusterEntry): Promise<KubeClient> {
    const known = clients.get(name);
    // The table returns the same entry until it is read again; a secret behind the entry may still change.
    if (known?.found === found && found.access.type !== 'secret') return known.client;
    const made = connecting.get(found) ?? makeClient(name, found).finally(() => connecting.delete(found));
    connecting.set(found, made);
    return await made;
  }

  async function makeClient(name: string, found: ClusterEntry): Promise<KubeClient> {
    const entry = withoutState(found);
    const resolved = await resolveEntry(name, entry, secrets);
    const known = clients.get(name);
    if (known !== undefined && isDeepStrictEqual(known.entry, resolved)) {
      clients.set(name, { ...known, found });
      return known.client;
    }
    const connection = withRefresh(
      { entry: resolved, connection: await connect(name, resolved) },
      {
        read: async ({ isRejected }) => {
          const reading = isRejected ? registry.get(name) : registry.known(name);
          // A cluster that is connected stays so: an entry that is wrong may be fixed before its credentials expire.
          const newest = await reading.catch(() => undefined);
          return newest === undefined ? undefined : await resolveEntry(name, newest, secrets);
        },
        connect: async (newest) => await connect(name, newest),
        forget: () => {
          registry.forget(name);
          if (entry.access.type === 'secret') secrets.forget(entry.access);
        },
      },
    );
    // The previous client is not closed, because reconciles may be using it. Its idle connections time out.
    const client = createClient(connection, clientOptions);
    clients.set(name, { found, entry: resolved, client });
    return client;
  }

  /** The uids of the clusters, by their clients. One that differs is read again: a cluster may have been replaced. */
  const uids = new WeakMap<KubeClient, string>();
  async function isOther(client: KubeClient, uid: string, signal: AbortSignal): Promise<boolean> {
    if (uids.get(client) === uid) return false;
    try {
      const read = await readClusterUid(client, { signal });
      if (read === undefined) return false;
      uids.set(client, read);
      return read !== uid;
    } catch (error) {
      // The roles in the cluster are of a version that does not compare.
      if (isForbidden(error)) return false;
      throw error;
    }
  }

  return {
    async find(name) {
      const entry = await registry.get(name);
      if (entry === undefined) return { type: 'unknown' };
      if (entry.decommissioning === true) return { type: 'decommissioning' };
      if (isHeld(entry)) return { type: 'paused', connect: async () => await clientOf(name, entry) };
      const client = await clientOf(name, entry);
      return { type: 'client', client, isOther: async (uid, { signal }) => await isOther(client, uid, signal) };
    },
    close() {
      for (const { client } of clients.values()) client.close();
      clients.clear();
    },
  };
}

/** A client, with the entry as the table returned it, and without what does not change a client. */
type KnownClient = { readonly found: ClusterEntry; readonly entry: ResolvedEntry; readonly client: KubeClient };

type EntryConnection = { readonly entry: ResolvedEntry; readonly connection: Connection };

/**
 * Reads the entry again after a 401 and uses its new token at once. The token is only ever sent to the first server.
 */
function withRefresh(
  first: EntryConnection,
  {
    read,
    connect,
    forget,
  }: {
    /** Waits for the table only if the credentials were rejected. */
    readonly read: (options: { readonly isRejected: boolean }) => Promise<ResolvedEntry | undefined>;
    readonly connect: (entry: ResolvedEntry) => Promise<Connection>;
    readonly forget: () => void;
  },
): Connection {
  const { connection } = first;
  const { token } = connection;
  // A client certificate belongs to the connection. The next lookup of the cluster returns a client with the new one.
  if (token === undefined) return { ...connection, refresh: forget };
  let current = first;
  let isRejected = false;
  return {
    ...connection,
    refresh: () => {
      isRejected = true;
      forget();
      current.connection.refresh?.();
    },
    token: async () => {
      const mustRead = isRejected;
      const entry = await read({ isRejected: mustRead });
      // Not if they were rejected during this read.
      if (mustRead) isRejected = false;
      if (entry !== undefined && !isDeepStrictEqual(entry, current.entry)) {
        const fresh = await connect(entry).catch(() => undefined);
        if (fresh?.server.href === connection.server.href) current = { entry, connection: fresh };
      }
      return await (current.connection.token ?? token)();
    },
  };
}
