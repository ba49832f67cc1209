// Only that whatever a server sends instead of an HTTP response is an error of the client, and ends neither it nor the
// proxy of `outrigger dev`. FUZZ_RUNS=10000 sends as many responses to each of both.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { env } from 'node:process';
import { createServer as createTlsServer } from 'node:tls';
import { startUnverifiedProxy } from '@outrigger/cli/dev/unverified-proxy';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../../src/kube/client/client.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { pem } from '../wire-server.ts';

const responses = Number(env.FUZZ_RUNS ?? 80);
/** So many responses are sent at once, each to a path of its own. */
const together = 20;
const timeoutMs = 60_000 + 30 * responses;

const status = fc.oneof(
  fc.constantFrom('099', '000', '100', '101', '102', '103', '199', '200', '204', '304', '401', '999', '1000', '-1', ''),
  fc.string({ maxLength: 5 }),
);
const header = fc.oneof(
  fc.constantFrom(
    ...[
      'Content-Length: 0',
      'Content-Length: 9',
      'Content-Length: -1',
      'Transfer-Encoding: chunked',
      'Upgrade: websocket',
    ],
    ...[
      'Connection: Upgrade',
      'Content-Type: application/json',
      'Content-Encoding: gzip',
      'Location: //',
      'Warning: 299 "',
    ],
    ...['Sec-WebSocket-Accept: x', 'Retry-After: 99999999', 'X: \u0001', 'X: \u00ff', ': x', ' folded'],
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const response = fc
  .record({
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2', 'ICY'),
    status,
    reason: fc.string({ unit: 'binary', maxLength: 10 }),
    headers: fc.array(header, { maxLength: 4 }),
    body: fc.oneof(fc.constantFrom('', '{}', '0\r\n\r\n', '9\r\n{"a"'), fc.string({ unit: 'binary', maxLength: 30 })),
  })
  .map(({ version, status: code, reason, headers, body }) =>
    [`${version} ${code} ${reason}`, ...headers, '', body].join('\r\n'),
  );

/** A server that sends `says[N]` to whatever it receives for the path `/N/...`, and closes. */
async function startBabbler(make: (serve: (socket: Socket) => void) => Server) {
  const says: string[] = [];
  const listener = make((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (request) => {
      const [, index] = /^\S+ \S*\/(\d+)\//.exec(request.toString('latin1')) ?? [];
      socket.end(Buffer.from(says[Number(index)] ?? '', 'latin1'));
    });
  });
  const port = await listenOnLoopback(listener);
  onTestFinished(() => void listener.close());
  return { says, port };
}

const known = ['099', '101', '100'].map(
  (code) => `HTTP/1.1 ${code} x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
);
const some = fc.array(response, { minLength: together, maxLength: together });
const runs = { numRuns: Math.ceil(responses / together), examples: [[known]] satisfies [[string[]]] };
const errors = /^(ApiError|ConnectError|DeadlineError|ResponseError): /;

/** Calls the API server at `/INDEX` in each way. Returns the errors. */
async function callEach(server: URL, index: number): Promise<readonly string[]> {
  const refresh = async () => undefined;
  const client = createClient({ server, refresh }, { timeoutSeconds: 5, writeTimeoutSeconds: 5 });
  const [path, receive] = [`/${index}/a`, () => true];
  const results = await Promise.allSettled([
    client.request({ method: 'GET', path, query: { limit: 1 } }),
    client.request({ method: 'PATCH', path, body: {} }),
    client.stream({ method: 'GET', path }).then(async (stream) => {
      for await (const _ of stream);
    }),
    client.webSocket({ path, protocol: 'v4.channel.k8s.io', maxMessageBytes: 100, receive }),
  ]);
  client.close();
  return results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
}

it(
  // Control T150.
  'H3: whatever a server sends, each call of the client ends with a response or an error of the client',
  async () => {
    const { says, port } = await startBabbler((serve) => createServer(serve));
    await fc.assert(
      fc.asyncProperty(some, async (texts) => {
        says.splice(0, says.length, ...texts);
        const failed = await Promise.all(texts.map((_, index) => callEach(new URL(`http://127.0.0.1:${port}`), index)));
        for (const error of failed.flat()) expect(error).toMatch(errors);
      }),
      runs,
    );
  },
  timeoutMs,
);

it(
  'H3: whatever an unverified cluster sends, its proxy answers or closes, and takes the next request',
  async () => {
    const tls = { cert: pem('server.pem'), key: pem('server.key') };
    const { says, port } = await startBabbler((serve) => createTlsServer(tls, serve));
    const proxy = await startUnverifiedProxy({ server: new URL(`https://127.0.0.1:${port}`) });
    onTestFinished(() => proxy.close());
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const call = (index: number, headers = ''): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(Number(proxy.url.port), '127.0.0.1');
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk.toString('latin1');
        });
        socket.on('error', () => undefined).on('close', () => resolve(text));
        const target = `${proxy.url.pathname}/${index}/a`;
        socket.write(`GET ${target} HTTP/1.1\r\nHost: ${proxy.url.host}\r\nConnection: close\r\n${headers}\r\n`);
        socket.setTimeout(2000, () => socket.destroy());
      });
    await fc.assert(
      fc.asyncProperty(some, async (texts) => {
        says.splice(0, says.length, ...texts);
        await Promise.all(texts.flatMap((_, index) => [call(index), call(index, upgrade)]));
        says[0] = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
        expect(await call(0)).toMatch(/^HTTP\/1.1 200 /);
      }),
      runs,
    );
    says[0] = 'HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n';
    expect(await call(0)).toMatch(/^HTTP\/1.1 502 /);
  },
  timeoutMs,
);
