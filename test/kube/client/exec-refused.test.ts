// Ways into a container that stay shut: servers that refuse, speak something else or are not who they should be. Commands that do
// begin are exec.test.ts.
import net from 'node:net';
import { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { AnswerError, ApiError, ConnectError } from '../../../src/kube/client/errors.ts';
import { exec } from '../../../src/kube/exec.ts';
import { failureOf } from '../../../src/runtime/failure.ts';
import { listenHere } from '../../support/listen.ts';
import { type Asked, answer, startExecServer } from './exec-server.ts';
import { turnVerificationOff } from '../verification-off.ts';
import { failure, pem, statusOf } from '../wire-server.ts';

const pod = { namespace: 'shop', name: 'node-0' };
const path = '/api/v1/namespaces/shop/pods/node-0/exec';
const run = (client: KubeClient, { timeoutSeconds }: { readonly timeoutSeconds?: number } = {}) =>
  exec(
    client,
    pod,
    { container: 'node-ctr', command: ['cli', 'list'] },
    timeoutSeconds === undefined ? {} : { timeoutSeconds },
  );

describe('a server that does not open', () => {
  it.each([
    [400, 'BadRequest', 'error'],
    [403, 'Forbidden', 'error'],
    [404, 'NotFound', 'error'],
    [422, 'Invalid', 'error'],
    [429, 'TooManyRequests', 'unreachable'],
    [500, 'InternalError', 'error'],
    [503, 'ServiceUnavailable', 'error'],
  ])('with %i is an ApiError with its Status', async (code, reason, meaning) => {
    const refuse = (socket: Parameters<typeof answer>[0]) =>
      answer(socket, code, statusOf(code, reason), { 'retry-after': '7' });
    const server = await startExecServer(() => undefined, { refuse });
    const error = await failure(run(server.client()));
    expect(error).toBeInstanceOf(ApiError);
    const body = { message: `${reason} it is` };
    expect(error).toMatchObject({ status: code, reason, body, retryAfterSeconds: 7, request: `GET ${path}` });
    expect(failureOf(error, 'later')).toBe(meaning);
  });

  it('with 401 is asked once more with fresh credentials', async () => {
    let token = 'old';
    const refuse = (socket: Parameters<typeof answer>[0], { headers }: Asked) =>
      headers.authorization === 'Bearer new' ? false : answer(socket, 401, statusOf(401, 'Unauthorized'));
    const server = await startExecServer(({ end }) => end(0), { refuse });
    const refresh = () => {
      token = 'new';
    };
    expect((await run(server.client({}, { token: async () => token, refresh }))).exitCode).toBe(0);
    const error = await failure(run(server.client({}, { token: async () => 'old' })));
    expect(error).toMatchObject({ name: 'ApiError', status: 401 });
    expect(failureOf(error, 'later')).toBe('unreachable');
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer old',
      'Bearer new',
      'Bearer old',
    ]);
  });

  it('and whose refusal never ends meets the deadline with the status that it gave', async () => {
    const refuse = (socket: Parameters<typeof answer>[0]) =>
      socket.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 100\r\n\r\n{');
    const server = await startExecServer(() => undefined, { refuse });
    expect(await failure(run(server.client(), { timeoutSeconds: 0.2 }))).toMatchObject({ status: 403 });
  });

  it.each([
    ['another sub-protocol', 'v5.channel.k8s.io'],
    ['none', false],
  ] as const)('but speaks %s is an AnswerError', async (_, protocol) => {
    const server = await startExecServer(({ end }) => end(0), { protocol });
    expect(await failure(run(server.client()))).toBeInstanceOf(AnswerError);
  });

  it('or breaks off without an answer, or refuses the connection, cannot be reached', async () => {
    const refuse = (socket: Parameters<typeof answer>[0]) => socket.destroy().destroyed;
    const server = await startExecServer(() => undefined, { refuse });
    const closed = net.createServer();
    const port = await listenHere(closed);
    await new Promise((resolve) => closed.close(resolve));
    const nobody = { server: new URL(`http://127.0.0.1:${port}`) };
    for (const client of [server.client(), server.client({}, nobody)]) {
      const error = await failure(run(client));
      expect(error).toBeInstanceOf(ConnectError);
      expect(failureOf(error, 'later')).toBe('unreachable');
    }
  });

  it('nor speaks TLS meets the connection’s own deadline', async () => {
    const mute = net.createServer(() => undefined);
    const port = await listenHere(mute);
    onTestFinished(() => void mute.close());
    const server = await startExecServer(() => undefined);
    const client = server.client({ connectSeconds: 0.05 }, { server: new URL(`https://127.0.0.1:${port}`) });
    expect(String(await failure(run(client)))).toMatch(/^ConnectError: .* no connection within 0.05 s/);
  });

  it('is never asked for a pod whose name is a path', async () => {
    const server = await startExecServer(({ end }) => end(0));
    for (const name of ['..', 'a/b', 'a%2fb', '']) {
      const call = exec(server.client(), { namespace: 'shop', name }, { container: 'c', command: ['cli'] });
      expect(await failure(call)).toBeInstanceOf(TypeError);
    }
    expect(server.asked).toEqual([]);
  });
});

describe('over TLS', () => {
  it('a server signed by the connection’s authority is talked to, with token and path prefix', async () => {
    const server = await startExecServer(({ end }) => end(0), { tls: true });
    const url = new URL('/k8s/clusters/c-1/', server.url);
    const connection = { server: url, ca: pem('server.pem'), token: async () => 'secret' };
    expect((await run(server.client({}, connection))).exitCode).toBe(0);
    expect(server.asked).toMatchObject([
      { path: `/k8s/clusters/c-1${path}`, headers: { authorization: 'Bearer secret' } },
    ]);
  });

  it.each([
    ['no authority of its own', {}],
    ['another authority', { ca: pem('other.pem') }],
    ['another name', { ca: pem('server.pem'), serverName: 'other.example.com' }],
  ])('with %s the server is refused, and no token is sent', async (_, connection) => {
    const server = await startExecServer(({ end }) => end(0), { tls: true });
    const call = run(server.client({}, { ...connection, token: async () => 'secret' }));
    expect(await failure(call)).toBeInstanceOf(ConnectError);
    expect(server.asked).toEqual([]);
  });

  it('the environment cannot turn verification off', async () => {
    turnVerificationOff();
    const server = await startExecServer(({ end }) => end(0), { tls: true });
    expect(await failure(run(server.client()))).toBeInstanceOf(ConnectError);
  });

  it('a client certificate is shown', async () => {
    let shown: string | undefined;
    const server = await startExecServer(({ end }) => end(0), {
      tls: true,
      requestCert: true,
      refuse: (socket) => {
        shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.toString() : undefined;
        return false;
      },
    });
    const clientCertificate = { cert: pem('other.pem'), key: pem('other.key') };
    await run(server.client({}, { ca: pem('server.pem'), clientCertificate }));
    expect(shown).toBe(pem('other.pem'));
  });
});
