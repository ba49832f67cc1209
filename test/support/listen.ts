// A server on this machine, on a free port.
import http from 'node:http';
import { createServer, type Server } from 'node:net';

/** A running HTTP server. Its end closes its connections. */
export type HttpServer = { readonly url: string; close(): Promise<void> };

/** Listens on 127.0.0.1 and resolves with the port. Rejects with the listen error. */
export async function listenOnLoopback(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Starts an HTTP server on a free port of 127.0.0.1. */
export async function startHttpServer(listener: http.RequestListener): Promise<HttpServer> {
  const server = http.createServer(listener);
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url, close };
}

/** Returns a port on which no server listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLoopback(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
