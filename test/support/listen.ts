// A server on this machine, on a free port.
import { createServer, type Server } from 'node:net';

/** Listens on 127.0.0.1 and resolves with the port. Rejects with the listen error. */
export async function listenOnLoopback(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Returns a port on which no server listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLoopback(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
