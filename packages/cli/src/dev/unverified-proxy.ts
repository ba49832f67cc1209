// A proxy for a kubeconfig with insecure-skip-tls-verify. Only `outrigger dev` accepts it: watchers and functions
// always verify certificates. So the dev process makes the unverified connection, and its parts connect to it over
// loopback http, under a secret path. Streams are passed on unbuffered for watches, and WebSockets for commands in
// containers.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { answering, requestUrl } from '@outrigger/apiserver/http/answering';
import { foreignRequest } from '@outrigger/common/http/foreign-request';
import { closeServer, listen } from '@outrigger/common/http/listen';
import type { Connection } from 'outrigger/internal/kube/client/connection';

/** A running proxy. */
export type UnverifiedProxy = { readonly url: URL; close(): Promise<void> };

/**
 * Starts a proxy to a server whose certificate is not verified. The proxy presents the client certificate, if there is
 * one.
 */
export async function startUnverifiedProxy({ server, clientCertificate }: Connection): Promise<UnverifiedProxy> {
  const secret = `/${randomUUID()}`;
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, ...clientCertificate });

  /** Makes the same request to the server; undefined for a web page, and without the secret path. */
  function forward(incoming: http.IncomingMessage): http.ClientRequest | undefined {
    const target = incoming.url ?? '/';
    if (!target.startsWith(`${secret}/`) || foreignRequest(incoming.headers) !== undefined) return undefined;
    const path = server.pathname.replace(/\/$/, '') + target.slice(secret.length);
    const { host: _, ...headers } = incoming.headers;
    const { hostname, port, host } = server;
    const { method } = incoming;
    return https.request({
      agent,
      host: hostname,
      port: port === '' ? 443 : port,
      path,
      method,
      headers: { ...headers, host },
    });
  }

  const proxy = http.createServer(
    answering((incoming, outgoing) => {
      const forwarded = forward(incoming);
      if (forwarded === undefined) {
        outgoing.writeHead(404).end();
        return;
      }
      forwarded.on('response', (response) => {
        if (!passHead(response, outgoing)) {
          outgoing.writeHead(502).end('the cluster responded with a status or header that cannot be passed on');
          forwarded.destroy();
          return;
        }
        response.pipe(outgoing);
        response.on('error', () => outgoing.destroy());
      });
      // Without a response the client's connection is closed too.
      forwarded.on('error', () => outgoing.destroy());
      outgoing.on('close', () => forwarded.destroy());
      incoming.pipe(forwarded);
    }),
  );
  const sockets = new Set<Duplex>();
  proxy.on('upgrade', (incoming: http.IncomingMessage, socket: Duplex, head: Buffer) => {
    const forwarded = requestUrl(incoming) === undefined ? undefined : forward(incoming);
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    if (forwarded === undefined) {
      socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
      return;
    }
    forwarded.on('upgrade', (response, upstream, first) => {
      socket.write(Buffer.concat([headOf(response), first]));
      upstream.write(head);
      upstream.on('error', () => socket.destroy());
      upstream.on('close', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
      upstream.pipe(socket).pipe(upstream);
    });
    forwarded.on('response', (response) => {
      socket.write(headOf(response));
      response.pipe(socket);
    });
    forwarded.on('error', () => socket.destroy());
    socket.on('close', () => forwarded.destroy());
    forwarded.end();
  });
  const url = await listen(proxy);
  return {
    url: new URL(`${url}${secret}`),
    close: async () => {
      const closed = closeServer(proxy);
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await closed;
    },
  };
}

/** Sends the head of a response. Returns false if Node's server refuses it, such as a status 099. */
function passHead({ statusCode = 0, headers }: http.IncomingMessage, outgoing: http.ServerResponse): boolean {
  try {
    outgoing.writeHead(statusCode, headers);
  } catch {
    return false;
  }
  // The headers of a watch arrive long before its first event.
  outgoing.flushHeaders();
  return true;
}

/** Formats the head of a response as bytes. The body ends with the connection, also if the server sent it in chunks. */
function headOf({ statusCode, statusMessage, headers }: http.IncomingMessage): Buffer {
  const lines = Object.entries(headers)
    .filter(([name]) => name !== 'transfer-encoding')
    .flatMap(([name, value = '']) => [value].flat().map((one) => `${name}: ${one}`));
  return Buffer.from([`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, '', ''].join('\r\n'), 'latin1');
}
