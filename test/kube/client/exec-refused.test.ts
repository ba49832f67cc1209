// exec that does not start: the server rejects it, or selects another subprotocol. Excluded: commands that start
// (exec.test.ts), untrusted certificates (client-tls.test.ts).
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { ApiError, ConnectError, ResponseError } from '../../../src/kube/client/errors.ts';
import { exec } from '../../../src/kube/client/exec.ts';
import { errorClassOf } from '../../../src/reconciling/classify-error.ts';
import { aMessage } from '../../sqs/messages.ts';
import { freePort, listenOnLoopback } from '../../support/listen.ts';
import { failure, pem } from '../wire-server.ts';
import { path, refuseWith, run, startExecServer, type UpgradeRequest } from './exec-server.ts';

it.each([
  [400, 'BadRequest', 'error'],
  [403, 'Forbidden', 'error'],
  [404, 'NotFound', 'error'],
  [422, 'Invalid', 'error'],
  [429, 'TooManyRequests', 'unreachable'],
  [500, 'InternalError', 'error'],
  [503, 'ServiceUnavailable', 'error'],
])('exec throws an ApiError with the Status of a %i', async (code, reason, errorClass) => {
  const refuse = refuseWith(code, reason, { 'retry-after': '7' });
  const server = await startExecServer(() => undefined, { refuse });
  const error = await failure(run(server.client()));
  expect(error).toBeInstanceOf(ApiError);
  const body = { message: `${reason} it is` };
  expect(error).toMatchObject({ status: code, reason, body, retryAfterSeconds: 7, request: `GET ${path}` });
  expect(errorClassOf(error, 'later', aMessage())).toBe(errorClass);
});

it('exec retries once with fresh credentials after a 401', async () => {
  let token = 'old';
  const refuse = (socket: Duplex, { headers }: UpgradeRequest) =>
    headers.authorization === 'Bearer new' ? false : refuseWith(401, 'Unauthorized')(socket);
  const server = await startExecServer(({ end }) => end(0), { refuse });
  const refresh = () => {
    token = 'new';
  };
  expect((await run(server.client({}, { token: async () => token, refresh }))).exitCode).toBe(0);
  const error = await failure(run(server.client({}, { token: async () => 'old' })));
  expect(error).toMatchObject({ name: 'ApiError', status: 401 });
  expect(errorClassOf(error, 'later', aMessage())).toBe('error');
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer old',
    'Bearer new',
    'Bearer old',
  ]);
});

it('exec throws an ApiError with the status if the response’s body never ends', async () => {
  const refuse = (socket: Duplex) => socket.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 100\r\n\r\n{');
  const server = await startExecServer(() => undefined, { refuse });
  expect(await failure(run(server.client(), { timeoutSeconds: 0.2 }))).toMatchObject({ status: 403 });
});

it.each([
  ['another subprotocol', 'v5.channel.k8s.io'],
  ['no subprotocol', false],
] as const)('exec throws a ResponseError if the server selects %s', async (_, protocol) => {
  const server = await startExecServer(({ end }) => end(0), { protocol });
  expect(await failure(run(server.client()))).toBeInstanceOf(ResponseError);
});

it('exec throws a ConnectError if the server closes without a response or refuses the connection', async () => {
  const refuse = (socket: Duplex) => socket.destroy().destroyed;
  const server = await startExecServer(() => undefined, { refuse });
  const closed = { server: new URL(`http://127.0.0.1:${await freePort()}`) };
  for (const client of [server.client(), server.client({}, closed)]) {
    const error = await failure(run(client));
    expect(error).toBeInstanceOf(ConnectError);
    expect(errorClassOf(error, 'later', aMessage())).toBe('unreachable');
  }
});

it('exec throws a ConnectError at the connect deadline if the server does not start TLS', async () => {
  const unresponsive = net.createServer(() => undefined);
  const port = await listenOnLoopback(unresponsive);
  onTestFinished(() => void unresponsive.close());
  const server = await startExecServer(() => undefined);
  const client = server.client({ connectSeconds: 0.05 }, { server: new URL(`https://127.0.0.1:${port}`) });
  expect(String(await failure(run(client)))).toMatch(/^ConnectError: .* no connection within 0.05 s/);
});

it('exec throws a TypeError for a pod’s name that is a path, and sends nothing', async () => {
  const server = await startExecServer(({ end }) => end(0));
  for (const name of ['..', 'a/b', 'a%2fb', '']) {
    const call = exec(server.client(), { namespace: 'shop', name }, { container: 'c', command: ['cli'] });
    expect(await failure(call)).toBeInstanceOf(TypeError);
  }
  expect(server.requests).toEqual([]);
});

it('exec accepts a certificate of the connection’s authority, and sends token and path prefix', async () => {
  const server = await startExecServer(({ end }) => end(0), { tls: true });
  const url = new URL('/k8s/clusters/c-1/', server.url);
  const connection = { server: url, ca: pem('server.pem'), token: async () => 'secret' };
  expect((await run(server.client({}, connection))).exitCode).toBe(0);
  expect(server.requests).toMatchObject([
    { path: `/k8s/clusters/c-1${path}`, headers: { authorization: 'Bearer secret' } },
  ]);
});

it('exec sends the client certificate', async () => {
  let received: string | undefined;
  const server = await startExecServer(({ end }) => end(0), {
    tls: true,
    requestCert: true,
    refuse: (socket) => {
      received = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.toString() : undefined;
      return false;
    },
  });
  const clientCertificate = { cert: pem('other.pem'), key: pem('other.key') };
  await run(server.client({}, { ca: pem('server.pem'), clientCertificate }));
  expect(received).toBe(pem('other.pem'));
});
