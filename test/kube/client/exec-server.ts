// A scripted server for pods/exec over a real WebSocket. It replaces API server and kubelet in the tests of the client.
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type ClientOptions, createClient, type KubeClient } from '../../../src/kube/client/client.ts';
import type { Connection } from '../../../src/kube/client/connection.ts';
import { type ExecRequestOptions, exec } from '../../../src/kube/client/exec.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { pem, statusOf } from '../wire-server.ts';

/** The pod of the tests, the path of its exec, and a command in it. */
export const pod = { namespace: 'shop', name: 'node-0' };
export const path = '/api/v1/namespaces/shop/pods/node-0/exec';
export const run = (client: KubeClient, options: ExecRequestOptions = {}) =>
  exec(client, pod, { container: 'node-ctr', command: ['cli', 'list'] }, options);

/** A received upgrade request. */
export interface UpgradeRequest {
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: http.IncomingHttpHeaders;
}

/** The behavior of the server on an open connection. */
export type Script = (connection: ExecConnection, requests: UpgradeRequest) => void;

/** An open connection with its channels. */
export interface ExecConnection {
  readonly socket: WebSocket;
  send(channel: 1 | 2 | 3, text: string | Buffer): void;
  /** Sends the Status of a command's end, and closes as the kubelet does. */
  end(exitCode: number): void;
  /** Destroys the connection. */
  drop(): void;
}

export interface ExecServer {
  readonly url: URL;
  readonly requests: readonly UpgradeRequest[];
  client(options?: ClientOptions, connection?: Partial<Connection>): KubeClient;
}

/** Returns the Status of a command that ended, as the kubelet writes it: without kind and version. */
export function endOf(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  const details = { causes: [{ reason: 'ExitCode', message: String(exitCode) }] };
  const message = `command terminated with non-zero exit code: exit status ${exitCode}`;
  const rest = { message, reason: 'NonZeroExitCode', details };
  return { metadata: {}, status: 'Failure', ...rest };
}

interface ExecServerOptions {
  readonly tls?: boolean;
  readonly protocol?: string | false;
  /** Responds to an upgrade instead of accepting it. Returns whether it did. */
  readonly refuse?: (socket: Duplex, requests: UpgradeRequest) => boolean;
  readonly requestCert?: boolean;
}

/** Starts a server on a free loopback port. It stops at the end of the test. */
export async function startExecServer(script: Script, options: ExecServerOptions = {}): Promise<ExecServer> {
  const { url, requests, close } = await openExecServer(script, options);
  onTestFinished(close);
  return {
    url,
    requests,
    client(clientOptions, connection) {
      const client = createClient({ server: url, ...connection }, clientOptions);
      onTestFinished(() => client.close());
      return client;
    },
  };
}

/** Starts a server on a free loopback port, for several tests. */
export async function openExecServer(
  script: Script,
  { tls = false, protocol = 'v4.channel.k8s.io', refuse = () => false, requestCert = false }: ExecServerOptions = {},
): Promise<Pick<ExecServer, 'url' | 'requests'> & { close(): Promise<void> }> {
  const requests: UpgradeRequest[] = [];
  const connections = new Set<Duplex>();
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => protocol });
  const server = tls
    ? https.createServer({ cert: pem('server.pem'), key: pem('server.key'), requestCert, rejectUnauthorized: false })
    : http.createServer();
  server.on('upgrade', (request: http.IncomingMessage, duplex: Duplex, head: Buffer) => {
    duplex.on('error', () => undefined);
    connections.add(duplex);
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const one = { path, query: [...new URLSearchParams(query)], headers: request.headers };
    requests.push(one);
    if (refuse(duplex, one)) return;
    sockets.handleUpgrade(request, duplex, head, (socket) => {
      const send = (channel: number, text: string | Buffer) =>
        socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]));
      // The kubelet sends an empty message on every channel, so a client knows that the connection is open.
      for (const channel of [1, 2, 3]) send(channel, '');
      const end = (exitCode: number) => {
        send(3, JSON.stringify(endOf(exitCode)));
        socket.close(1000);
      };
      script({ socket, send, end, drop: () => duplex.destroy() }, one);
    });
  });
  const port = await listenOnLoopback(server);
  return {
    url: new URL(`${tls ? 'https' : 'http'}://127.0.0.1:${port}`),
    requests,
    close: async () => {
      for (const one of connections) one.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Responds to an upgrade with an HTTP status and JSON, and closes. */
export function respond(socket: Duplex, status: number, body: unknown, headers: Record<string, string> = {}): true {
  const text = JSON.stringify(body);
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('')}connection: close\r\n\r\n${text}`);
  return true;
}

/** Responds to every upgrade with a Status. */
export const refuseWith =
  (status: number, reason: string, headers?: Record<string, string>) =>
  (socket: Duplex): true =>
    respond(socket, status, statusOf(status, reason), headers);
