// One call to a world outside, over a real socket: what may come back, and what is not taken from it. What the worlds' clients make
// of answers is tested with their controllers.
import { expect, it } from 'vitest';
import { fetchJson, HttpError } from '../../../src/controllers/clients/fetch-json.ts';
import { failure, sendJson, startWireServer } from '../../kube/wire-server.ts';

const request = { method: 'GET', path: 'level', signal: new AbortController().signal, deadlineMs: 20_000 } as const;

it('an answer is its JSON', async () => {
  const server = await startWireServer((_, response) => sendJson(response, 200, { level: 1 }));
  expect(await fetchJson(server.url.href, request)).toEqual({ level: 1 });
});

it.each([
  301, 302, 303, 307,
  308,
  // Control T98.
])('a redirect with %i is an error, and the other address gets no request', async (status) => {
  const other = await startWireServer((_, response) => sendJson(response, 200, { level: 1 }));
  const server = await startWireServer((_, response) =>
    response.writeHead(status, { location: new URL('/level', other.url).href }).end(),
  );
  const error = await failure(fetchJson(server.url.href, { ...request, method: 'PUT', body: { open: true } }));
  expect(error).toBeInstanceOf(HttpError);
  expect(error).toMatchObject({ status });
  expect(other.arrived).toEqual([]);
});

it('an answer without end is cut off, and its connection with it', async () => {
  const closed = Promise.withResolvers<void>();
  const server = await startWireServer((_, response) => {
    response.on('close', () => closed.resolve());
    const piece = 'x'.repeat(64 * 1024);
    const go = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', go);
    response.writeHead(200, { 'content-type': 'application/json' });
    go();
  });
  expect(String(await failure(fetchJson(server.url.href, request)))).toMatch(
    /GET \/level: the answer is larger than \d+ bytes/,
  );
  await closed.promise;
});
