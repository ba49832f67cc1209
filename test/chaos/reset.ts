// How a connection ends when the machine at its other end has vanished: RST, no goodbye.
import type { Socket } from 'node:net';

/** Resets a connection. One under TLS is cut: no close_notify, but Node gives no way to its RST. */
export function reset(socket: Socket | null): void {
  if (socket === null) return;
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}
