// A proxy of an API server: it reports that every write changed nothing, and fails every request for a ConfigMap. Its
// clock is an hour ahead, so that every change that was not observed is old.
import { type HttpServer, startHttpServer } from '../support/listen.ts';

const clockAheadMs = 3_600_000;

/** Starts the proxy of `target`. */
export async function startNoopServer(target: string): Promise<HttpServer> {
  let versionRead: unknown;
  return await startHttpServer((request, response) => {
    void (async () => {
      if (request.url?.includes('/configmaps/')) return void response.writeHead(500).end('{}');
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method = 'GET', headers } = request;
      const forwarded = await fetch(`${target.replace(/\/$/, '')}${request.url}`, {
        method,
        headers: {
          'content-type': headers['content-type'] ?? 'application/json',
          accept: headers.accept ?? 'application/json',
        },
        ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
      });
      const object = JSON.parse(await forwarded.text());
      if (method === 'GET') versionRead = object?.metadata?.resourceVersion;
      else object.metadata.resourceVersion = versionRead;
      const date = new Date(Date.now() + clockAheadMs).toUTCString();
      response.writeHead(forwarded.status, { 'content-type': 'application/json', date }).end(JSON.stringify(object));
    })().catch(() => response.destroy());
  });
}
