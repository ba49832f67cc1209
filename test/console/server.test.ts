// Only the console's server: who may read what, and its event stream. The page in a browser is test/console/browser.
import { request } from 'node:http';
import { type Console, startConsole } from '@outrigger/cli/console/server/server';
import type { ConsoleEvents } from '@outrigger/cli/console/wire';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createFakeSource, rowOf } from './fake-source.ts';

const page = async () =>
  new Map([['/', { contentType: 'text/html; charset=utf-8', content: new TextEncoder().encode('<!doctype html>') }]]);
let source: ReturnType<typeof createFakeSource>;
let running: Console;
beforeEach(async () => {
  source = createFakeSource();
  running = await startConsole({ source, page });
});
afterEach(() => running.close());

const origin = () => new URL(running.url).origin;
const token = () => new URL(running.url).hash.slice(1);
const authorized = () => ({ authorization: `Bearer ${token()}` });

/** fetch does not allow the headers that browsers set themselves. */
const statusOf = (path: string, headers: Readonly<Record<string, string>>, method = 'GET') =>
  new Promise<number>((resolve, reject) => {
    const sent = request(`${origin()}${path}`, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject);
    sent.end();
  });

/** The events of a stream, until the test aborts it. */
async function* events(signal: AbortSignal): AsyncGenerator<{ event: keyof ConsoleEvents; data: unknown }> {
  const response = await fetch(`${origin()}/api/events`, { headers: authorized(), signal });
  let buffer = '';
  for await (const chunk of response.body ?? []) {
    buffer += new TextDecoder().decode(chunk);
    const blocks = buffer.split('\n\n');
    buffer = blocks.pop() ?? '';
    for (const block of blocks.filter((one) => one !== ': alive')) {
      const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      yield { event: event as keyof ConsoleEvents, data: JSON.parse(data) };
    }
  }
}

it.each([
  '/api/events',
  '/api/object?id=a',
  '/api/past?from=1&to=2',
  '/api/anything',
  // Control T131.
])('GET %s without the token is refused', async (path) => {
  expect(await statusOf(path, {})).toBe(401);
  expect(await statusOf(path, { authorization: `Bearer ${token()}x` })).toBe(401);
  expect(await statusOf(path, { authorization: token() })).toBe(401);
});

it.each([
  ['a foreign host (DNS rebinding)', { host: 'evil.example.com' }],
  ['a page of another origin', { origin: 'http://evil.example.com' }],
  ['a page of another port of this machine', { 'sec-fetch-site': 'same-site' }],
  // Control T130.
])('a request of %s is refused, even with the token', async (_, headers) => {
  for (const path of ['/', '/api/events']) expect(await statusOf(path, { ...headers, ...authorized() })).toBe(403);
});

it('a link of another page opens the page, and a frame or a script of it does not', async () => {
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect(await statusOf('/', { ...link, 'sec-fetch-dest': 'document' })).toBe(200);
  expect(await statusOf('/', { ...link, 'sec-fetch-dest': 'iframe' })).toBe(403);
  expect(await statusOf('/api/events', { ...link, 'sec-fetch-dest': 'document', ...authorized() })).toBe(403);
});

// Control T132.
it('the page allows scripts and styles of this server only, and no frame around it', async () => {
  const { headers } = await fetch(origin());
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

// Control T135.
it('an error of the source is returned without the credential in it', async () => {
  const failing = { ...source, detail: async () => Promise.reject(new Error('401 for token=swordfish123')) };
  const other = await startConsole({ source: failing, page });
  const { origin: address, hash } = new URL(other.url);
  const headers = { authorization: `Bearer ${hash.slice(1)}` };
  const response = await fetch(`${address}/api/object?id=a`, { headers });
  expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('swordfish123')]);
  await other.close();
});

it('there is no file of the machine behind a path', async () => {
  for (const path of ['/package.json', '/..%2f..%2fpackage.json', '/../package.json'])
    expect(await statusOf(path, authorized())).toBe(404);
});

it('the stream begins with every object, then has the latest row of each changed one', async () => {
  source.put(rowOf('tanks/default/north'));
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const { event, data } of events(stop.signal)) {
    seen.push(event);
    if (event === 'snapshot') {
      expect(data).toMatchObject({ rows: [{ id: 'tanks/default/north' }], system: { mode: 'dev' } });
      for (const text of ['first', 'second']) source.put(rowOf('tanks/default/south', { text }));
      source.put(rowOf('tanks/default/pond'));
      source.remove('tanks/default/north');
      source.remove('tanks/default/pond');
    }
    if (event !== 'rows') continue;
    expect(data).toEqual({
      changed: [rowOf('tanks/default/south', { text: 'second' })],
      removed: ['tanks/default/pond', 'tanks/default/north'],
    });
    break;
  }
  expect(seen[0]).toBe('snapshot');
});

it('a page that leaves is no longer a listener of the source', async () => {
  const stop = new AbortController();
  for await (const { event } of events(stop.signal)) if (event === 'snapshot') break;
  await expect.poll(() => source.listeners()).toBe(0);
});

it('an action needs the token, this origin and JSON, and one that does not exist is refused', async () => {
  const json = { 'content-type': 'application/json' };
  const act = async (headers: Readonly<Record<string, string>>, body: string) =>
    await (await fetch(`${origin()}/api/actions`, { method: 'POST', headers, body })).status;
  const reconcile = JSON.stringify({ type: 'reconcile', id: 'tanks/default/north' });
  expect(await act(json, reconcile)).toBe(401);
  expect(await act({ ...authorized(), 'content-type': 'text/plain' }, reconcile)).toBe(415);
  expect(await act({ ...authorized(), ...json, 'sec-fetch-site': 'cross-site' }, reconcile)).toBe(403);
  for (const body of ['', '{}', '[]', '{"type":"detach","id":"a"}', '{"type":"reconcile"}'])
    expect(await act({ ...authorized(), ...json }, body), body).toBe(400);
  expect(await act({ ...authorized(), ...json }, `"${'x'.repeat(20_000)}"`)).toBe(500);
  expect(source.actions).toEqual([]);
  expect(await act({ ...authorized(), ...json }, reconcile)).toBe(200);
  expect(source.actions).toEqual([{ type: 'reconcile', id: 'tanks/default/north' }]);
  for (const method of ['PUT', 'DELETE', 'POST'])
    expect(await statusOf('/api/object?id=a', authorized(), method)).toBe(405);
});

it('a console that only reads carries out dry runs, and refuses every other action', async () => {
  const act = async (body: object) =>
    await fetch(`${origin()}/api/actions`, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await running.close();
  running = await startConsole({ source: { ...source, system: { ...source.system, readOnly: true } }, page });
  for (const type of ['reconcile', 'pause', 'resume']) {
    const response = await act({ type, id: 'tanks/default/north' });
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('--read-only')]);
  }
  expect((await act({ type: 'redrive', queue: 'tank-dlq.fifo' })).status).toBe(403);
  expect(source.actions).toEqual([]);
  expect((await act({ type: 'dry-run', id: 'tanks/default/north' })).status).toBe(200);
});

it('an action that fails has its reason in the response, without credentials', async () => {
  source.respond = () => {
    throw new Error('no queue at https://user:secret@sqs.test');
  };
  const response = await fetch(`${origin()}/api/actions`, {
    method: 'POST',
    headers: { ...authorized(), 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'pause', id: 'a' }),
  });
  expect(response.status).toBe(409);
  const text = await response.text();
  expect(text).toContain('no queue at');
  expect(text).not.toContain('secret');
});

it('an object is read by its id, and a missing one is not found', async () => {
  source.put(rowOf('tanks/default/north'));
  const read = (id: string) => fetch(`${origin()}/api/object?id=${encodeURIComponent(id)}`, { headers: authorized() });
  expect(await (await read('tanks/default/north')).json()).toMatchObject({ yaml: 'name: north\n' });
  expect((await read('tanks/default/south')).status).toBe(404);
});

it.each([
  ['from=2026-11-28T02:00:00.000Z&to=2026-11-28T03:00:00.000Z', 200],
  ['from=2026-11-28T03:00:00.000Z&to=2026-11-28T02:00:00.000Z', 400],
  ['from=2026-11-01T03:00:00.000Z&to=2026-11-28T02:00:00.000Z', 400],
  ['from=2026-11-28T02:00:00.000Z', 400],
  ['from=yesterday&to=today', 400],
])('the past and an object are read in the time range %s: %i', async (range, status) => {
  source.put(rowOf('a'));
  for (const path of [`/api/past?${range}`, `/api/object?id=a&${range}`])
    expect(await statusOf(path, authorized()), path).toBe(status);
  const read = { from: Date.UTC(2026, 10, 28, 2), to: Date.UTC(2026, 10, 28, 3) };
  expect(source.ranges).toEqual(status === 200 ? [read, read] : []);
});

it('a read of the past ends when its page has left', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  source.past = async (_, signal) => {
    asked.resolve(signal);
    return await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const leaving = new AbortController();
  const range = 'from=2026-11-28T02:00:00Z&to=2026-11-28T03:00:00Z';
  const read = fetch(`${origin()}/api/past?${range}`, { headers: authorized(), signal: leaving.signal });
  const signal = await asked.promise;
  expect(signal.aborted).toBe(false);
  leaving.abort();
  await expect(read).rejects.toThrow();
  await vi.waitFor(() => expect(signal.aborted).toBe(true));
});

it('H6: a character of an object that turns the direction of a text reaches the page escaped', async () => {
  source.put(rowOf('tanks/a/b', { text: 'ready\u202edaer' }), { yaml: 'a: "b\u2066"\nc: d\n' });
  const response = await fetch(`${origin()}/api/object?id=${encodeURIComponent('tanks/a/b')}`, {
    headers: authorized(),
  });
  const text = await response.text();
  expect(text).toContain('202edaer');
  expect(text).not.toMatch(/\p{Cf}/u);
  expect(JSON.parse(text)).toMatchObject({ yaml: 'a: "b\\u2066"\nc: d\n' });
});
