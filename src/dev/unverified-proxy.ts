// A developer's kubeconfig may say insecure-skip-tls-verify, and nothing of ours but `outrigger dev` honours it: watcher and
// functions always verify. So the dev process itself makes the unverified connection, and its parts talk to it over
// loopback http, under a path that only they know. Streams pass as they come, which is what a watch needs, and so do
// WebSockets, which is what commands in containers need.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import type { Connection } from '../kube/connection.ts';

/** A proxy that runs. */
export type UnverifiedProxy = { readonly url: URL; close(): Promise<void> };

/** Starts a proxy to a server whose certificate is not looked at. A client certificate, where there is one, is the proxy's. */
export async function startUnverifiedProxy({ server, clientCertificate }: Connection): Promise<UnverifiedProxy> {
  const secret = `/${randomUUID()}`;
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, ...clientCertificate });

  /** The same request to the server; undefined for whoever does not know the path. */
  function passOn(incoming: http.IncomingMessage): http.ClientRequest | undefined {
    const target = incoming.url ?? '/';
    if (!target.startsWith(`${secret}/`)) return undefined;
    const path = server.pathname.replace(/\/$/, '') + target.slice(secret.length);
    const { host: _, ...headers } = incoming.headers;
    const { hostname, port, host } = server;
    const { method } = incoming;
    return https.request({
      ...{ agent, host: hostname, port: port === '' ? 443 : port, path, method },
      headers: { ...headers, host },
    });
  }

  const proxy = http.createServer((incoming, outgoing) => {
    const onward = passOn(incoming);
    if (onward === undefined) {
      outgoing.writeHead(404).end();
      return;
    }
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      // Headers of a watch arrive long before its first event.
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    // Nobody answered: to the part that asked it must look so too.
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  const upgraded = new Set<Duplex>();
  proxy.on('upgrade', (incoming: http.IncomingMessage, socket: Duplex, head: Buffer) => {
    const onward = passOn(incoming);
    upgraded.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => upgraded.delete(socket));
    if (onward === undefined) {
      socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
      return;
    }
    onward.on('upgrade', (answer, there, first) => {
      socket.write(Buffer.concat([headOf(answer), first]));
      there.write(head);
      there.on('error', () => socket.destroy());
      there.on('close', () => socket.destroy());
      socket.on('close', () => there.destroy());
      there.pipe(socket).pipe(there);
    });
    onward.on('response', (answer) => {
      socket.write(headOf(answer));
      answer.pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
    onward.end();
  });
  await new Promise<void>((resolve, reject) => {
    proxy.once('error', reject);
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const address = proxy.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: new URL(`http://127.0.0.1:${port}${secret}`),
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve());
        proxy.closeAllConnections();
        for (const socket of upgraded) socket.destroy();
        agent.destroy();
      }),
  };
}

/** The head of an answer as bytes. A body that follows it ends with the connection, however the server has framed it. */
function headOf({ statusCode, statusMessage, headers }: http.IncomingMessage): Buffer {
  const lines = Object.entries(headers)
    .filter(([name]) => name !== 'transfer-encoding')
    .flatMap(([name, value = '']) => [value].flat().map((one) => `${name}: ${one}`));
  return Buffer.from([`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, '', ''].join('\r\n'), 'latin1');
}
