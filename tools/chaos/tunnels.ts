// Connections that turn into something else than HTTP (`pods/exec`, a WebSocket): the proxy carries their bytes and looks at none.
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';

/** Where they lead. */
export type TunnelEnd = { readonly url: URL; readonly ca?: string };

/** The tunnels that are open. */
export type Tunnels = {
  /** Passes an upgrade on to the server, as it was asked for. */
  open(request: IncomingMessage, client: Duplex, head: Buffer): void;
  /** Cuts all of them. */
  close(): void;
};

/** Keeps tunnels to one server. */
export function keepTunnels({ url, ca }: TunnelEnd): Tunnels {
  const ends = new Set<Duplex>();
  const keep = (one: Duplex, other: Duplex): void => {
    ends.add(one);
    one.on('error', () => other.destroy());
    one.on('close', () => {
      ends.delete(one);
      other.destroy();
    });
  };
  const dial = (): Duplex => {
    const to = { host: url.hostname, port: Number(url.port) };
    return url.protocol === 'https:' ? tls.connect({ ...to, ...(ca === undefined ? {} : { ca }) }) : net.connect(to);
  };
  return {
    open({ method, url: path, rawHeaders }, client, head) {
      const server = dial();
      keep(server, client);
      keep(client, server);
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
