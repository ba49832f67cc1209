// Where kube-apiserver comes for `pods/exec`: HTTPS and a WebSocket, `/exec/NAMESPACE/POD/CONTAINER?command=...&output=1&error=1`.
// Its certificate is nobody's: kube-apiserver asks for none without --kubelet-certificate-authority.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { kubeletRefusal } from '../../src/local/api-server/exec/exec-answer.ts';
import { type Asked, createExecSessions } from '../../src/local/api-server/exec/exec-sessions.ts';
import type { Execute } from '../../src/local/api-server/exec/execute.ts';

/** A container that runs. */
export interface FoundContainer {
  readonly ip: string;
  readonly image: string;
}

const FIXTURES = join(import.meta.dirname, '../kube/fixtures');

/** Serves commands on a free port of 127.0.0.1. `find` says what runs; undefined is a 404, `stopped` a 500. */
export async function serveExec(
  find: (namespace: string, pod: string, container: string) => FoundContainer | 'stopped' | undefined,
  execute: Execute,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const [key, cert] = await Promise.all(['server.key', 'server.pem'].map((file) => readFile(join(FIXTURES, file))));
  const sessions = createExecSessions(execute);
  const read = (url: string): Asked | Refusal => {
    const { pathname, searchParams } = new URL(url, 'https://kubelet');
    const [, verb, namespace = '', pod = '', container = ''] = pathname.split('/').map(decodeURIComponent);
    const found = verb === 'exec' ? find(namespace, pod, container) : undefined;
    if (found === undefined) return { status: 404, body: 'pod does not exist' };
    const isAsked = (stream: string): boolean => searchParams.get(stream) === '1';
    const streams = { stdin: isAsked('input'), stdout: isAsked('output'), stderr: isAsked('error') };
    const refused = kubeletRefusal(container, { running: found !== 'stopped', ...streams });
    if (refused !== undefined) return { status: refused.status, body: String(refused.body) };
    const { stdout, stderr } = streams;
    const command = searchParams.getAll('command');
    return { namespace, pod, container, command, stdout, stderr, ...(found === 'stopped' ? {} : found) };
  };
  const server = createServer({ ...(key && cert ? { key, cert } : {}) }, (_request, response) => {
    response.writeHead(400).end('Upgrade request required');
  });
  // Whoever goes while it is being answered is a closed session, and no error of ours.
  server.on('tlsClientError', () => undefined);
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const asked = read(request.url ?? '/');
    if ('status' in asked) refuse(socket, asked);
    else sessions.open({ request, socket, head }, asked);
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

interface Refusal {
  readonly status: number;
  readonly body: string;
}

function refuse(socket: Duplex, { status, body }: Refusal): void {
  const headers = `content-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status} Refused\r\n${headers}\r\n\r\n${body}`);
}
