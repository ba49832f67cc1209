// A relay of TCP connections, which can break them: what a page sees of a laptop that sleeps, or of a lost tunnel.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Starts a relay to a port of this machine. While it is down, it closes every connection. */
export async function startRelay(
  target: number,
): Promise<AsyncDisposable & { readonly port: number; setDown(down: boolean): void }> {
  const sockets = new Set<Socket>();
  let isDown = false;
  const server = createServer((socket) => {
    if (isDown) return void socket.destroy();
    const onward = connect(target, '127.0.0.1');
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.once('close', () => {
        sockets.delete(one);
        socket.destroy();
        onward.destroy();
      });
    }
    socket.pipe(onward).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const setDown = (down: boolean) => {
    isDown = down;
    if (down) for (const one of sockets) one.destroy();
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    setDown,
    [Symbol.asyncDispose]: async () => {
      setDown(true);
      server.close();
      await once(server, 'close');
    },
  };
}
