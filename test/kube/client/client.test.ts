// Requests to an API server over a real socket: the request, the response and error responses. Excluded: missing
// responses (client-failures.test.ts), TLS (client-tls.test.ts), watches (watch.test.ts).
import { expect, it } from 'vitest';
import { createClient } from '../../../src/kube/client/client.ts';
import { ApiError, ConnectError } from '../../../src/kube/client/errors.ts';
import { failure, pem, sendJson, startTokenServer, startWireServer, statusOf } from '../wire-server.ts';

const get = { method: 'GET', path: '/api/v1/pods' } as const;

it('a request sends path, query, body and token, and returns the JSON', async () => {
  const server = await startWireServer((_, response) => sendJson(response, 201, { made: true }));
  const client = server.client({ userAgent: 'test' }, { token: async () => 'secret' });
  const response = await client.request({
    method: 'POST',
    path: '/api/v1/a%3Ab',
    query: { limit: 5, force: true, none: undefined, q: 'a&b=c d' },
    body: { ü: 1 },
  });
  expect(response).toMatchObject({ status: 201, body: { made: true } });
  expect(server.arrived[0]).toMatchObject({
    method: 'POST',
    path: '/api/v1/a%3Ab',
    query: { limit: '5', force: 'true', q: 'a&b=c d' },
    body: { ü: 1 },
    headers: { authorization: 'Bearer secret', 'user-agent': 'test', 'content-type': 'application/json' },
  });
});

it('a request keeps the path of the server’s URL, as behind a proxy, and returns a body that is not JSON as text', async () => {
  const server = await startWireServer((_, response) => response.end('ok'));
  const proxied = server.client({}, { server: new URL('/k8s/clusters/a/', server.url) });
  expect((await proxied.request(get)).body).toBe('ok');
  expect(server.arrived[0]?.path).toBe('/k8s/clusters/a/api/v1/pods');
});

it('a request calls onRequest with its status and no query, and onWarning with the server’s warnings', async () => {
  const server = await startWireServer((_, response) =>
    sendJson(response, 404, statusOf(404, 'NotFound'), { warning: '299 - "a \\"b\\" is old", 299 - "c"' }),
  );
  const calls: unknown[] = [];
  const warnings: string[] = [];
  const client = server.client({
    onRequest: (method, path, status) => calls.push([method, path, status]),
    onWarning: (text) => warnings.push(text),
  });
  await failure(client.request({ ...get, query: { limit: 1 } }));
  expect(calls).toEqual([['GET', '/api/v1/pods', 404]]);
  expect(warnings).toEqual(['a "b" is old', 'c']);
});

it('an error response is an ApiError with status, reason and Retry-After, and without credentials', async () => {
  const server = await startWireServer((_, response) =>
    sendJson(response, 429, statusOf(429, 'TooManyRequests'), { 'retry-after': '7' }),
  );
  const client = server.client({}, { token: async () => 'secret' });
  const error = await failure(
    client.request({ ...get, query: { labelSelector: 'hidden' }, body: { password: 'hidden' } }),
  );
  expect(error).toBeInstanceOf(ApiError);
  const request = 'GET /api/v1/pods';
  expect(error).toMatchObject({ status: 429, reason: 'TooManyRequests', retryAfterSeconds: 7, request });
  expect(String(error)).toBe('ApiError: GET /api/v1/pods returned 429: TooManyRequests: TooManyRequests it is');
});

it('an error response is an ApiError if its body is a page, truncated, or invalid JSON', async () => {
  const server = await startWireServer(({ path }, response) => {
    if (path === '/page') response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>no</h1>');
    if (path === '/json') response.writeHead(503, { 'content-type': 'application/json' }).end('{"kind":');
    if (path === '/cut') response.writeHead(503, { 'content-length': 100 }).write('{', () => response.destroy());
  });
  const client = server.client();
  const expected = { name: 'ApiError', status: 503, reason: '', body: undefined };
  for (const path of ['/page', '/json', '/cut'])
    expect(await failure(client.request({ method: 'GET', path }))).toMatchObject(expected);
});

it('the credentials of a client are read again once after a 401, so a rotated token is used at once', async () => {
  const server = await startTokenServer('fresh');
  let token = 'stale';
  const refresh = () => {
    token = 'fresh';
  };
  const connection = { ca: pem('server.pem'), token: async () => token, refresh };
  expect((await server.client({}, connection).request(get)).status).toBe(200);
  expect(server.arrived).toHaveLength(2);
});

it('the credentials of a client that cannot be read throw a ConnectError, and nothing is sent', async () => {
  const server = await startTokenServer('fresh');
  const cause = new Error('no token file');
  const error = await failure(server.client({}, { token: () => Promise.reject(cause) }).request(get));
  expect(error).toBeInstanceOf(ConnectError);
  expect(error).toMatchObject({ cause });
  expect(server.arrived).toEqual([]);
});

it('a stream yields chunks as they arrive, ends when closed, and throws a ConnectError when lost', async () => {
  const server = await startWireServer(({ path }, response) => {
    response.writeHead(200).write('one');
    if (path === '/lost') response.socket?.end();
  });
  const client = server.client();
  const open = await client.stream({ method: 'GET', path: '/open' });
  const chunks: string[] = [];
  for await (const chunk of open) {
    chunks.push(chunk.toString());
    open.close();
  }
  expect(chunks).toEqual(['one']);
  const lost = await client.stream({ method: 'GET', path: '/lost' });
  expect(await failure(drain(lost))).toBeInstanceOf(ConnectError);
});

it('a stream outlives the deadline of its request, but not the signal', async () => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const server = await startWireServer((_, response) => void response.writeHead(200).write('x'));
  const stream = await server.client({ timeoutSeconds: 0.5 }).stream({ ...get, signal: controller.signal });
  const chunks = stream[Symbol.asyncIterator]();
  await chunks.next();
  const next = chunks.next();
  // A later request with the same deadline has ended, so the stream has outlived its own deadline.
  await failure(server.client({ timeoutSeconds: 0.5 }).request(get));
  controller.abort(reason);
  expect(await failure(next)).toBe(reason);
});

it.each([
  'http://10.0.0.1',
  'http://example.com:8080',
  'ftp://127.0.0.1',
])('createClient rejects the server %s', (server) => {
  expect(() => createClient({ server: new URL(server) })).toThrow('https');
});

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
