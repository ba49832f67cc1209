// The world outside of the job `slow`: answers every GET after 200 ms, to as many at a time as ask.
import http from 'node:http';
import { listenHere } from '../test/support/listen.ts';

const milliseconds = 200;

/** A world that runs. */
export type Outside = { readonly url: string; close(): void };

/** Starts it. */
export async function startOutside(): Promise<Outside> {
  const server = http.createServer((_request, response) => {
    setTimeout(() => response.end('{}'), milliseconds);
  });
  const port = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
