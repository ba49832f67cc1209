// Upgraded connections (`pods/exec`, a WebSocket): the proxy forwards their bytes without reading them.
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';

/** The server. */
export type TunnelEnd = { readonly url: URL; readonly ca?: string };

/** The open tunnels. */
export type Tunnels = {
  /** Forwards an upgrade request to the server unchanged. */
  open(request: IncomingMessage, client: Duplex, head: Buffer): void;
  /** Closes all of them. */
  close(): void;
};

/** Creates the tunnels to one server. */
export function keepTunnels({ url, ca }: TunnelEnd): Tunnels {
  const ends = new Set<Duplex>();
  const closeTogether = (one: Duplex, other: Duplex): void => {
    ends.add(one);
    one.on('error', () => other.destroy());
    one.on('close', () => {
      ends.delete(one);
      other.destroy();
    });
  };
  const connect = (): Duplex => {
    const to = { host: url.hostname, port: Number(url.port) };
    return url.protocol === 'https:' ? tls.connect({ ...to, ...(ca === undefined ? {} : { ca }) }) : net.connect(to);
  };
  return {
    open({ method, url: path, rawHeaders }, client, head) {
      const server = connect();
      closeTogether(server, client);
      closeTogether(client, server);
      const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? `${name}: ${rawHeaders[index + 1]}` : []));
      server.write(`${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`);
      server.write(head);
      server.pipe(client);
      client.pipe(server);
    },
    close() {
      for (const end of ends) end.destroy();
    },
  };
}
