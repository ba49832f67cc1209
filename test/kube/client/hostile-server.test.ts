// Defense against a malicious API server: the client does not send the token to another host, reads no response that
// costs too much, and leaves none open. Excluded: certificates (client-tls.test.ts), malicious names (path.test.ts) and messages
// (test/reconciling/any-message.test.ts).
import type http from 'node:http';
import { expect, it } from 'vitest';
import { redact } from '../../../src/core/redact.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { discoverKinds } from '../../../src/kube/client/discovery.ts';
import { TooLargeError } from '../../../src/kube/client/errors.ts';
import { getObject, listPages } from '../../../src/kube/client/read.ts';
import { readWatchLines } from '../../../src/kube/watch/ndjson.ts';
import { errorClassOf } from '../../../src/reconciling/classify-error.ts';
import { aMessage } from '../../sqs/messages.ts';
import { failure, type Responder, sendJson, startWireServer } from '../wire-server.ts';
import { run, startExecServer } from './exec-server.ts';

const get = { method: 'GET', path: '/api/v1/pods' } as const;
const credentials = { token: async () => 'secret' };

it.each([
  301, 302, 303, 307,
  308,
  // Control T97.
])('a client that is redirected with %i sends no request to the other server', async (status) => {
  const other = await startWireServer((_, response) => sendJson(response, 200, {}));
  const location = new URL('/api/v1/pods', other.url).href;
  const server = await startWireServer((_, response) => response.writeHead(status, { location }).end());
  const client = server.client({}, credentials);
  const socket = { path: '/exec', protocol: 'v4.channel.k8s.io', maxMessageBytes: 100, receive: () => true };
  for (const call of [
    client.request(get),
    client.request({ method: 'PATCH', path: '/api/v1/pods/a', body: { a: 1 } }),
    client.stream(get),
    client.webSocket(socket),
  ]) {
    expect(await failure(call)).toMatchObject({ name: 'ApiError', status });
  }
  expect(server.arrived.length).toBeGreaterThan(0);
  expect(other.arrived).toEqual([]);
});

// Control T109.
it('a server that echoes the token of the request, in any form, does not get it into an error text', async () => {
  const token = 'opaque/9f86d081884c7d65+9a2feaa0c55ad015';
  const forms = [token, encodeURIComponent(token), Buffer.from(`system:${token}`).toString('base64')];
  const message = `no such user: ${forms.join(' ')}, uid 0b1f6e5c-6c0e-4d54-9a0a-0f6f1d6d4a11`;
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', message, code: 403 };
  const server = await startWireServer((_, response) => sendJson(response, 403, status));
  const error = await failure(server.client({}, { token: async () => token }).request(get));
  expect(redact(String(error))).toMatch(/no such user: \[redacted\] \[redacted\] \S*\[redacted\]\S*, uid 0b1f6e5c/);
  expect(redact(String(error))).not.toContain('9f86d081884c7d65');
});

/** Responds without end. `closed` resolves when as many connections are closed. */
async function endless(status: number, piece: string) {
  const closed = Promise.withResolvers<void>();
  const server = await startWireServer((_, response) => {
    response.on('close', () => closed.resolve());
    response.writeHead(status, { 'content-type': 'application/json' });
    writeForever(response, piece);
  });
  return { client: server.client({ timeoutSeconds: 50 }), closed: closed.promise };
}

it.each([
  ['a read', async (client: KubeClient) => await client.request(get)],
  ['a page', async (client: KubeClient) => await client.request({ ...get, query: { limit: 500 } })],
  ['a watch', async (client: KubeClient) => await readWatchLines(await client.stream(get)).next()],
  // Control T99.
])('H1: %s whose response is endless throws a TooLargeError and closes the connection', async (_, call) => {
  const { client, closed } = await endless(200, 'x'.repeat(65_536));
  expect(await failure(call(client))).toBeInstanceOf(TooLargeError);
  await closed;
});

it('H1: an endless error response throws a TooLargeError and closes the connection', async () => {
  const { client, closed } = await endless(503, 'x'.repeat(65_536));
  expect(await failure(client.request(get))).toBeInstanceOf(TooLargeError);
  await closed;
});

// Control T100.
it('H1: each way of reading an API server refuses what would cost too much memory, and says so in the same way', async () => {
  const brackets = Buffer.alloc(900_000, '[');
  const server = await startExecServer(({ send }) => send(3, brackets));
  const wire = await startWireServer(({ path, headers }, response) => {
    response.writeHead(path === '/error' ? 500 : 200, { 'content-type': 'application/json' });
    response.end(headers['accept-encoding'] === 'gzip' ? brackets : `{"object":${brackets}\n`);
  });
  const client = wire.client();
  const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true };
  for (const call of [
    () => client.request(get),
    () => client.request({ method: 'PATCH', path: '/api/v1/pods/a', body: {} }),
    () => client.request({ method: 'GET', path: '/error' }),
    () => getObject(client, pods, { name: 'a', namespace: 'b' }),
    () => listPages(client, pods).next(),
    async () => await readWatchLines(await client.stream(get)).next(),
    () => discoverKinds(client, { signal: new AbortController().signal }),
    () => run(server.client()),
  ]) {
    const error = await failure(call());
    expect(String(error)).toMatch(/the response is larger than (?:\d+ values and keys|65536 bytes)$/);
    expect(error).toBeInstanceOf(TooLargeError);
    for (const stage of ['first-read', 'later'] as const)
      expect(errorClassOf(error, stage, aMessage())).toBe('unreachable');
  }
});

/** A server that answers the first request of each path with 401 and an endless body, and then as it is told. */
async function refusing(respond: Responder, status = 401) {
  const first = new Set<string>();
  const closed: Promise<void>[] = [];
  const server = await startWireServer((request, response) => {
    if (first.has(request.path)) return respond(request, response);
    first.add(request.path);
    closed.push(new Promise((resolve) => response.on('close', resolve)));
    response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
    writeForever(response, 'x'.repeat(65_536));
  });
  return { server, closed: async () => await Promise.all(closed) };
}

// Control T148.
it('H2: a refusal without an end is closed before the retry, for a request, a stream and an upgrade', async () => {
  const { server, closed } = await refusing((_, response) => sendJson(response, 200, { metadata: {} }));
  const client = server.client({}, { ...credentials, refresh: async () => undefined });
  expect((await client.request({ method: 'GET', path: '/request' })).status).toBe(200);
  (await client.stream({ method: 'GET', path: '/stream' })).close();
  const socket = { protocol: 'v4.channel.k8s.io', maxMessageBytes: 100, receive: () => true };
  // The retry is answered, and not upgraded.
  expect(await failure(client.webSocket({ path: '/upgrade', ...socket }))).toMatchObject({ status: 200 });
  await closed();
  expect(server.arrived.map(({ path }) => path)).toEqual(
    ['/request', '/stream', '/upgrade'].flatMap((path) => [path, path]),
  );
});

it.each([
  401, 403, 302, 500,
])('H2: a %i without an end that is not retried is closed, for a request, a stream and an upgrade', async (status) => {
  const { server, closed } = await refusing((_, response) => response.end(), status);
  const client = server.client();
  const socket = { protocol: 'v4.channel.k8s.io', maxMessageBytes: 100, receive: () => true };
  for (const call of [
    () => client.request({ method: 'GET', path: '/request' }),
    () => client.stream({ method: 'GET', path: '/stream' }),
    () => client.webSocket({ path: '/upgrade', ...socket }),
  ])
    expect(await failure(call())).toBeInstanceOf(TooLargeError);
  await closed();
  expect(server.arrived).toHaveLength(3);
});

it('H2: the body of a refusal that stalls is given up at the deadline of the call', async () => {
  const server = await startWireServer((_, response) => {
    response.writeHead(403, { 'content-type': 'application/json' });
    response.write('{"kind":');
  });
  const client = server.client({ timeoutSeconds: 0.2 });
  const socket = { path: '/exec', protocol: 'v4.channel.k8s.io', maxMessageBytes: 100, receive: () => true };
  for (const call of [() => client.request(get), () => client.stream(get), () => client.webSocket(socket)])
    expect(await failure(call())).toMatchObject({ status: 403 });
});

function writeForever(response: http.ServerResponse, piece: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', write);
  write();
}
