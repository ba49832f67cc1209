// A Kubernetes API server in one process, for trying, developing and testing on one machine: what kubectl and our client use of
// the API, over plain HTTP on loopback, with nothing stored anywhere. One conformance suite (test/conformance) holds it and a
// real kube-apiserver to the same answers. It knows no kind of ours.
import { createServer, type Server } from 'node:http';
import type { Execute } from '../local/api-server/exec/execute.ts';
import { createHandler, type RequestRecord } from './http/handler.ts';
import { createUpgrades } from './http/upgrades.ts';
import { kubeconfigFor } from '../local/api-server/kubeconfig.ts';
import { createRegistry } from './registry/registry.ts';
import { createBuiltinSchemas } from '../local/api-server/schema/builtins.ts';
import { createRules } from './schema/rules.ts';
import { createStore } from './store/store.ts';
import type { World } from './server-state.ts';
import { startCollector } from '../local/api-server/write/collector.ts';
import { createObject } from './write/create.ts';

/** How to start a server. */
export interface ApiServerOptions {
  /** 0 takes a free one. */
  readonly port?: number;
  readonly host?: string;
  readonly now?: () => Date;
  /** How often a quiet watch is sent a bookmark. */
  readonly bookmarkSeconds?: number;
  /** How many changes are remembered for watches and lists of the past. */
  readonly eventWindow?: number;
  /** Runs commands in pods. Without it every command ends with 127, as one that is not there. */
  readonly execute?: Execute;
}

/** A running server. */
export interface ApiServer {
  readonly url: string;
  /** Returns a kubeconfig as YAML. */
  kubeconfig(): string;
  /** Ends everything, open watches included. */
  close(): Promise<void>;
  /** Cuts every open watch, as a lost connection would. */
  breakStreams(): void;
  /** Forgets the past: watches and lists of older versions get 410, as after a compaction. */
  expireWindow(): void;
  /** Returns the latest requests, oldest first. */
  requests(): readonly RequestRecord[];
}

const FIRST_NAMESPACES = ['default', 'kube-system', 'kube-public'];
const REMEMBERED_REQUESTS = 10_000;
const NOTHING_RUNS: Execute = async ({ command }) => ({
  exitCode: 127,
  stdout: '',
  stderr: `${command[0]}: not found\n`,
});

/** Starts a server and resolves when it listens. */
export async function startApiServer({
  port = 0,
  host = '127.0.0.1',
  now = () => new Date(),
  bookmarkSeconds = 60,
  eventWindow = 10_000,
  execute = NOTHING_RUNS,
}: ApiServerOptions = {}): Promise<ApiServer> {
  const store = createStore({ eventWindow });
  const schemas = createBuiltinSchemas();
  const world: World = { store, schemas, registry: createRegistry(store, schemas), rules: createRules(), now };
  const stopCollecting = startCollector(world);
  createNamespaces(world);
  let requests: RequestRecord[] = [];
  const streams = new Set<() => void>();
  const onRequest = (record: RequestRecord): void => {
    requests.push(record);
    if (requests.length > REMEMBERED_REQUESTS * 1.5) requests = requests.slice(-REMEMBERED_REQUESTS);
  };
  const handle = createHandler(world, { bookmarkSeconds, onRequest });
  const upgrades = createUpgrades(world, execute, { onRequest });
  const server = createServer({ shouldUpgradeCallback: upgrades.takes }, (request, response) => {
    if (/[?&]watch=(true|1)/.test(request.url ?? '')) {
      const cut = (): void => void response.destroy();
      streams.add(cut);
      response.once('close', () => streams.delete(cut));
    }
    // What fails here has nobody left to be told: the connection is gone.
    handle(request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request, socket, head) => upgrades.open({ request, socket, head }));
  const url = await listen(server, port, host);
  return {
    url,
    kubeconfig: () => kubeconfigFor(url),
    async close() {
      stopCollecting();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      upgrades.close();
      server.closeAllConnections();
      await closed;
    },
    breakStreams() {
      for (const cut of streams) cut();
    },
    expireWindow: () => store.forget(),
    requests: () => requests.slice(-REMEMBERED_REQUESTS),
  };
}

function createNamespaces(world: World): void {
  const resource = world.registry.find('', 'v1', 'namespaces');
  if (resource === undefined) throw new Error('no namespaces');
  const options = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore', warn: () => {} } as const;
  for (const name of FIRST_NAMESPACES) {
    createObject(world, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, resource, options);
  }
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
}
