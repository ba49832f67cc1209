// A small HTTP server on this machine, for the doubles of the systems outside of the cluster.
import http from 'node:http';

export type Request = { readonly method: string; readonly url: URL; readonly body: string };
export type Response = { readonly status?: number; readonly body?: string };

/** Serves on a free port of 127.0.0.1. */
export async function serve(respond: (request: Request) => Response) {
  const server = http.createServer(async (request, response) => {
    const { method = '', url = '/' } = request;
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { status = 200, body: text = '' } = respond({ method, url: new URL(url, 'http://local'), body });
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
