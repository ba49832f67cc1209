// The server side of exec over WebSocket. The first byte of every message is the number of a channel. The last message,
// on the error channel, is a Status with the result of the command. stdin is not supported: messages from the client
// are dropped.
//
// The protocols are v4.channel.k8s.io and v5.channel.k8s.io. They differ only in how stdin is closed. kubectl offers
// v5. Sources: k8s.io/kubelet/pkg/cri/streaming/remotecommand (websocket.go) and
// k8s.io/apimachinery/pkg/util/remotecommand.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { JsonObject } from '../json.ts';
import type { ExecOutcome, ExecRequest, Execute } from './execute.ts';

/** The arguments of Node's `upgrade` event. */
export type Upgrade = {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
};

/** The command that a client requested, and the streams that it reads. */
export interface RequestedExec extends Omit<ExecRequest, 'signal'> {
  readonly stdout: boolean;
  readonly stderr: boolean;
}

/** The sessions of one server. */
export type ExecSessions = {
  /** Runs the requested command and sends its output and result to the client. */
  open(upgrade: Upgrade, requested: RequestedExec): void;
  /** Closes every session without a result. */
  close(): void;
};

const protocols: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const execChannel = { stdout: 1, stderr: 2, error: 3 } as const;
const chunkBytes = 32 * 1024;
const maxMessageBytes = 1024 * 1024;
const normalClosure = 1000;

/** Creates the sessions of a server. */
export function createExecSessions(execute: Execute): ExecSessions {
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handleProtocols: (offered) => protocols.find((protocol) => offered.has(protocol)) ?? false,
  });
  const open = new Set<WebSocket>();
  return {
    open({ request, socket, head }, requested) {
      if (!offersProtocol(request)) {
        // The kubelet's WebSocket library rejects a handshake without a known protocol in this way.
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
        return;
      }
      server.handleUpgrade(request, socket, head, (client) => {
        open.add(client);
        client.once('close', () => open.delete(client));
        // A connection error ends the session. There is no client left to send a result to.
        client.on('error', () => client.terminate());
        void runCommand(client, requested, execute);
      });
    },
    close() {
      for (const client of open) client.terminate();
    },
  };
}

function offersProtocol({ headers }: IncomingMessage): boolean {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  return offered.some((one) => protocols.includes(one));
}

async function runCommand(
  client: WebSocket,
  { stdout, stderr, ...request }: RequestedExec,
  execute: Execute,
): Promise<void> {
  const disconnected = new AbortController();
  client.once('close', () => disconnected.abort());
  const send = (channel: number, bytes: Buffer): void => client.send(Buffer.concat([Buffer.of(channel), bytes]));
  const sendAll = (channel: number, text: string): void => {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += chunkBytes) send(channel, bytes.subarray(at, at + chunkBytes));
  };
  // An empty message on the lowest channel signals that the session is open and the command has started.
  send(stdout ? execChannel.stdout : stderr ? execChannel.stderr : execChannel.error, Buffer.alloc(0));
  try {
    const outcome = await execute({ ...request, signal: disconnected.signal });
    if (stdout) sendAll(execChannel.stdout, outcome.stdout);
    if (stderr) sendAll(execChannel.stderr, outcome.stderr);
    send(execChannel.error, Buffer.from(JSON.stringify(exitStatus(request.command, outcome))));
    client.close(normalClosure);
  } catch {
    client.terminate();
  }
}

function exitStatus(command: readonly string[], { exitCode }: ExecOutcome): JsonObject {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  const error = `error executing command [${command.join(' ')}], exit code ${exitCode}`;
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: ${error}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}
