// A proxy between the watcher and SQS that rejects every request with a 503 on demand.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type FaultyProxy = {
  readonly endpoint: string;
  reject(rejecting: boolean): void;
  stop(): Promise<void>;
};

/** Starts a proxy in front of `target`. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  let rejecting = false;
  const { hostname, port } = new URL(target);
  const server = http.createServer((request, response) => {
    if (rejecting) {
      request.resume();
      response.writeHead(503).end();
      return;
    }
    const { method, url: path, headers } = request;
    const forwarded = http.request({ hostname, port, method, path, headers }, (upstreamResponse) => {
      response.writeHead(upstreamResponse.statusCode ?? 500, upstreamResponse.headers);
      upstreamResponse.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${portOf(server.address())}`,
    reject: (value) => {
      rejecting = value;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
