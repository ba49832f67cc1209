// A developer's kubeconfig may say insecure-skip-tls-verify, and nothing of ours but `outrigger dev` honours it: watcher and
// functions always verify. So the dev process itself makes the unverified connection, and its parts talk to it over
// loopback http, under a path that only they know. Streams pass as they come; that is what a watch needs.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { Connection } from '../kube/connection.ts';

/** A proxy that runs. */
export type UnverifiedProxy = { readonly url: URL; close(): Promise<void> };

/** Starts a proxy to a server whose certificate is not looked at. A client certificate, where there is one, is the proxy's. */
export async function startUnverifiedProxy({ server, clientCertificate }: Connection): Promise<UnverifiedProxy> {
  const secret = `/${randomUUID()}`;
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, ...clientCertificate });
  const proxy = http.createServer((incoming, outgoing) => {
    const target = incoming.url ?? '/';
    if (!target.startsWith(`${secret}/`)) {
      outgoing.writeHead(404).end();
      return;
    }
    const path = server.pathname.replace(/\/$/, '') + target.slice(secret.length);
    const { host: _, ...headers } = incoming.headers;
    const { hostname, port, host } = server;
    const onward = https.request(
      {
        agent,
        host: hostname,
        port: port === '' ? 443 : port,
        path,
        method: incoming.method,
        headers: { ...headers, host },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        // Headers of a watch arrive long before its first event.
        outgoing.flushHeaders();
        answer.pipe(outgoing);
        answer.on('error', () => outgoing.destroy());
      },
    );
    // Nobody answered: to the part that asked it must look so too.
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
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
        agent.destroy();
      }),
  };
}
