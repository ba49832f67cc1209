// A small router in place of mcrouter, which has no package for Debian or npm. It reads the configuration that
// MemcachedProxy generates, and speaks memcached's text protocol to clients and servers: get, set, delete. Its hash is
// jump consistent hashing, with the guarantee of mcrouter's Ch3: a server at the end of the list moves only the keys that
// it takes or gave. Which key is on which server differs from mcrouter.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import * as z from 'zod';
import { listenOnLoopback } from '../support/listen.ts';

type Route =
  | string
  | { readonly type: 'HashRoute'; readonly children: readonly Route[] }
  | {
      readonly type: 'OperationSelectorRoute';
      readonly default_policy: Route;
      readonly operation_policies: { readonly get: Route };
    };

const route: z.ZodType<Route> = z.lazy(() =>
  z.union([
    z.string(),
    z.object({ type: z.literal('HashRoute'), children: z.array(route) }),
    z.object({
      type: z.literal('OperationSelectorRoute'),
      default_policy: route,
      operation_policies: z.object({ get: route }),
    }),
  ]),
);
const configuration = z.object({ pools: z.record(z.string(), z.object({ servers: z.array(z.string()) })), route });

/** One command: its name, its key, and all of its bytes. */
type Command = { readonly name: string; readonly key: string; readonly bytes: string };

/** A router that listens. */
export type MemcachedRouter = {
  readonly port: number;
  /** Replaces the configuration, as mcrouter does when its file changes. */
  load(config: unknown): void;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts a router on a free port. `dial` connects to a server of a pool, `address:port`. */
export async function startMemcachedRouter(dial: (server: string) => Socket): Promise<MemcachedRouter> {
  let config: z.infer<typeof configuration> = { pools: {}, route: '' };
  const clients = new Set<Socket>();

  async function send(at: Route, command: Command): Promise<string> {
    if (typeof at !== 'string') {
      if (at.type === 'HashRoute') return await send(chosen(at.children, command.key), command);
      return await send(command.name === 'get' ? at.operation_policies.get : at.default_policy, command);
    }
    const [policy, ...rest] = at.split('|');
    const servers = config.pools[rest.at(-1) ?? '']?.servers ?? [];
    if (policy === 'PoolRoute') return await exchange(chosen(servers, command.key), command);
    if (policy === 'AllSyncRoute') {
      const responses = await Promise.all(servers.map((server) => exchange(server, command)));
      return responses.find((response) => response.startsWith('SERVER_ERROR')) ?? responses[0] ?? 'SERVER_ERROR\r\n';
    }
    if (policy !== 'LatestRoute') throw new Error(`the router has no ${at}`);
    let response = 'SERVER_ERROR no server\r\n';
    for (const server of servers) {
      response = await exchange(server, command);
      if (!response.startsWith('SERVER_ERROR')) break;
    }
    return response;
  }

  async function exchange(server: string, { name, bytes }: Command): Promise<string> {
    const socket = dial(server).setEncoding('latin1');
    try {
      socket.write(bytes, 'latin1');
      let received = '';
      for await (const chunk of socket) {
        received += String(chunk);
        if (received.endsWith(name === 'get' ? 'END\r\n' : '\r\n')) return received;
      }
    } catch {
      // The next line reports it to the client.
    } finally {
      socket.destroy();
    }
    return `SERVER_ERROR no response from ${server}\r\n`;
  }

  async function serve(client: Socket): Promise<void> {
    clients.add(client.setEncoding('latin1'));
    let received = '';
    for await (const chunk of client) {
      received += String(chunk);
      for (let end = received.indexOf('\r\n'); end >= 0; end = received.indexOf('\r\n')) {
        const [name = '', ...words] = received.slice(0, end).trim().split(' ');
        const length = end + 2 + (name === 'set' ? Number(words[3]) + 2 : 0);
        if (received.length < length) break;
        const bytes = received.slice(0, length);
        received = received.slice(length);
        if (name === 'quit') return;
        if (name === 'version') client.write('VERSION 1.6.0 router\r\n');
        else if (name !== 'get') client.write(await send(config.route, { name, key: words[0] ?? '', bytes }), 'latin1');
        else {
          const found = words.map((key) => send(config.route, { name, key, bytes: `get ${key}\r\n` }));
          const values = (await Promise.all(found)).map((response) =>
            response.replace(/(END|SERVER_ERROR.*)\r\n$/, ''),
          );
          client.write(`${values.join('')}END\r\n`, 'latin1');
        }
      }
    }
  }

  const server = createServer((client) => {
    serve(client)
      .catch(() => undefined)
      .finally(() => client.destroy());
  });
  return {
    port: await listenOnLoopback(server),
    load: (text) => {
      config = configuration.parse(text);
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Jump consistent hashing (Lamping and Veach, 2014). */
function chosen<T>(all: readonly T[], key: string): T {
  let state = createHash('sha1').update(key).digest().readBigUInt64BE();
  let bucket = -1;
  for (let next = 0; next < all.length; ) {
    bucket = next;
    state = BigInt.asUintN(64, state * 2_862_933_555_777_941_757n + 1n);
    next = Math.floor((bucket + 1) * (2 ** 31 / (Number(state >> 33n) + 1)));
  }
  const one = all[bucket];
  if (one === undefined) throw new Error('the pool has no server');
  return one;
}
