// A Kubernetes API server in one process, for development and tests on one machine. It serves the part of the API that
// kubectl and Outrigger's client use, over plain HTTP on loopback, and keeps all objects in memory. It and a real
// kube-apiserver pass the same conformance suite (test/conformance). It has no built-in knowledge of Outrigger's own
// kinds.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AllowedHosts, foreignRequest } from '@outrigger/common/http/foreign-request';
import { closeServer, listen } from '@outrigger/common/http/listen';
import { writeYaml } from '@outrigger/common/yaml/write';
import { createAdmission } from './admission/admission.ts';
import type { Identify } from './admission/user.ts';
import type { Execute } from './exec/execute.ts';
import { answering } from './http/answering.ts';
import { carryOut, createFaults, type Fault } from './http/faults.ts';
import { createHandler, type RequestRecord } from './http/handler.ts';
import { createUpgrades } from './http/upgrades.ts';
import { isSet } from './query.ts';
import { createRegistry } from './registry/registry.ts';
import { publishedSchemas } from './schema/builtins.ts';
import { createRules } from './schema/rules.ts';
import { findObject, type ReadLog, type ServerState, theServer } from './server-state.ts';
import { StatusError, statusOf } from './status-error.ts';
import { createStore, type StoreSnapshot } from './store/store.ts';
import { httpClient } from './workloads/client.ts';
import { startWorkloads } from './workloads/workloads.ts';
import { startCollector } from './write/collector.ts';
import { createObject } from './write/create.ts';

/** Options of startApiServer. */
export type ApiServerOptions = AllowedHosts & {
  /** 0 selects a free port. */
  readonly port?: number;
  /** The address to listen at. Default: 127.0.0.1. */
  readonly host?: string;
  /** The time of the server. Default: the present. */
  readonly now?: () => Date;
  /** Interval of the bookmarks of a watch that asked for them. */
  readonly bookmarkSeconds?: number;
  /** The objects to start with; by default only the namespaces that each cluster has. */
  readonly snapshot?: StoreSnapshot | undefined;
  /** How many changes are kept, for watches and lists that start at an older version. */
  readonly eventWindow?: number;
  /** Runs commands in pods. By default every command exits with 127 (command not found). */
  readonly execute?: Execute;
  /** Returns the log of a container, for `pods/log`. By default every log is empty. */
  readonly readLog?: ReadLog;
  /** Makes Deployments, StatefulSets, pods and claims ready and completes Jobs, as a cluster would. Default: false. */
  readonly workloads?: boolean;
  /** Tells the users of the server apart, for admission policies. By default every client is the administrator. */
  readonly identify?: Identify;
};

/** A running server. */
export type ApiServer = {
  /** The address, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Returns a kubeconfig as YAML. */
  kubeconfig(): string;
  /** Closes the server and every connection, open watches included. */
  close(): Promise<void>;
  /** Closes every open watch without notice, like a lost connection. */
  breakStreams(): void;
  /** Drops all past changes: watches and lists of older versions get 410, as after an etcd compaction. */
  expireWindow(): void;
  /** Returns the version of the last change. */
  version(): number;
  /** Returns all objects, for a later start. */
  snapshot(): StoreSnapshot;
  /** Injects a fault into requests from now on. Disposing ends it. */
  inject(fault: Fault): Disposable;
  /** Returns the latest requests, oldest first. A request that a fault answered is not among them. */
  requests(): readonly RequestRecord[];
};

const initialNamespaces = ['default', 'kube-system', 'kube-public'];
const keptRequests = 10_000;
const commandNotFound: Execute = async ({ command }) => ({
  exitCode: 127,
  stdout: '',
  stderr: `${command[0]}: not found\n`,
});

/** Starts a server. Resolves when it listens. */
export async function startApiServer({
  port = 0,
  host = '127.0.0.1',
  now = () => new Date(),
  bookmarkSeconds = 60,
  snapshot,
  eventWindow = 10_000,
  execute = commandNotFound,
  readLog = () => '',
  workloads = false,
  identify,
  allowedHosts = [],
}: ApiServerOptions = {}): Promise<ApiServer> {
  const store = createStore({ eventWindow, snapshot });
  const schemas = publishedSchemas;
  const state: ServerState = {
    store,
    schemas,
    registry: createRegistry(store, schemas),
    rules: createRules(),
    admission: createAdmission(store),
    now,
    readLog,
  };
  const stopCollector = startCollector(state);
  createNamespaces(state);
  let requests: RequestRecord[] = [];
  const streams = new Set<() => void>();
  const faults = createFaults();
  const onRequest = (record: RequestRecord): void => {
    requests.push(record);
    if (requests.length > keptRequests * 1.5) requests = requests.slice(-keptRequests);
  };
  const handle = createHandler(state, { bookmarkSeconds, onRequest, identify });
  const upgrades = createUpgrades(state, execute, { onRequest, identify, allowedHosts });
  const respond = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    response.setHeader('date', now().toUTCString());
    const refusal = foreignRequest(request.headers, { allowedHosts, acceptUntyped: true });
    if (refusal !== undefined) {
      const { status, reason } = refusal;
      const body = statusOf(new StatusError(status, status === 403 ? 'Forbidden' : 'UnsupportedMediaType', reason));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    const watch = isSet(url.searchParams, 'watch') === true;
    if (watch) {
      const disconnect = (): void => void response.destroy();
      streams.add(disconnect);
      response.once('close', () => streams.delete(disconnect));
    }
    const fault = faults.next({
      method: request.method ?? '',
      path: url.pathname,
      watch,
      userAgent: request.headers['user-agent'] ?? '',
    });
    // The handler turns errors into responses. It only rejects when the response cannot be written.
    if (fault === undefined || !(await carryOut(fault, response))) await handle(request, response, url);
  };
  const server = createServer({ shouldUpgradeCallback: upgrades.accepts }, answering(respond));
  server.on('upgrade', (request, socket, head) => upgrades.open({ request, socket, head }));
  const url = await listen(server, { port, host });
  const running = workloads ? await startWorkloads(httpClient(url), { now }) : undefined;
  return {
    url,
    kubeconfig: () => kubeconfigFor(url),
    async close() {
      await running?.close();
      stopCollector();
      const closed = closeServer(server);
      upgrades.close();
      await closed;
    },
    breakStreams() {
      for (const disconnect of streams) disconnect();
    },
    expireWindow: () => store.compact(),
    version: () => store.version(),
    snapshot: () => store.snapshot(),
    inject: (fault) => faults.inject(fault),
    requests: () => requests.slice(-keptRequests),
  };
}

function createNamespaces(state: ServerState): void {
  const resource = state.registry.find('', 'v1', 'namespaces');
  if (resource === undefined) throw new Error('the kind Namespace is not registered');
  const options = { ...theServer, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' } as const;
  const missing = (name: string) => findObject(state, { resource, namespace: '', name }) === undefined;
  for (const name of initialNamespaces.filter(missing)) {
    createObject(state, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, resource, options);
  }
}

/** Returns a kubeconfig for plain HTTP, without credentials. */
function kubeconfigFor(url: string): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'local', cluster: { server: url } }],
    users: [{ name: 'local', user: {} }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'local', namespace: 'default' } }],
    'current-context': 'local',
  };
  return writeYaml([config]);
}
