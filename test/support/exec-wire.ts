// A command in a pod over a bare WebSocket, without src/kube, to test servers of `pods/exec`.
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import type { ConformanceServer } from '../conformance/wire.ts';

/** The result: a rejected handshake, or a session with the output of each channel. */
export type WireExecResult = {
  /** The response to the handshake if it was rejected. */
  readonly rejected?: { readonly status: number; readonly text: string };
  readonly protocol: string;
  readonly stdout: string;
  readonly stderr: string;
  /** The Status of the last channel; absent if the connection ended without one. */
  readonly status?: unknown;
};

/** Options besides the command. */
export type ExecOptions = {
  readonly container?: string;
  /** Names of streams, as in the query. */
  readonly streams?: readonly string[];
  readonly protocols?: readonly string[];
  /** Disconnects when it aborts. */
  readonly signal?: AbortSignal;
};

/** Runs a command in a pod; resolves when the connection has ended for any reason. */
export function execOverWire(
  { url, ca, token }: ConformanceServer,
  podPath: string,
  command: readonly string[],
  {
    container,
    streams = ['stdout', 'stderr'],
    protocols = ['v4.channel.k8s.io'],
    signal = new AbortController().signal,
  }: ExecOptions = {},
): Promise<WireExecResult> {
  const target = new URL(`${url}${podPath}/exec`);
  for (const argument of command) target.searchParams.append('command', argument);
  for (const stream of streams) target.searchParams.set(stream, '1');
  if (container !== undefined) target.searchParams.set('container', container);
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(target.href.replace(/^http/, 'ws'), [...protocols], {
      ...(ca === undefined ? {} : { ca }),
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    });
    signal.addEventListener('abort', () => socket.terminate());
    const channels = new Map<number, string>();
    let rejected: WireExecResult['rejected'];
    socket.on('unexpected-response', (_request, response) => {
      text(response).then((body) => {
        rejected = { status: response.statusCode ?? 0, text: body };
        resolve({ rejected, protocol: '', stdout: '', stderr: '' });
      }, reject);
    });
    socket.on('message', (message: Buffer) => {
      const [channel = 0] = message;
      channels.set(channel, (channels.get(channel) ?? '') + message.subarray(1).toString());
    });
    socket.on('error', (error) => {
      if (!signal.aborted) reject(error);
    });
    socket.on('close', () => {
      const status = channels.get(3);
      resolve({
        protocol: socket.protocol,
        stdout: channels.get(1) ?? '',
        stderr: channels.get(2) ?? '',
        ...(status === undefined ? {} : { status: JSON.parse(status) }),
      });
    });
  });
}
