// The server's side of pods/exec, saying exactly what a test tells it to over a real WebSocket: a stand-in for API server and
// kubelet, written for the tests of our client alone.
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type ClientOptions, createClient, type KubeClient } from '../../../src/kube/client/client.ts';
import type { Connection } from '../../../src/kube/connection.ts';
import { pem } from '../wire-server.ts';

/** A request for an upgrade as it arrived. */
export interface Asked {
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: http.IncomingHttpHeaders;
}

/** What the server does with an open connection. */
export type Script = (connection: ExecConnection, asked: Asked) => void;

/** An open connection, spoken by channels. */
export interface ExecConnection {
  readonly socket: WebSocket;
  say(channel: 1 | 2 | 3, text: string | Buffer): void;
  /** Says the Status of a command's end, and closes as the kubelet does. */
  end(exitCode: number): void;
  /** Ends the connection without a word. */
  drop(): void;
}

export interface ExecServer {
  readonly url: URL;
  readonly asked: readonly Asked[];
  client(options?: ClientOptions, connection?: Partial<Connection>): KubeClient;
}

/** The Status of a command that ended by itself, as the kubelet writes it: without kind and version. */
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
  /** Answers an upgrade instead of opening it; tells whether it did. */
  readonly refuse?: (socket: Duplex, asked: Asked) => boolean;
  readonly requestCert?: boolean;
}

/** Starts a server on a free port of the loopback; it ends with the test. */
export async function startExecServer(script: Script, options: ExecServerOptions = {}): Promise<ExecServer> {
  const { url, asked, close } = await openExecServer(script, options);
  onTestFinished(close);
  return {
    url,
    asked,
    client(clientOptions, connection) {
      const client = createClient({ server: url, ...connection }, clientOptions);
      onTestFinished(() => client.close());
      return client;
    },
  };
}

/** Starts a server on a free port of the loopback, for several tests. */
export async function openExecServer(
  script: Script,
  { tls = false, protocol = 'v4.channel.k8s.io', refuse = () => false, requestCert = false }: ExecServerOptions = {},
): Promise<Pick<ExecServer, 'url' | 'asked'> & { close(): Promise<void> }> {
  const asked: Asked[] = [];
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
    asked.push(one);
    if (refuse(duplex, one)) return;
    sockets.handleUpgrade(request, duplex, head, (socket) => {
      const say = (channel: number, text: string | Buffer) =>
        socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]));
      // As the kubelet does, so that a client knows that the connection is there.
      for (const channel of [1, 2, 3]) say(channel, '');
      const end = (exitCode: number) => {
        say(3, JSON.stringify(endOf(exitCode)));
        socket.close(1000);
      };
      script({ socket, say, end, drop: () => duplex.destroy() }, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: new URL(`${tls ? 'https' : 'http'}://127.0.0.1:${port}`),
    asked,
    close: async () => {
      for (const one of connections) one.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers an upgrade with an HTTP status and JSON, and closes. */
export function answer(socket: Duplex, status: number, body: unknown, headers: Record<string, string> = {}): true {
  const text = JSON.stringify(body);
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('')}connection: close\r\n\r\n${text}`);
  return true;
}
