// The HTTP endpoints of the watcher: two probes and the metrics. They only read memory, so a slow API server cannot
// make a probe time out.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WatcherMetrics } from './metrics.ts';

/** A running server. */
export type ProbeServer = { readonly port: number; close(): Promise<void> };

/** What the probes respond with. */
export type Probes = {
  /** Whether a restart would not help. */
  alive(): boolean;
  /** Whether changes are observed. */
  ready(): boolean;
  /** The details, so that an operator sees which cluster and kind is the cause. */
  report(): object;
};

/** Serves /healthz, /readyz and /metrics. Rejects if the port is not available. */
export async function serveProbes(
  { probes, metrics }: { readonly probes: Probes; readonly metrics: Pick<WatcherMetrics, 'contentType' | 'page'> },
  { host, port }: { readonly host: string | undefined; readonly port: number },
): Promise<ProbeServer> {
  const respond = async (path: string, response: ServerResponse): Promise<void> => {
    switch (path) {
      case '/healthz':
        json(response, probes.alive(), probes);
        return;
      case '/readyz':
        json(response, probes.ready(), probes);
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

function json(response: ServerResponse, ok: boolean, probes: Probes): void {
  response.writeHead(ok ? 200 : 503, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify({ ok, ...probes.report() })}\n`);
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
