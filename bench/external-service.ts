// The external service of the job `slow`: it responds to every GET after 200 ms, with any number of concurrent
// requests.
import http from 'node:http';
import { listenOnLoopback } from '../test/support/listen.ts';

const milliseconds = 200;

/** The running service. */
export type ExternalService = { readonly url: string; close(): void };

/** Starts it. */
export async function startExternalService(): Promise<ExternalService> {
  const server = http.createServer((_request, response) => {
    setTimeout(() => response.end('{}'), milliseconds);
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
