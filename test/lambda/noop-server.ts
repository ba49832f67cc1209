// An API server in front of another: it says of every write that it changed nothing, and has no ConfigMaps to show.
import http from 'node:http';
import { listenHere } from '../support/listen.ts';

/** Starts it in front of `target`. */
export async function startOddServer(target: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  let versionRead: unknown;
  const server = http.createServer((request, response) => {
    void (async () => {
      if (request.url?.includes('/configmaps/')) return void response.writeHead(500).end('{}');
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      const { method = 'GET', headers } = request;
      const answer = await fetch(`${target.replace(/\/$/, '')}${request.url}`, {
        method,
        headers: {
          'content-type': headers['content-type'] ?? 'application/json',
          accept: headers.accept ?? 'application/json',
        },
        ...(method === 'GET' ? {} : { body: Buffer.concat(pieces) }),
      });
      const object = JSON.parse(await answer.text());
      if (method === 'GET') versionRead = object?.metadata?.resourceVersion;
      else object.metadata.resourceVersion = versionRead;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(object));
    })().catch(() => response.destroy());
  });
  const port = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
