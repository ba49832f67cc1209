// Only who may call the local servers: programs on this machine, but no web page. Requests are sent as raw text, because
// fetch does not allow these headers.
import { connect } from 'node:net';
import { startApiServer } from '@outrigger/apiserver';
import { startLambdaApi } from '@outrigger/cli/dev/lambda/lambda-api';
import { startSqs } from '@outrigger/cli/dev/sqs-server';
import { startUnverifiedProxy } from '@outrigger/cli/dev/unverified-proxy';
import { startPantry } from '@outrigger/cli/simulators/pantry';
import { startPlant } from '@outrigger/cli/simulators/plant';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWire } from '../conformance/wire.ts';

type Headers = Readonly<Record<string, string>>;

const container = 'host.docker.internal';
const allowedHosts = [container];
const secrets = '/api/v1/namespaces/default/secrets';
const exec = '/api/v1/namespaces/default/pods/a/exec?command=ls&stdout=1';
const upgrade = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Protocol': 'v5.channel.k8s.io',
};

/** Each local server, with a GET and a POST that it carries out for a program: their paths and statuses. */
const servers = {
  'API server': { url: '', get: [secrets, 200], post: ['/api/v1/namespaces', 201] },
  queue: { url: '', get: ['/_fauxqs/queues', 200], post: ['/', 400] },
  'Lambda API': { url: '', get: ['/2015-03-31/event-source-mappings', 200], post: ['/nothing', 404] },
  plant: { url: '', get: ['/nothing', 404], post: ['/nothing', 404] },
  pantry: { url: '', get: ['/nothing', 404], post: ['/nothing', 404] },
} satisfies Record<string, { url: string; get: [string, number]; post: [string, number] }>;
const names = ['API server', 'queue', 'Lambda API', 'plant', 'pantry'] as const;

const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  const [api, plant, pantry] = await Promise.all([
    startApiServer({ allowedHosts }),
    startPlant({ allowedHosts }),
    startPantry({ allowedHosts }),
  ]);
  const queue = await startSqs({ allowedHosts });
  const lambda = await startLambdaApi({ mappings: [] }, { allowedHosts });
  for (const server of [api, plant, pantry, queue, lambda]) cleanup.defer(() => server.close());
  // A pod in which a command can run.
  const wire = createWire(api);
  const pods = '/api/v1/namespaces/default/pods';
  await wire.post(pods, { metadata: { name: 'a' }, spec: { containers: [{ name: 'main', image: 'main:1' }] } });
  await wire.mergePatch(`${pods}/a/status`, { status: { phase: 'Running', podIP: '127.1.0.1' } });
  servers['API server'].url = api.url;
  servers.queue.url = queue.endpoint;
  servers['Lambda API'].url = lambda.url;
  servers.plant.url = plant.url;
  servers.pantry.url = pantry.url;
});
afterAll(() => cleanup.disposeAsync());

/** Sends a request with these headers, and resolves with the status of the response. */
function statusOf(url: string, line: string, headers: Headers, body = ''): Promise<number> {
  const { hostname, port } = new URL(url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`),
    );
    socket.setTimeout(5_000, () => socket.destroy(new Error('no response')));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1]));
    });
    socket.once('error', reject);
  });
}

const ofThisMachine: readonly Headers[] = [
  { Host: '127.0.0.1:1' },
  { Host: 'localhost' },
  { Host: 'LOCALHOST.:8080' },
  { Host: '[::1]:8080' },
  { Host: 'localhost:1', Origin: 'http://localhost:1', 'Sec-Fetch-Site': 'same-origin' },
  { Host: 'localhost:1', 'Sec-Fetch-Site': 'none' },
  { Host: `${container}:8080` },
  { Host: 'Host.Docker.Internal' },
];
const ofPages: readonly Headers[] = [
  { Host: 'evil.example' },
  { Host: '127.0.0.1.evil.example' },
  { Host: 'localhost@evil.example' },
  { Host: `${container}.evil.example` },
  { Host: `evil.${container}` },
  { Host: '' },
  { Host: '127.0.0.1:1', Origin: 'http://evil.example' },
  { Host: '127.0.0.1:1', Origin: 'http://127.0.0.1:2' },
  { Host: '127.0.0.1:1', Origin: 'null' },
  { Host: `${container}:1`, Origin: 'http://evil.example' },
  { Host: '127.0.0.1:1', 'Sec-Fetch-Site': 'cross-site' },
  { Host: '127.0.0.1:1', 'Sec-Fetch-Site': 'same-site' },
];

describe.each(names)('the %s', (name) => {
  // Control T95.
  it('responds to a program of this machine and to an allowed host', async () => {
    const { url, get } = servers[name];
    for (const headers of ofThisMachine) {
      // The queue takes a host name with a dot for a bucket of S3, and finds none.
      const expected = name === 'queue' && /[a-z]\./i.test(headers.Host ?? '') ? 404 : get[1];
      expect(await statusOf(url, `GET ${get[0]}`, headers), JSON.stringify(headers)).toBe(expected);
    }
  });

  // Control T92.
  it('refuses another host, another origin and another site, with every method', async () => {
    const { url, get, post } = servers[name];
    for (const headers of ofPages) {
      expect(await statusOf(url, `GET ${get[0]}`, headers), JSON.stringify(headers)).toBe(403);
      const simple = { ...headers, 'Content-Type': 'text/plain', 'Content-Length': '2' };
      expect(await statusOf(url, `POST ${post[0]}`, simple, '{}'), JSON.stringify(headers)).toBe(403);
      expect(await statusOf(url, `OPTIONS ${get[0]}`, headers), JSON.stringify(headers)).toBe(403);
    }
  });

  // Control T93.
  it('refuses the WebSocket of a web page, and opens that of a program if it has one', async () => {
    const { url, get } = servers[name];
    const path = name === 'API server' ? exec : get[0];
    for (const headers of ofPages) {
      expect(await statusOf(url, `GET ${path}`, { ...headers, ...upgrade }), JSON.stringify(headers)).toBe(403);
    }
    const ofProgram = { Host: 'localhost', ...upgrade };
    if (name === 'API server') expect(await statusOf(url, `GET ${path}`, ofProgram)).toBe(101);
  });

  // Control T94.
  it('refuses a body without a content type, and accepts the same body with one', async () => {
    const { url, post } = servers[name];
    const page = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/60.0' };
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'a-' } });
    const sized = { ...page, Host: 'localhost', 'Content-Length': String(body.length) };
    const chunked = { ...page, Host: 'localhost', 'Transfer-Encoding': 'chunked' };
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    expect(await statusOf(url, `POST ${post[0]}`, sized, body)).toBe(415);
    expect(await statusOf(url, `POST ${post[0]}`, chunked, chunks)).toBe(415);
    expect(await statusOf(url, `POST ${post[0]}`, { ...sized, 'Content-Type': 'application/json' }, body)).toBe(
      post[1],
    );
    const { 'User-Agent': _, ...ofProgram } = sized;
    // As kube-apiserver, which takes it as JSON. SQS and the simulators have no such client.
    expect(await statusOf(url, `POST ${post[0]}`, ofProgram, body)).toBe(name === 'API server' ? post[1] : 415);
    for (const header of [
      { Origin: 'http://localhost' },
      { Referer: 'http://localhost/' },
      { 'Sec-Fetch-Site': 'none' },
    ])
      expect(await statusOf(url, `POST ${post[0]}`, { ...ofProgram, ...header }, body)).toBe(415);
    // Commands in pods are a POST without a body.
    const empty = { Host: 'localhost', 'Content-Length': '0' };
    expect(await statusOf(url, `POST ${get404(name)}`, empty)).not.toBe(415);
  });
});

/** A path that exists on no server. */
function get404(name: (typeof names)[number]): string {
  return name === 'API server' ? '/apis/none/v1/things' : '/nothing';
}

it('the proxy for an unverified cluster refuses a web page that knows the secret path', async () => {
  await using stack = new AsyncDisposableStack();
  const proxy = await startUnverifiedProxy({ server: new URL('https://127.0.0.1:9') });
  stack.defer(() => proxy.close());
  for (const headers of ofPages) {
    expect(await statusOf(proxy.url.href, `GET ${proxy.url.pathname}/api`, headers)).toBe(404);
    expect(await statusOf(proxy.url.href, `GET ${proxy.url.pathname}/api`, { ...headers, ...upgrade })).toBe(404);
  }
});
