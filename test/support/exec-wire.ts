// A command in a pod over a bare WebSocket, and nothing of src/kube: what tests judge the servers of `pods/exec` by.
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import type { ConformanceServer } from '../conformance/wire.ts';

/** What came of it: refused before it began, or a session with what each channel said. */
export interface ExecOutcome {
  /** The handshake's answer where it was refused. */
  readonly refused?: { readonly status: number; readonly text: string };
  readonly protocol: string;
  readonly stdout: string;
  readonly stderr: string;
  /** The Status of the last channel; absent where the connection ended without one. */
  readonly ending?: unknown;
}

/** What may be asked for beside a command. */
export interface ExecOptions {
  readonly container?: string;
  /** Names of streams, as in the query. */
  readonly streams?: readonly string[];
  readonly protocols?: readonly string[];
  /** Breaks off when it aborts. */
  readonly signal?: AbortSignal;
}

/** Runs a command in a pod; resolves when the connection has ended, however it did. */
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
): Promise<ExecOutcome> {
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
    const said = new Map<number, string>();
    let refused: ExecOutcome['refused'];
    socket.on('unexpected-response', (_request, response) => {
      text(response).then((body) => {
        refused = { status: response.statusCode ?? 0, text: body };
        resolve({ refused, protocol: '', stdout: '', stderr: '' });
      }, reject);
    });
    socket.on('message', (message: Buffer) => {
      const [channel = 0] = message;
      said.set(channel, (said.get(channel) ?? '') + message.subarray(1).toString());
    });
    socket.on('error', (error) => {
      if (!signal.aborted) reject(error);
    });
    socket.on('close', () => {
      const ending = said.get(3);
      resolve({
        protocol: socket.protocol,
        stdout: said.get(1) ?? '',
        stderr: said.get(2) ?? '',
        ...(ending === undefined ? {} : { ending: JSON.parse(ending) }),
      });
    });
  });
}
