// The HTTP endpoints of the watcher over a socket, as the kubelet and Prometheus use them. What readiness and liveness
// depend on is test/forwarding/health.test.ts.
import { networkInterfaces } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { createHealth } from '../../src/forwarding/health.ts';
import { serveProbes } from '../../src/watcher/http.ts';

/** Starts the endpoints with two kinds that received events, and a clock that the test advances. */
async function start({ host }: { readonly host: string | undefined } = { host: '127.0.0.1' }) {
  let nowMs = 0;
  const health = createHealth(() => nowMs);
  const loops = { tanks: health.loop('tanks'), dinners: health.loop('dinners') };
  for (const loop of Object.values(loops)) loop.received();
  const metrics = { contentType: 'text/plain', page: async () => 'waiting 1\n' };
  const probes = { alive: health.alive, ready: health.ready, report: () => ({ kinds: health.report() }) };
  const server = await serveProbes({ probes, metrics }, { host, port: 0 });
  onTestFinished(() => server.close());
  return {
    loops,
    request: (path: string, method = 'GET', address = '127.0.0.1') =>
      fetch(`http://${address}:${server.port}${path}`, { method }),
    advance: (seconds: number) => {
      nowMs += seconds * 1000;
    },
  };
}

it('/healthz returns 503 and shows which watch loop hangs', async () => {
  const { loops, request, advance } = await start();
  advance(119);
  loops.tanks.attempted();
  expect((await request('/healthz')).status).toBe(200);
  advance(2);
  const response = await request('/healthz');
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({
    ok: false,
    kinds: [
      { kind: 'tanks', attemptAgeSeconds: 2 },
      { kind: 'dinners', attemptAgeSeconds: 121 },
    ],
  });
});

it('/readyz returns 503 and /healthz 200 while the API server is unavailable and the watcher retries', async () => {
  const { loops, request, advance } = await start();
  advance(100);
  for (const loop of Object.values(loops)) loop.recordError(new Error('no response'));
  expect([(await request('/readyz')).status, (await request('/healthz')).status]).toEqual([503, 200]);
  for (const loop of Object.values(loops)) loop.received();
  expect((await request('/readyz')).status).toBe(200);
});

// Control T96.
it('the watcher serves GET and HEAD of its endpoints, and rejects other methods and paths', async () => {
  const { request } = await start();
  const metrics = await request('/metrics');
  expect([metrics.headers.get('content-type'), await metrics.text()]).toEqual(['text/plain', 'waiting 1\n']);
  expect((await request('/readyz?verbose', 'HEAD')).status).toBe(200);
  expect((await request('/healthz', 'POST')).status).toBe(405);
  expect((await request('/')).status).toBe(404);
});

it('without the setting HOST the watcher listens on all addresses, including IPv6 if there is one', async () => {
  const { request } = await start({ host: undefined });
  const loopback = (networkInterfaces().lo ?? []).map(({ address, family }) =>
    family === 'IPv6' ? `[${address}]` : address,
  );
  expect(loopback).toContain('127.0.0.1');
  for (const address of loopback) expect((await request('/readyz', 'GET', address)).status).toBe(200);
});
