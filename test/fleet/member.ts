// One cluster of a fleet: an API server with a proxy before it, a watcher process, and an entry in the clusters table. What can go
// wrong with a cluster is done to it here; nothing that happens to one is known to another.

import path from 'node:path';
import { readGenerated } from '@outrigger/cli/dev/generated-manifests';
import { startWatchers, type Watchers } from '@outrigger/cli/dev/watchers';
import { createClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { applyManifests } from '../../src/testing/manifests.ts';
import { type Fault, type ProxiedRequest, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { createPlainApi, type PlainApi } from '../../tools/chaos/plain-api.ts';
import { writeKubeconfig } from '../../tools/control-plane/kubeconfig.ts';
import { startServerProcess } from '../support/server-process.ts';

/** What can be wrong with the way from the functions to a cluster. Its watcher is in the cluster, and goes on. */
export type ClusterFault =
  /** No response. */
  | 'down'
  /** Every response is delayed. */
  | 'slow'
  /** The token in the table has expired. */
  | 'expired';

/** Fields of its entry besides its address and its access. */
export type EntryFields = { readonly decommissioning?: boolean; readonly paused?: boolean };

/** A cluster. */
export type Member = {
  readonly name: string;
  /** Past the proxy, for users and judges. */
  readonly api: PlainApi;
  /** How many calls of functions met trouble since the last time that this was asked. */
  faultCount(): number;
  inject(which: ClusterFault): void;
  /** Ends all trouble. For an expired token: gives the table a new one. */
  heal(): void;
  /** Writes its entry into the table. */
  enter(fields?: EntryFields): void;
  /** Takes its entry out of the table. */
  leave(): void;
  /** Lets its watcher drain, and ends it. */
  stopWatcher(): Promise<void>;
};

/** What members share. */
export type FleetDeps = {
  /** A folder for private files. */
  readonly folder: string;
  /** Changes the clusters table; without an entry the cluster is taken out of it. */
  setEntry(name: string, entry?: object): void;
  /** The service's root. */
  readonly root: string;
  /** A watcher's environment, but for what is its cluster's. */
  readonly watcherEnvironment: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
};

const slowMilliseconds = 1_500;
const refused = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason: 'Unauthorized',
  code: 401,
};
const unauthorized: Fault = { type: 'respond', status: 401, body: JSON.stringify(refused) };

/** Starts a cluster with its watcher, and enters it into the table. What was started is put on `parts`. */
export async function startMember(
  parts: AsyncDisposableStack,
  { folder, setEntry, root, watcherEnvironment, onLine }: FleetDeps,
  {
    name,
    watcher = {},
    entry = {},
  }: {
    readonly name: string;
    readonly watcher?: Readonly<Record<string, string>> | undefined;
    readonly entry?: EntryFields | undefined;
  },
  signal: AbortSignal,
): Promise<Member> {
  const server = await startServerProcess(new URL('./api-server-program.ts', import.meta.url), signal);
  parts.defer(() => server.close());
  const proxy = await startChaosProxy({ url: server.url });
  parts.defer(() => proxy.close());
  const api = createPlainApi({ url: server.url });
  parts.defer(() => api.close());
  await install({ server: new URL(server.url) }, root, signal);

  let issued = 1;
  let now: ClusterFault | undefined;
  let met = 0;
  const token = () => `token-${name}-${issued}`;
  proxy.rule((asked) => {
    if (!String(asked.headers['user-agent']).startsWith('outrigger/')) return undefined;
    const fault = faultOf(asked);
    if (fault !== undefined) met += 1;
    return fault;
  });
  function faultOf({ headers }: ProxiedRequest): Fault | undefined {
    if (now === 'down') return { type: 'reset' };
    // The embedded server does not authenticate; this proxy does.
    if (headers.authorization !== `Bearer ${token()}`) return unauthorized;
    return now === 'slow' ? { type: 'delay', milliseconds: slowMilliseconds } : undefined;
  }

  const enter: Member['enter'] = (fields = {}) =>
    setEntry(name, { server: proxy.url, access: { type: 'token', token: token() }, ...fields });
  enter(entry);
  const kubeconfigFile = path.join(folder, `kubeconfig-${name}`);
  await writeKubeconfig(kubeconfigFile, server.url);
  const watchers: Watchers = startWatchers(
    {
      file: path.join(root, 'dist/watcher/index.mjs'),
      environment: {
        ...watcherEnvironment,
        CLUSTER: name,
        KUBECONFIG: kubeconfigFile,
        CHECKPOINT_SECONDS: '1',
        ...watcher,
      },
      onEvent: (event) => onLine(event.type === 'line' ? event.text : `watcher of ${name} ${event.type}`),
    },
    1,
  );
  parts.defer(() => watchers.stop());
  await watchers.ready(signal);

  return {
    name,
    api,
    faultCount: () => {
      const count = met;
      met = 0;
      return count;
    },
    inject: (which) => {
      now = which;
      if (which === 'expired') issued += 1;
    },
    heal: () => {
      if (now === 'expired') enter();
      now = undefined;
    },
    enter,
    leave: () => setEntry(name),
    stopWatcher: () => watchers.stop(),
  };
}

/** Installs what a watcher and a function need to be there. */
export async function install(connection: Connection, root: string, signal: AbortSignal): Promise<void> {
  const client = createClient(connection);
  await applyManifests(client, await readGenerated(root), { signal });
  client.close();
}
