// The HTTP endpoints of the watcher: two probes and the metrics. They only read memory, so a slow API server cannot
// make a probe time out.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Health } from '../forwarding/health.ts';
import type { WatcherMetrics } from './metrics.ts';

/** A running server. */
export type ProbeServer = { readonly port: number; close(): Promise<void> };

/** Serves /healthz, /readyz and /metrics. Rejects if the port is not available. */
export async function serveProbes(
  { health, metrics }: { readonly health: Health; readonly metrics: Pick<WatcherMetrics, 'contentType' | 'page'> },
  { host, port }: { readonly host: string | undefined; readonly port: number },
): Promise<ProbeServer> {
  const respond = async (path: string, response: ServerResponse): Promise<void> => {
    switch (path) {
      case '/healthz':
        json(response, health.alive(), health);
        return;
      case '/readyz':
        json(response, health.ready(), health);
        return;
      case '/metrics':
        response.writeHead(200, { 'content-type': metrics.contentType });
        response.end(await metrics.page());
        return;
      default:
        response.writeHead(404).end();
    }
  };
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    const [path = ''] = (request.url ?? '').split('?');
    respond(path, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: portOf(server.address()),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Both probes return the health of every kind, so that an operator sees which one is the cause. */
function json(response: ServerResponse, ok: boolean, health: Health): void {
  response.writeHead(ok ? 200 : 503, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify({ ok, kinds: health.report() })}\n`);
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
