// What an API server (or whoever stands in its place) cannot make our client do: send the token elsewhere, take answers without end.
// Who it must prove to be is client-tls.test.ts; a hostile message or name is path.test.ts and test/runtime/any-message.test.ts.
import type http from 'node:http';
import { describe, expect, it } from 'vitest';
import { AnswerError, ApiError } from '../../../src/kube/client/errors.ts';
import { readFrames } from '../../../src/kube/frames.ts';
import { failure, sendJson, startWireServer } from '../wire-server.ts';

const get = { method: 'GET', path: '/api/v1/pods' } as const;
const credentials = { token: async () => 'secret' };

describe('a redirect to another server', () => {
  it.each([301, 302, 303, 307, 308])('with %i: nobody is asked there, whatever was asked for', async (status) => {
    const other = await startWireServer((_, response) => sendJson(response, 200, {}));
    const location = new URL('/api/v1/pods', other.url).href;
    const server = await startWireServer((_, response) => response.writeHead(status, { location }).end());
    const client = server.client({}, credentials);
    const socket = { path: '/exec', protocol: 'v4.channel.k8s.io', maxMessageBytes: 100, receive: () => true };
    for (const asked of [
      client.request(get),
      client.request({ method: 'PATCH', path: '/api/v1/pods/a', body: { a: 1 } }),
      client.stream(get),
      client.webSocket(socket),
    ]) {
      expect(await failure(asked)).toMatchObject({ name: 'ApiError', status });
    }
    expect(server.arrived.length).toBeGreaterThan(0);
    expect(other.arrived).toEqual([]);
  });
});

describe('an answer without end is cut off, and its connection with it,', () => {
  /** Answers for ever; tells when the connection is gone. */
  async function endless(status: number, piece: string) {
    const closed = Promise.withResolvers<void>();
    const server = await startWireServer((_, response) => {
      response.on('close', () => closed.resolve());
      response.writeHead(status, { 'content-type': 'application/json' });
      goOn(response, piece);
    });
    return { client: server.client({ maxResponseBytes: 1_000_000, timeoutSeconds: 50 }), closed: closed.promise };
  }

  it('that of a read', async () => {
    const { client, closed } = await endless(200, 'x'.repeat(65_536));
    expect(await failure(client.request(get))).toBeInstanceOf(AnswerError);
    await closed;
  });

  it('that of a failure, whose status is known all the same', async () => {
    const { client, closed } = await endless(503, 'x'.repeat(65_536));
    const error = await failure(client.request(get));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 503 });
    await closed;
  });

  it('a frame of a watch', async () => {
    const { client, closed } = await endless(200, 'x'.repeat(65_536));
    const frames = readFrames(await client.stream(get));
    expect(await failure(frames.next())).toBeInstanceOf(AnswerError);
    await closed;
  });
});

function goOn(response: http.ServerResponse, piece: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', write);
  write();
}
