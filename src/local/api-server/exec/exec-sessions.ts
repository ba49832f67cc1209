// The server's side of exec over WebSocket: every message begins with a byte that names a channel, and the last one, on the channel
// of errors, is a Status that says how the command ended. There is no stdin: what a client sends is dropped.
//
// The protocols are v4.channel.k8s.io and v5.channel.k8s.io, which is the same where nobody closes stdin. The second is what
// kubectl offers. Source: k8s.io/kubelet/pkg/cri/streaming/remotecommand (websocket.go) and k8s.io/apimachinery/pkg/util/remotecommand.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { JsonObject } from '../../../apiserver/json.ts';
import type { ExecRequest, Execute, Executed } from './execute.ts';

/** What Node tells of a client that asks for another protocol. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** What a client asked for: a command, and which of its streams it reads. */
export interface Asked extends Omit<ExecRequest, 'signal'> {
  readonly stdout: boolean;
  readonly stderr: boolean;
}

/** The sessions of one server. */
export interface ExecSessions {
  /** Runs what was asked for, and tells the client. */
  open(upgrade: Upgrade, asked: Asked): void;
  /** Cuts every session. */
  close(): void;
}

const PROTOCOLS: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const CHANNEL = { stdout: 1, stderr: 2, error: 3 } as const;
const CHUNK_BYTES = 32 * 1024;
const LARGEST_MESSAGE_BYTES = 1024 * 1024;
const NORMAL_CLOSURE = 1000;

/** Creates the sessions of a server. */
export function createExecSessions(execute: Execute): ExecSessions {
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: LARGEST_MESSAGE_BYTES,
    handleProtocols: (offered) => PROTOCOLS.find((protocol) => offered.has(protocol)) ?? false,
  });
  const open = new Set<WebSocket>();
  return {
    open({ request, socket, head }, asked) {
      if (!offersProtocol(request)) {
        // What the kubelet's WebSocket library says to a handshake it does not like.
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
        return;
      }
      server.handleUpgrade(request, socket, head, (client) => {
        open.add(client);
        client.once('close', () => open.delete(client));
        // A client that breaks off is a closed session; there is nobody to tell.
        client.on('error', () => client.terminate());
        void runFor(client, asked, execute);
      });
    },
    close() {
      for (const client of open) client.terminate();
    },
  };
}

function offersProtocol({ headers }: IncomingMessage): boolean {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  return offered.some((one) => PROTOCOLS.includes(one));
}

async function runFor(client: WebSocket, { stdout, stderr, ...request }: Asked, execute: Execute): Promise<void> {
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  const send = (channel: number, bytes: Buffer): void => client.send(Buffer.concat([Buffer.of(channel), bytes]));
  const sendAll = (channel: number, text: string): void => {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) send(channel, bytes.subarray(at, at + CHUNK_BYTES));
  };
  // An empty message on the lowest channel: the session is there, the command has begun.
  send(stdout ? CHANNEL.stdout : stderr ? CHANNEL.stderr : CHANNEL.error, Buffer.alloc(0));
  try {
    const executed = await execute({ ...request, signal: gone.signal });
    if (stdout) sendAll(CHANNEL.stdout, executed.stdout);
    if (stderr) sendAll(CHANNEL.stderr, executed.stderr);
    send(CHANNEL.error, Buffer.from(JSON.stringify(endingStatus(request.command, executed))));
    client.close(NORMAL_CLOSURE);
  } catch {
    client.terminate();
  }
}

function endingStatus(command: readonly string[], { exitCode }: Executed): JsonObject {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  const what = `error executing command [${command.join(' ')}], exit code ${exitCode}`;
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: ${what}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}
