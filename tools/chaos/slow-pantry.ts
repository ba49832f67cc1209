// A proxy in front of the pantry. It records the start and the end of every request and its object, and delays every
// response, so that concurrent reconciles of one object become visible. The pantry executes the request before the
// delay: a client that is killed during the delay has made its effect.
import http from 'node:http';
import { listenOnLoopback } from '../../test/support/listen.ts';

/**
 * A request for an object. Times are in milliseconds since the start of the process; a request in progress has no
 * `endedAt`.
 */
export type PantryRequest = { readonly holder: string; readonly startedAt: number; endedAt?: number };

/** A running proxy. */
export type SlowPantry = {
  readonly url: string;
  /** The requests since the last `clearRequests`. */
  requests(): readonly PantryRequest[];
  clearRequests(): void;
  /** Calls the listener at every request, after its effect and before its response; `port` is the client's. */
  onRequest(listener: (holder: string, port: number) => void): void;
  close(): Promise<void>;
};

/** Starts a proxy to a pantry. */
export async function startSlowPantry(pantryUrl: string, { delayMilliseconds = 80 } = {}): Promise<SlowPantry> {
  const target = new URL(pantryUrl);
  const agent = new http.Agent({ keepAlive: true });
  let requests: PantryRequest[] = [];
  let listener: (holder: string, port: number) => void = () => undefined;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { method, url = '/', headers } = request;
      const entry: PantryRequest = { holder: holderOf(url, body), startedAt: performance.now() };
      requests.push(entry);
      // The response was sent, or the client is dead: both end the request.
      response.on('close', () => {
        entry.endedAt = performance.now();
      });
      const { hostname, port } = target;
      const forwarded = http.request({
        agent,
        hostname,
        port,
        method,
        path: url,
        headers: { ...headers, host: target.host },
      });
      forwarded.on('response', (pantryResponse) => {
        const parts: Buffer[] = [];
        pantryResponse.on('data', (chunk: Buffer) => parts.push(chunk));
        pantryResponse.on('end', () => {
          listener(entry.holder, request.socket.remotePort ?? 0);
          setTimeout(
            () =>
              response.writeHead(pantryResponse.statusCode ?? 502, pantryResponse.headers).end(Buffer.concat(parts)),
            delayMilliseconds,
          );
        });
      });
      forwarded.on('error', () => response.destroy());
      forwarded.end(body);
    });
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    clearRequests: () => {
      requests = requests.filter(({ endedAt }) => endedAt === undefined);
    },
    onRequest: (next) => {
      listener = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

function holderOf(url: string, body: string): string {
  const named = /^\/holders\/([^/?]+)/.exec(url)?.[1];
  if (named !== undefined) return decodeURIComponent(named);
  return /"holder":"([^"]+)"/.exec(body)?.[1] ?? '';
}
