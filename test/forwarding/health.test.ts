// When a watcher is ready and when it is alive. In an outage of the API server it is alive and not ready. The HTTP
// endpoints are test/watcher/http.test.ts.
import { describe, expect, it } from 'vitest';
import { createHealth, type LoopHealth, observedClient } from '../../src/forwarding/health.ts';
import type { KubeClient, KubeRequest, KubeResponse } from '../../src/kube/client/client.ts';
import { ApiError, ConnectError, IdleError } from '../../src/kube/client/errors.ts';
import { createListLimiter } from '../../src/kube/client/limit-lists.ts';

const create = (...kinds: string[]) => {
  let now = 0;
  const health = createHealth(() => now);
  const loops = kinds.map((kind) => health.loop(kind));
  return {
    health,
    loops,
    at: (seconds: number) => {
      now = seconds * 1000;
      return { ready: health.ready(), alive: health.alive() };
    },
  };
};
const notFound = new ApiError('GET /x', 404, '404 page not found');
const forbidden = new ApiError('GET /x', 403, undefined);

describe('Health.ready', () => {
  it('a watcher is ready while every kind had an event within 90 s', () => {
    const { loops, at } = create('a', 'b');
    expect(at(0).ready).toBe(false);
    loops[0]?.received();
    expect(at(0).ready).toBe(false);
    loops[1]?.received();
    expect(at(90).ready).toBe(true);
    expect(at(91).ready).toBe(false);
    loops[0]?.received();
    expect(at(91).ready).toBe(false);
    loops[1]?.received();
    expect(at(91).ready).toBe(true);
  });

  it('a watcher is ready if the API server does not serve one of its kinds', () => {
    const { loops, at, health } = create('a', 'b');
    loops[0]?.received();
    loops[1]?.recordError(notFound);
    expect(at(0).ready).toBe(true);
    expect(health.report()).toMatchObject([{ watchErrors: 0 }, { watchErrors: 1, error: notFound.message }]);
  });

  it.each([
    ['from its start', forbidden, () => undefined],
    ['that was watched', forbidden, (loop: LoopHealth) => loop.received()],
    ['that was not served', forbidden, (loop: LoopHealth) => loop.recordError(notFound)],
    ['that a load balancer answers', new ApiError('GET /x', 404, '<html>'), () => undefined],
  ])('a watcher is not ready, and not seen, while the API server refuses a kind %s', (_, error, before) => {
    const { loops, at, health } = create('a', 'b');
    for (const loop of loops.slice(1)) before(loop);
    at(91);
    loops[0]?.received();
    loops[1]?.recordError(error);
    expect(at(91).ready).toBe(false);
    expect(health.lastSeenAt() ?? 0).toBe(0);
  });

  it('a watcher is not ready if no kind is served', () => {
    const { loops, at } = create('a');
    loops[0]?.recordError(notFound);
    expect(at(0).ready).toBe(false);
  });

  it('a kind that is served again counts for readiness again', () => {
    const { loops, at, health } = create('a', 'b');
    loops[0]?.received();
    loops[1]?.recordError(notFound);
    loops[1]?.received();
    expect(health.report()[1]).toMatchObject({ served: true });
    expect(health.report()[1]).not.toHaveProperty('error');
    at(91);
    loops[0]?.received();
    expect(at(91).ready).toBe(false);
  });
});

describe('a quiet kind whose server sends no bookmarks', () => {
  it.each([
    ['is ready', new IdleError('no event for 70 s'), true],
    ['is not ready after a lost connection', new ConnectError('connection refused'), false],
  ])('it %s while each read after a watch succeeds', async (_, error, ready) => {
    const { loops, health, at } = create('a');
    const client = { request: async () => ({ status: 200, body: {}, headers: {} }) } as Partial<KubeClient>;
    loops[0]?.received();
    for (let seconds = 70; seconds <= 350; seconds += 70) {
      at(seconds);
      for (const loop of loops) {
        loop.recordError(error);
        await observedClient(client as KubeClient, loop).request({ method: 'GET', path: '/' });
        loop.opened();
      }
    }
    expect(at(355).ready).toBe(ready);
    expect(health.lastSeenAt()).toBe(ready ? 350_000 : 0);
  });
});

it('a stream counts as an event from its opening until it fails, and after a failure not until an event arrives', () => {
  const { loops, at } = create('a');
  const [loop] = loops;
  loop?.received();
  at(80);
  loop?.opened();
  expect(at(91).ready).toBe(true);
  loop?.recordError(new ConnectError('connection reset'));
  expect(at(91).ready).toBe(false);
  loop?.opened();
  expect(at(92).ready).toBe(false);
  loop?.received();
  expect(at(92).ready).toBe(true);
});

describe('Health.alive', () => {
  it('a watcher that keeps trying is alive and not ready during an outage of hours', () => {
    const { loops, at } = create('a');
    for (let seconds = 0; seconds < 7200; seconds += 60) {
      at(seconds);
      loops[0]?.recordError(new ConnectError('connection refused'));
      expect(at(seconds + 59)).toEqual({ ready: false, alive: true });
    }
  });

  it('a watcher is not alive if one loop had neither an event nor an attempt for 2 min', () => {
    const { loops, at } = create('a', 'b');
    at(120);
    loops[0]?.received();
    expect(at(120).alive).toBe(true);
    expect(at(121).alive).toBe(false);
    loops[1]?.restarted();
    expect(at(121).alive).toBe(true);
  });
});

it('a loop whose page waits for the pages of other clusters is alive, and 2 min after it was sent it is not', async () => {
  const { loops, at } = create('a');
  const page: KubeRequest = { method: 'GET', path: '/api/v1/configmaps', query: { limit: 500 } };
  const sent: ((response: KubeResponse) => void)[] = [];
  const client = { request: () => new Promise((resolve) => sent.push(resolve)) } as Partial<KubeClient> as KubeClient;
  const limited = createListLimiter({ pages: 1, pagesOfCluster: 1 }).limit(client);
  void limited.request(page);
  for (const loop of loops) void observedClient(limited, loop).request(page);
  await expect.poll(() => sent.length).toBe(1);
  expect(at(1000).alive).toBe(true);
  sent[0]?.({ status: 200, body: {}, headers: {} });
  await expect.poll(() => sent.length).toBe(2);
  expect(at(1120).alive).toBe(true);
  expect(at(1121).alive).toBe(false);
});

it('Health.lastSeenAt is the oldest of the last events of all kinds that are served', () => {
  const { loops, at, health } = create('a', 'b', 'c');
  expect(health.lastSeenAt()).toBeUndefined();
  at(10);
  loops[0]?.received();
  loops[2]?.recordError(notFound);
  expect(health.lastSeenAt()).toBeUndefined();
  at(30);
  loops[1]?.received();
  expect(health.lastSeenAt()).toBe(10_000);
  at(50);
  loops[0]?.received();
  expect(health.lastSeenAt()).toBe(30_000);
});

it('a watch fails from its first error until its stream is open again, but not an idle one or one that is not served', () => {
  let [now, turns] = [0, 0];
  const health = createHealth(
    () => now,
    () => {
      turns += 1;
    },
  );
  const [a, b, idle, missing] = ['a', 'b', 'idle', 'missing'].map((kind) => health.loop(kind));
  missing?.recordError(notFound);
  idle?.recordError(new IdleError('no event'));
  expect(health.failingMs()).toBeUndefined();
  now = 1_000;
  for (const loop of [a, a, b, idle]) loop?.recordError(new ConnectError('reset'));
  now = 5_000;
  expect([health.failingMs(), turns]).toEqual([4_000, 4]);
  a?.received();
  for (const loop of [b, idle]) loop?.opened();
  expect([health.failingMs(), turns]).toEqual([undefined, 7]);
  b?.recordError(new ConnectError('reset'));
  expect([health.failingMs(), turns]).toEqual([4_000, 8]);
  b?.received();
  expect([health.failingMs(), turns]).toEqual([undefined, 9]);
});

it('a watch whose stream is open again fails if nothing arrives on it for 90 s', () => {
  const { loops, at, health } = create('a');
  const [loop] = loops;
  at(10);
  loop?.recordError(new ConnectError('reset'));
  at(20);
  loop?.opened();
  at(110);
  expect(health.failingMs()).toBeUndefined();
  at(111);
  expect(health.failingMs()).toBe(101_000);
  loop?.received();
  expect(health.failingMs()).toBeUndefined();
});

it('LoopHealth.isNewError is true once for an error, and again after the next event', () => {
  const { loops, health } = create('a');
  const [loop] = loops;
  expect([loop?.isNewError('x'), loop?.isNewError('x'), loop?.isNewError('y')]).toEqual([true, false, true]);
  loop?.received();
  expect(loop?.isNewError('y')).toBe(true);
  loop?.recordError(new Error('token=abcdef'));
  expect(health.report()[0]?.error).toBe('token=[redacted]');
});
