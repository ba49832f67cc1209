// Only that no request line ends a local server: an error in an event handler would end the process with all objects.
// Who may call them is foreign-request.test.ts. FUZZ_RUNS=10000 sends as many lines to each.
import { connect } from 'node:net';
import { env } from 'node:process';
import { startApiServer } from '@outrigger/apiserver';
import { startConsole } from '@outrigger/cli/console/server/server';
import { startLambdaApi } from '@outrigger/cli/dev/lambda/lambda-api';
import { startSqs } from '@outrigger/cli/dev/sqs-server';
import { startUnverifiedProxy } from '@outrigger/cli/dev/unverified-proxy';
import { startPlant } from '@outrigger/cli/simulators/plant';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveProbes } from '../../src/watcher/http.ts';
import { createFakeSource } from '../console/fake-source.ts';

const lines = Number(env.FUZZ_RUNS ?? 100);
/** So many lines are sent at once, each by a connection of its own. */
const together = 20;
const timeoutMs = 60_000 + 20 * lines;
const ports = { 'API server': 0, 'Lambda API': 0, queue: 0, plant: 0, console: 0, probes: 0, 'proxy of a cluster': 0 };
const names = Object.keys(ports) as (keyof typeof ports)[];
let secret = '';

const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  const [api, lambda, queue, plant] = await Promise.all([
    startApiServer(),
    startLambdaApi({ mappings: [] }),
    startSqs(),
    startPlant(),
  ]);
  const console = await startConsole({ source: createFakeSource(), page: async () => new Map() });
  const metrics = { contentType: 'text/plain', page: async () => '' };
  const probes = { alive: () => true, ready: () => true, report: () => ({}) };
  const watcher = await serveProbes({ probes, metrics }, { host: '127.0.0.1', port: 0 });
  const proxy = await startUnverifiedProxy({ server: new URL('https://127.0.0.1:1/') });
  for (const one of [api, lambda, queue, plant, console, watcher, proxy]) cleanup.defer(() => one.close());
  const portOf = (url: string | URL) => Number(new URL(url).port);
  Object.assign(ports, {
    'API server': portOf(api.url),
    'Lambda API': portOf(lambda.url),
    queue: portOf(queue.endpoint),
    plant: portOf(plant.url),
    console: portOf(console.url),
    probes: watcher.port,
    'proxy of a cluster': portOf(proxy.url),
  });
  secret = proxy.url.pathname;
});
afterAll(() => cleanup.disposeAsync());

const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
const paths = [
  '/',
  '//',
  '///',
  '/api/v1/pods',
  '/api/v1/namespaces/a/pods/b/exec',
  '/2015-03-31/event-source-mappings',
];
const target = fc.oneof(
  fc.constantFrom(
    ...paths,
    '',
    '*',
    'http://',
    'http://[',
    'https://a:b@c:99999/',
    '/%zz',
    '/\u0000',
    '/[',
    '/?watch=1&watch',
    '/..//',
  ),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.tuple(fc.constantFrom(...paths), fc.string({ unit: 'binary', maxLength: 30 })).map((parts) => parts.join('')),
  fc.string({ maxLength: 30 }),
);
const requestLine = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'CONNECT', 'get'), target),
  },
  { weight: 1, arbitrary: fc.tuple(fc.string({ maxLength: 10 }), fc.string({ unit: 'binary', maxLength: 40 })) },
);
const request: fc.Arbitrary<Request> = fc.record({
  line: requestLine,
  version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''),
  headers: fc.constantFrom(
    '',
    upgrade,
    upgrade,
    'Content-Length: 2\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Expect: 100-continue\r\n',
  ),
});
type Request = { readonly line: readonly [string, string]; readonly version: string; readonly headers: string };

/** Sends a request as raw text, and waits until the server answers or closes. */
function send(name: keyof typeof ports, { line: [method, path], version, headers }: Request): Promise<string> {
  const at = name === 'proxy of a cluster' && path.startsWith('/') ? `${secret}${path}` : path;
  return new Promise((resolve) => {
    const socket = connect(ports[name], '127.0.0.1');
    let head = '';
    const end = () => {
      resolve(head);
      socket.destroy();
    };
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      end();
    });
    socket.on('close', end).on('error', end);
    // Half closed: a server that waits for the rest of a request sees its end.
    socket.end(`${method} ${at} ${version}\r\nHost: 127.0.0.1:${ports[name]}\r\n${headers}\r\n`);
  });
}

it.each(names)(
  // Control T149.
  'H3: no request line ends the %s, and the next request is answered',
  async (name) => {
    const lineOf = (path: string, headers = ''): Request => ({ line: ['GET', path], version: 'HTTP/1.1', headers });
    const known = ['//', '/'].flatMap((path) => [lineOf(path), lineOf(path, upgrade)]);
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: together, maxLength: together }), async (some) => {
        await Promise.all(some.map((one) => send(name, one)));
        // An exception in an event handler fails the run of the test, too.
        const next = await send(name, { line: ['GET', '/'], version: 'HTTP/1.1', headers: '' });
        expect(next === '' && name !== 'proxy of a cluster').toBe(false);
      }),
      { numRuns: Math.ceil(lines / together), examples: [[known]] },
    );
  },
  timeoutMs,
);

it.each(['API server', 'Lambda API', 'plant', 'console'] as const)('H3: the %s answers // with 400', async (name) => {
  for (const headers of ['', upgrade])
    expect(await send(name, { line: ['GET', '//'], version: 'HTTP/1.1', headers })).toMatch(/^HTTP\/1.1 400 /);
});
