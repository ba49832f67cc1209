// A call to an API server that nobody answers, or not in time, or with too much. Excluded: answers that are errors
// (client.test.ts), TLS (client-tls.test.ts).
import net from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../../src/kube/client/client.ts';
import { AnswerError, ConnectError, DeadlineError } from '../../../src/kube/client/errors.ts';
import { failure, sendJson, startWireServer } from '../wire-server.ts';

const get = { method: 'GET', path: '/api/v1/pods' } as const;

describe('nobody answers', () => {
  it('a refused connection is a ConnectError with its cause', async () => {
    const server = await startWireServer(() => undefined);
    const port = await freePort();
    const error = await failure(server.client({}, { server: new URL(`http://127.0.0.1:${port}`) }).request(get));
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  it('a connection reset before the answer, and one lost within it, are ConnectErrors', async () => {
    const server = await startWireServer(({ path }, response) => {
      if (path === '/before') response.socket?.resetAndDestroy();
      else
        response
          .writeHead(200, { 'content-length': 100, 'content-type': 'application/json' })
          .write('{', () => response.socket?.resetAndDestroy());
    });
    const client = server.client();
    expect(await failure(client.request({ method: 'GET', path: '/before' }))).toBeInstanceOf(ConnectError);
    // A new connection that is reset is not tried again: that is for the caller's backoff.
    expect(server.arrived).toHaveLength(1);
    expect(await failure(client.request({ method: 'GET', path: '/within' }))).toBeInstanceOf(ConnectError);
  });

  it('a kept connection that the server has closed meanwhile is replaced; a POST is not sent twice', async () => {
    let kept = 0;
    const server = await startWireServer((_, response) => {
      // The second request on a connection meets its end.
      const socket = response.socket;
      kept += 1;
      if (kept % 2 === 1) sendJson(response, 200, {});
      else socket?.resetAndDestroy();
    });
    const client = server.client();
    await client.request(get);
    expect((await client.request(get)).status).toBe(200);
    expect(server.arrived).toHaveLength(3);
    expect(await failure(client.request({ ...get, method: 'POST' }))).toBeInstanceOf(ConnectError);
    expect(server.arrived).toHaveLength(4);
  });

  it('a connection that does not come about ends at its own deadline', async () => {
    // Accepts TCP and never speaks TLS.
    const mute = net.createServer(() => undefined);
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void mute.close());
    const address = mute.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const client = createClient({ server: new URL(`https://127.0.0.1:${port}`) }, { connectSeconds: 0.05 });
    onTestFinished(() => client.close());
    const error = await failure(client.request(get));
    expect(error).toBeInstanceOf(ConnectError);
    expect(String(error)).toContain('no connection within 0.05 s');
  });
});

describe('bounds', () => {
  it('an answer that does not come ends at the deadline', async () => {
    const server = await startWireServer(() => undefined);
    expect(await failure(server.client({ timeoutSeconds: 0.05 }).request(get))).toBeInstanceOf(DeadlineError);
  });

  it('credentials that do not come end at the deadline, and at the signal, and nothing is sent', async () => {
    const server = await startWireServer((_, response) => sendJson(response, 200, {}));
    const client = server.client({ timeoutSeconds: 0.05 }, { token: () => new Promise<never>(() => undefined) });
    expect(await failure(client.request(get))).toBeInstanceOf(DeadlineError);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    expect(await failure(client.request({ ...get, timeoutSeconds: 60, signal }))).toBe(reason);
    expect(await failure(client.stream({ ...get, timeoutSeconds: 60, signal }))).toBe(reason);
    expect(server.arrived).toEqual([]);
  });

  it('an answer that trickles ends at the deadline too', async () => {
    const server = await startWireServer((_, response) => void response.writeHead(200).write('x'));
    expect(await failure(server.client().request({ ...get, timeoutSeconds: 0.05 }))).toBeInstanceOf(DeadlineError);
  });

  it('an aborted call rejects with the reason, before it is sent and within the answer', async () => {
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

  it('an answer larger than allowed is an AnswerError', async () => {
    const server = await startWireServer((_, response) => response.end('x'.repeat(2000)));
    expect(await failure(server.client({ maxResponseBytes: 1000 }).request(get))).toBeInstanceOf(AnswerError);
  });

  it('JSON that is none is an AnswerError that does not quote it', async () => {
    const server = await startWireServer((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('secret'),
    );
    const error = await failure(server.client().request(get));
    expect(error).toBeInstanceOf(AnswerError);
    expect(String(error)).not.toContain('secret');
  });
});

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
