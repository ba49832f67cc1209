// A gate in front of the pantry: it notes when somebody comes and goes for which object, and lets nobody hurry, so that two
// reconciles of one object that meet are seen to meet. Effects come first and the answer later: whoever dies at the gate has acted.
import http from 'node:http';
import { listenHere } from '../support/listen.ts';

/** Somebody who was there for an object. Milliseconds since the process began; a visit that goes on has no `left` yet. */
export type Visit = { readonly holder: string; readonly entered: number; left?: number };

/** A gate that runs. */
export type SlowWorld = {
  readonly url: string;
  /** The visits since the last `forget`. */
  visits(): readonly Visit[];
  forget(): void;
  /** Called at every visit, when its effect is done and its answer is not yet given; `port` is the visitor's. */
  onVisit(listener: (holder: string, port: number) => void): void;
  close(): Promise<void>;
};

/** Starts a gate to a pantry. */
export async function startSlowWorld(pantryUrl: string, { holdMilliseconds = 80 } = {}): Promise<SlowWorld> {
  const target = new URL(pantryUrl);
  const agent = new http.Agent({ keepAlive: true });
  let visits: Visit[] = [];
  let listener: (holder: string, port: number) => void = () => undefined;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { method, url = '/', headers } = request;
      const visit: Visit = { holder: holderOf(url, body), entered: performance.now() };
      visits.push(visit);
      // Answered, or dead: both are a leave.
      response.on('close', () => {
        visit.left = performance.now();
      });
      const { hostname, port } = target;
      const onward = http.request({
        agent,
        hostname,
        port,
        method,
        path: url,
        headers: { ...headers, host: target.host },
      });
      onward.on('response', (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => parts.push(chunk));
        answer.on('end', () => {
          listener(visit.holder, request.socket.remotePort ?? 0);
          setTimeout(
            () => response.writeHead(answer.statusCode ?? 502, answer.headers).end(Buffer.concat(parts)),
            holdMilliseconds,
          );
        });
      });
      onward.on('error', () => response.destroy());
      onward.end(body);
    });
  });
  const port = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    visits: () => visits,
    forget: () => {
      visits = visits.filter(({ left }) => left === undefined);
    },
    onVisit: (next) => {
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
