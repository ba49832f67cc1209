// The kubelet's server for `pods/exec` of kube-apiserver: HTTPS and a WebSocket,
// `/exec/NAMESPACE/POD/CONTAINER?command=...&output=1&error=1`. kube-apiserver accepts any certificate without
// --kubelet-certificate-authority.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { createExecSessions, type RequestedExec } from '@outrigger/apiserver/exec/exec-sessions';
import type { Execute } from '@outrigger/apiserver/exec/execute';
import { kubeletError } from '@outrigger/apiserver/exec/pods-exec';

/** A running container. */
export type RunningContainer = {
  readonly ip: string;
  readonly image: string;
};

const fixtures = join(import.meta.dirname, '../../test/kube/fixtures');

/** Serves commands on a free port of 127.0.0.1. `find` returns the container; undefined is a 404, `stopped` a 500. */
export async function serveExec(
  find: (namespace: string, pod: string, container: string) => RunningContainer | 'stopped' | undefined,
  execute: Execute,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const [key, cert] = await Promise.all(['server.key', 'server.pem'].map((file) => readFile(join(fixtures, file))));
  const sessions = createExecSessions(execute);
  const parseRequest = (url: string): RequestedExec | RejectedExec => {
    const { pathname, searchParams } = new URL(url, 'https://kubelet');
    const [, verb, namespace = '', pod = '', container = ''] = pathname.split('/').map(decodeURIComponent);
    const found = verb === 'exec' ? find(namespace, pod, container) : undefined;
    if (found === undefined) return { status: 404, body: 'pod does not exist' };
    const isRequested = (stream: string): boolean => searchParams.get(stream) === '1';
    const streams = { stdin: isRequested('input'), stdout: isRequested('output'), stderr: isRequested('error') };
    const rejected = kubeletError(container, { running: found !== 'stopped', ...streams });
    if (rejected !== undefined) return { status: rejected.status, body: String(rejected.body) };
    const { stdout, stderr } = streams;
    const command = searchParams.getAll('command');
    return { namespace, pod, container, command, stdout, stderr, ...(found === 'stopped' ? {} : found) };
  };
  const server = createServer({ ...(key && cert ? { key, cert } : {}) }, (_request, response) => {
    response.writeHead(400).end('Upgrade request required');
  });
  // A client that disconnects during the handshake is not an error.
  server.on('tlsClientError', () => undefined);
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const requested = parseRequest(request.url ?? '/');
    if ('status' in requested) rejectUpgrade(socket, requested);
    else sessions.open({ request, socket, head }, requested);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sessions.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type RejectedExec = {
  readonly status: number;
  readonly body: string;
};

function rejectUpgrade(socket: Duplex, { status, body }: RejectedExec): void {
  const headers = `content-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status} Rejected\r\n${headers}\r\n\r\n${body}`);
}
