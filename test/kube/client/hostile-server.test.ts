// Defense against a malicious API server: the client does not send the token to another host, and limits endless
// responses. Excluded: certificates (client-tls.test.ts), malicious names (path.test.ts) and messages
// (test/reconciling/any-message.test.ts).
import type http from 'node:http';
import { expect, it } from 'vitest';
import { redact } from '../../../src/core/redact.ts';
import { ApiError, ResponseError } from '../../../src/kube/client/errors.ts';
import { readWatchLines } from '../../../src/kube/watch/ndjson.ts';
import { failure, sendJson, startWireServer } from '../wire-server.ts';

const get = { method: 'GET', path: '/api/v1/pods' } as const;
const credentials = { token: async () => 'secret' };

it.each([
  301, 302, 303, 307, 308,
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

/** Responds without end. `closed` resolves when the connection is closed. */
async function endless(status: number, piece: string) {
  const closed = Promise.withResolvers<void>();
  const server = await startWireServer((_, response) => {
    response.on('close', () => closed.resolve());
    response.writeHead(status, { 'content-type': 'application/json' });
    writeForever(response, piece);
  });
  return { client: server.client({ maxResponseBytes: 1_000_000, timeoutSeconds: 50 }), closed: closed.promise };
}

it('an endless response to a read throws a ResponseError and closes the connection', async () => {
  const { client, closed } = await endless(200, 'x'.repeat(65_536));
  expect(await failure(client.request(get))).toBeInstanceOf(ResponseError);
  await closed;
});

it('an endless error response throws an ApiError with its status and closes the connection', async () => {
  const { client, closed } = await endless(503, 'x'.repeat(65_536));
  const error = await failure(client.request(get));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 503 });
  await closed;
});

it('an endless watch event throws a ResponseError and closes the connection', async () => {
  const { client, closed } = await endless(200, 'x'.repeat(65_536));
  const events = readWatchLines(await client.stream(get));
  expect(await failure(events.next())).toBeInstanceOf(ResponseError);
  await closed;
});

function writeForever(response: http.ServerResponse, piece: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', write);
  write();
}
