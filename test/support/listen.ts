// A server on this machine, at a port that was free.
import type { Server } from 'node:net';

/** Resolves with the port at which it listens. Rejects with the listen error. */
export async function listenHere(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
