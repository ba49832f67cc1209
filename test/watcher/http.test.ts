// The probes as a kubelet asks them, over a socket, beside what they are made of (health.test.ts).
import { networkInterfaces } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHealth } from '../../src/watcher/health.ts';
import { serveProbes } from '../../src/watcher/http.ts';

/** Two kinds that were heard, and a clock. */
async function start({ host }: { readonly host: string | undefined } = { host: '127.0.0.1' }) {
  let nowMs = 0;
  const health = createHealth(() => nowMs);
  const loops = { tanks: health.loop('tanks'), dinners: health.loop('dinners') };
  for (const loop of Object.values(loops)) loop.heard();
  const metrics = { contentType: 'text/plain', page: async () => 'waiting 1\n' };
  const server = await serveProbes({ health, metrics }, { host, port: 0 });
  onTestFinished(() => server.close());
  return {
    loops,
    ask: (path: string, method = 'GET', at = '127.0.0.1') => fetch(`http://${at}:${server.port}${path}`, { method }),
    pass: (seconds: number) => {
      nowMs += seconds * 1000;
    },
  };
}

describe('a watch loop that hangs', () => {
  it('makes the watcher unhealthy, and the answer says which one it is', async () => {
    const { loops, ask, pass } = await start();
    pass(119);
    loops.tanks.attempted();
    expect((await ask('/healthz')).status).toBe(200);
    pass(2);
    const answer = await ask('/healthz');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      ok: false,
      kinds: [
        { kind: 'tanks', attemptAgeSeconds: 2 },
        { kind: 'dinners', attemptAgeSeconds: 121 },
      ],
    });
  });
});

describe('an API server that is away', () => {
  it('makes the watcher not ready, and keeps it healthy as long as it is asked', async () => {
    const { loops, ask, pass } = await start();
    for (let minutes = 0; minutes < 60; minutes += 1) {
      pass(60);
      for (const loop of Object.values(loops)) loop.trouble(new Error('no answer'));
    }
    expect([(await ask('/readyz')).status, (await ask('/healthz')).status]).toEqual([503, 200]);
    for (const loop of Object.values(loops)) loop.heard();
    expect((await ask('/readyz')).status).toBe(200);
  });
});

describe('whoever asks', () => {
  it('gets metrics, may look without a body, and may change nothing', async () => {
    const { ask } = await start();
    const metrics = await ask('/metrics');
    expect([metrics.headers.get('content-type'), await metrics.text()]).toEqual(['text/plain', 'waiting 1\n']);
    expect((await ask('/readyz?verbose', 'HEAD')).status).toBe(200);
    expect((await ask('/healthz', 'POST')).status).toBe(405);
    expect((await ask('/')).status).toBe(404);
  });
});

describe('a watcher that is told no address', () => {
  it('answers at every one, IPv6 included where there is any', async () => {
    const { ask } = await start({ host: undefined });
    const loopback = (networkInterfaces().lo ?? []).map(({ address, family }) =>
      family === 'IPv6' ? `[${address}]` : address,
    );
    expect(loopback).toContain('127.0.0.1');
    for (const at of loopback) expect((await ask('/readyz', 'GET', at)).status).toBe(200);
  });
});
