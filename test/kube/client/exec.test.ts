// Commands in containers, against a scripted server. Excluded: a real kube-apiserver (test/cluster), untrusted certificates
// (client-tls.test.ts), the commands that a controller declares (test/api/exec.test.ts).

import net from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ApiError, ConnectError, DeadlineError, ResponseError } from '../../../src/kube/client/errors.ts';
import { exec } from '../../../src/kube/client/exec.ts';
import { errorClassOf } from '../../../src/reconciling/classify-error.ts';
import { aMessage } from '../../sqs/messages.ts';
import { freePort, listenOnLoopback } from '../../support/listen.ts';
import { failure, pem } from '../wire-server.ts';
import { endOf, path, pod, refuseWith, run, startExecServer, type UpgradeRequest } from './exec-server.ts';

it.each([0, 23])('exec returns the exit code %i as a value, and the output by channel', async (exitCode) => {
  const server = await startExecServer(({ send, end }) => {
    send(1, 'one ');
    send(2, 'hm');
    send(1, 'two');
    end(exitCode);
  });
  expect(await run(server.client())).toEqual({ exitCode, stdout: 'one two', stderr: 'hm' });
});

it('exec requests the command argument by argument, without stdin and terminal, with token and path prefix', async () => {
  const server = await startExecServer(({ end }) => end(0));
  const command = ['cli', '', 'a b&c=d', '$(reboot)', 'ü\u{1f600}', '../..', '%2e'];
  const connection = { server: new URL('/k8s/clusters/c-1/', server.url), token: async () => 'secret' };
  await exec(server.client({ userAgent: 'me' }, connection), pod, { container: 'c&stdin=true', command });
  expect(server.requests).toMatchObject([
    {
      path: `/k8s/clusters/c-1${path}`,
      query: [
        ['container', 'c&stdin=true'],
        ...command.map((word) => ['command', word]),
        ['stdout', 'true'],
        ['stderr', 'true'],
      ],
      headers: { authorization: 'Bearer secret', 'sec-websocket-protocol': 'v4.channel.k8s.io', 'user-agent': 'me' },
    },
  ]);
});

it('exec decodes a character and a Status that are split across two messages', async () => {
  const server = await startExecServer(({ send }) => {
    const bytes = Buffer.from('ü');
    send(1, bytes.subarray(0, 1));
    send(1, bytes.subarray(1));
    const status = JSON.stringify(endOf(7));
    send(3, status.slice(0, 20));
    send(3, status.slice(20));
  });
  expect(await run(server.client())).toEqual({ exitCode: 7, stdout: 'ü', stderr: '' });
});

// Control T151.
it('H4: exec parses a Status once, in how many messages it may come', async () => {
  const status = Buffer.from(JSON.stringify({ ...endOf(7), message: 'x}'.repeat(30_000) }));
  const server = await startExecServer(({ send }) => {
    for (let at = 0; at < status.length; at += 1) send(3, status.subarray(at, at + 1));
  });
  const parse = vi.spyOn(JSON, 'parse');
  const calls = () => parse.mock.calls.filter(([text]) => text.startsWith('{')).length;
  onTestFinished(() => parse.mockRestore());
  expect(await run(server.client(), { timeoutSeconds: 50 })).toMatchObject({ exitCode: 7 });
  expect(calls()).toBe(1);
});

it('exec resolves without a close from the server, and leaves no connection open', async () => {
  const closed = Promise.withResolvers<void>();
  const server = await startExecServer(({ send, socket }) => {
    socket.on('close', () => closed.resolve());
    send(3, JSON.stringify(endOf(0)));
  });
  expect((await run(server.client())).exitCode).toBe(0);
  await closed.promise;
});

it('exec returns large output up to the limit, and throws a ResponseError above it', async () => {
  const server = await startExecServer(({ send, end }) => {
    for (let part = 0; part < 4; part += 1) send(part % 2 === 0 ? 1 : 2, 'x'.repeat(256 * 1024));
    end(0);
  });
  expect(await run(server.client())).toMatchObject({ stdout: 'x'.repeat(512 * 1024) });
  expect(await failure(run(server.client(), { maxOutputBytes: 1024 * 1024 - 1 }))).toBeInstanceOf(ResponseError);
});

it('exec throws a ResponseError for one message over the limit', async () => {
  const server = await startExecServer(({ send }) => send(1, Buffer.alloc(1024 * 1024)));
  expect(await failure(run(server.client(), { maxOutputBytes: 100_000 }))).toBeInstanceOf(ResponseError);
});

it('exec throws a DeadlineError if the server is unresponsive before or after the upgrade', async () => {
  const unresponsive = await startExecServer(() => undefined, { refuse: () => true });
  const hanging = await startExecServer(({ send }) => send(1, 'half'));
  for (const server of [unresponsive, hanging]) {
    const error = await failure(run(server.client(), { timeoutSeconds: 0.1 }));
    expect(error).toBeInstanceOf(DeadlineError);
    expect(errorClassOf(error, 'later', aMessage())).toBe('error');
  }
});

it('exec rejects with the signal’s reason before, while and after connecting', async () => {
  const reason = new Error('enough');
  const over = new AbortController();
  const unresponsive = await startExecServer(() => undefined, {
    refuse: () => {
      over.abort(reason);
      return true;
    },
  });
  expect(await failure(run(unresponsive.client(), { signal: over.signal }))).toBe(reason);
  expect(await failure(run(unresponsive.client(), { signal: over.signal }))).toBe(reason);
  expect(unresponsive.requests).toHaveLength(1);
  const later = new AbortController();
  const hanging = await startExecServer(() => later.abort(reason));
  expect(await failure(run(hanging.client(), { signal: later.signal }))).toBe(reason);
});

it('exec throws a ResponseError, and no ConnectError, if the connection ends early', async () => {
  const half = JSON.stringify(endOf(0)).slice(0, 9);
  const scripts: Parameters<typeof startExecServer>[0][] = [
    ({ drop }) => drop(),
    ({ send, socket }) => {
      send(1, 'half');
      socket.close(1000);
    },
    ({ send, socket }) => {
      send(3, half);
      socket.close(1011);
    },
  ];
  for (const script of scripts) {
    const server = await startExecServer(script);
    const error = await failure(run(server.client()));
    expect(error).toBeInstanceOf(ResponseError);
    expect(errorClassOf(error, 'later', aMessage())).toBe('error');
  }
});

it('exec throws an ApiError with the Status of a container runtime error', async () => {
  const status = { metadata: {}, status: 'Failure', message: 'no such file', reason: 'InternalError', code: 500 };
  const server = await startExecServer(({ send }) => send(3, JSON.stringify(status)));
  const error = await failure(run(server.client()));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 500, reason: 'InternalError' });
});

it('exec shows neither arguments nor token in errors and in onRequest', async () => {
  const requests: string[] = [];
  const server = await startExecServer(() => undefined, { refuse: refuseWith(403, 'Forbidden') });
  const onRequest = (...given: unknown[]) => requests.push(given.slice(0, 3).join(' '));
  const client = server.client({ onRequest }, { token: async () => 'hunter2' });
  const call = exec(client, pod, { container: 'c', command: ['cli', 'hunter3'] });
  expect(String(await failure(call))).not.toMatch(/hunter/);
  expect(requests).toEqual([`GET ${path} 403`]);
});

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
