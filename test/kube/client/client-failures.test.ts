// Requests to an API server without a response, or with a late one. Excluded: error responses (client.test.ts), responses
// without end (hostile-server.test.ts), TLS (client-tls.test.ts).
import { once } from 'node:events';
import net from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../../src/kube/client/client.ts';
import { ConnectError, DeadlineError, ResponseError } from '../../../src/kube/client/errors.ts';
import { freePort, listenOnLoopback } from '../../support/listen.ts';
import { failure, sendJson, startWireServer } from '../wire-server.ts';

const get = { method: 'GET', path: '/api/v1/pods' } as const;

/** The code of a server in a thread of its own. Its message closes the connections, gracefully and then with a reset. */
const serverThatCloses = `
  const { parentPort, workerData } = require('node:worker_threads');
  let connections = 0;
  const server = require('node:http').createServer(({ socket }, response) => {
    socket.number ??= connections += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ connection: socket.number }));
    parentPort.removeAllListeners('message').once('message', () => {
      socket.once('finish', () => socket.resetAndDestroy()).once('close', () => {
        Atomics.store(workerData, 0, 1);
        Atomics.notify(workerData, 0);
      });
      socket.end();
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

it('a request whose connection is refused throws a ConnectError with its cause', async () => {
  const server = await startWireServer(() => undefined);
  const closed = { server: new URL(`http://127.0.0.1:${await freePort()}`) };
  const error = await failure(server.client({}, closed).request(get));
  expect(error).toBeInstanceOf(ConnectError);
  expect(error).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});

it('a request whose connection is reset before or within the response throws a ConnectError', async () => {
  const server = await startWireServer(({ path }, response) => {
    if (path === '/before') response.socket?.resetAndDestroy();
    else
      response
        .writeHead(200, { 'content-length': 100, 'content-type': 'application/json' })
        .write('{', () => response.socket?.resetAndDestroy());
  });
  const client = server.client();
  expect(await failure(client.request({ method: 'GET', path: '/before' }))).toBeInstanceOf(ConnectError);
  // A new connection that is reset is not retried here; the caller backs off.
  expect(server.arrived).toHaveLength(1);
  expect(await failure(client.request({ method: 'GET', path: '/within' }))).toBeInstanceOf(ConnectError);
});

it('a request or a stream whose server switches to another protocol throws a ConnectError', async () => {
  const server = await startWireServer((_, response) =>
    response.writeHead(101, { connection: 'Upgrade', upgrade: 'other' }).end(),
  );
  const client = server.client();
  for (const call of [client.request(get), client.stream(get)])
    expect(await failure(call)).toMatchObject({ name: 'ConnectError', message: expect.stringContaining('(101)') });
});

it('a request on a stale kept-alive connection is sent again, except a POST', async () => {
  let requests = 0;
  const server = await startWireServer((_, response) => {
    // The server resets the connection at its second request.
    const socket = response.socket;
    requests += 1;
    if (requests % 2 === 1) sendJson(response, 200, {});
    else socket?.resetAndDestroy();
  });
  const client = server.client();
  await client.request(get);
  expect((await client.request(get)).status).toBe(200);
  expect(server.arrived).toHaveLength(3);
  expect(await failure(client.request({ ...get, method: 'POST' }))).toBeInstanceOf(ConnectError);
  expect(server.arrived).toHaveLength(4);
});

it('a request whose kept-alive connection was closed while the function was frozen is sent again', async () => {
  const closed = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(serverThatCloses, { eval: true, workerData: closed });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = await once(worker, 'message');
  const client = createClient({ server: new URL(`http://127.0.0.1:${port}`) });
  onTestFinished(() => client.close());
  await client.request(get);
  worker.postMessage('close');
  // No event of the connection is received, as in a frozen process.
  expect(Atomics.wait(closed, 0, 0, 30_000)).not.toBe('timed-out');
  expect((await client.request({ ...get, method: 'PATCH', body: {} })).body).toEqual({ connection: 2 });
});

it('a request without a connection throws a ConnectError at the connect deadline', async () => {
  // Accepts TCP connections and never starts TLS.
  const unresponsive = net.createServer(() => undefined);
  const port = await listenOnLoopback(unresponsive);
  onTestFinished(() => void unresponsive.close());
  const client = createClient({ server: new URL(`https://127.0.0.1:${port}`) }, { connectSeconds: 0.05 });
  onTestFinished(() => client.close());
  const error = await failure(client.request(get));
  expect(error).toBeInstanceOf(ConnectError);
  expect(String(error)).toContain('no connection within 0.05 s');
});

// Control T104.
it('a request without a response throws a DeadlineError', async () => {
  const server = await startWireServer(() => undefined);
  expect(await failure(server.client({ timeoutSeconds: 0.05 }).request(get))).toBeInstanceOf(DeadlineError);
});

it('a write waits longer than the ten seconds of an admission webhook that hangs, and a read does not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await startWireServer(() => undefined);
  const client = server.client();
  const failed = [get, { ...get, method: 'PATCH' as const, body: {} }].map((one) => failure(client.request(one)));
  await expect.poll(() => server.arrived.length).toBe(2);
  vi.advanceTimersByTime(15_000);
  const within = (seconds: number) => expect.stringContaining(`no response within ${seconds} s`);
  expect((await Promise.all(failed)).map(String)).toEqual([within(10), within(15)]);
});

it('a request whose credentials never arrive ends at the deadline or the signal, and sends nothing', async () => {
  const server = await startWireServer((_, response) => sendJson(response, 200, {}));
  const client = server.client({ timeoutSeconds: 0.05 }, { token: () => new Promise<never>(() => undefined) });
  expect(await failure(client.request(get))).toBeInstanceOf(DeadlineError);
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  expect(await failure(client.request({ ...get, timeoutSeconds: 60, signal }))).toBe(reason);
  expect(await failure(client.stream({ ...get, timeoutSeconds: 60, signal }))).toBe(reason);
  expect(server.arrived).toEqual([]);
});

it('a request with an incomplete response throws a DeadlineError', async () => {
  const server = await startWireServer((_, response) => void response.writeHead(200).write('x'));
  expect(await failure(server.client().request({ ...get, timeoutSeconds: 0.05 }))).toBeInstanceOf(DeadlineError);
});

it('an aborted request rejects with the reason, before it is sent and within the response', async () => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const server = await startWireServer((_, response) => {
    response.writeHead(200).write('x');
    controller.abort(reason);
  });
  const client = server.client();
  expect(await failure(client.request({ ...get, signal: AbortSignal.abort(reason) }))).toBe(reason);
  expect(server.arrived).toEqual([]);
  expect(await failure(client.request({ ...get, signal: controller.signal }))).toBe(reason);
});

it.each([
  ['PATCH', 'text/html', '<html>secret</html>'],
  ['DELETE', 'text/html', '<html>secret</html>'],
  ['GET', 'application/json', 'secret'],
] as const)('a %s whose response of 200 is %s without JSON throws a ResponseError that does not quote it', async (method, type, text) => {
  const server = await startWireServer((_, response) => response.writeHead(200, { 'content-type': type }).end(text));
  const error = await failure(server.client().request({ ...get, method, ...(method === 'GET' ? {} : { body: {} }) }));
  expect(error).toBeInstanceOf(ResponseError);
  expect(String(error)).not.toContain('secret');
});
