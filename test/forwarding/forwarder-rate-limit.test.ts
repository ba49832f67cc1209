// Which keys the rate limit of a controller delays: bursts, other namespaces, other controllers, low-priority keys,
// replicas and draining. How many tokens are available is rate-limiter.test.ts; that a cluster does not delay others is
// test/fleet.
import { expect, it } from 'vitest';
import { forwarderFixture } from './forwarder-harness.ts';

type Fixture = ReturnType<typeof forwarderFixture>;

const rateLimit = { perSecond: 20, burst: 40 };

/** Advances the clock in small steps while the queue accepts everything. Returns the keys that were sent, and when. */
async function accepting({ calls, advance }: Fixture, ms: number, stepMs = 5) {
  const sent: { readonly atMs: number; readonly names: readonly string[]; readonly ids: readonly string[] }[] = [];
  for (let atMs = 0; ; atMs += stepMs) {
    await advance(0);
    for (let call = calls.shift(); call !== undefined; call = calls.shift()) {
      const ids = call.entries.map(({ deduplicationId = '' }) => deduplicationId);
      sent.push({ atMs, names: call.names, ids });
      call.respond('accepted');
      await advance(0);
    }
    if (atMs >= ms) return sent;
    await advance(stepMs);
  }
}
const countOf = (sent: readonly { readonly names: readonly string[] }[]) =>
  sent.reduce((sum, { names }) => sum + names.length, 0);

it('the forwarder sends a burst at once, then the rest at the rate, ten keys at a time', async () => {
  const fixture = forwarderFixture({ rateLimit });
  for (let number = 0; number < 100; number += 1) fixture.add(`a${number}`, number);
  const sent = await accepting(fixture, 4000);
  expect(sent.map(({ atMs, names }) => [atMs, names.length])).toEqual([
    [0, 40],
    ...[500, 1000, 1500, 2000, 2500, 3000].map((atMs) => [atMs, 10]),
  ]);
  expect(new Set(sent.flatMap(({ names }) => names)).size).toBe(100);
  expect([fixture.forwarder.queueDepth(), fixture.counts.rateLimited]).toEqual([0, 60]);
});

it('batches stay full while calls of the queue take time, in which some tokens become free', async () => {
  const fixture = forwarderFixture({ rateLimit: { perSecond: 200, burst: 40 } });
  for (let number = 0; number < 100; number += 1) fixture.add(`a${number}`, number);
  const sizes: number[] = [];
  for (let ms = 0; ms < 400; ms += 5) {
    await fixture.advance(0);
    const called = fixture.calls.splice(0);
    await fixture.advance(called.length === 0 ? 5 : 15);
    for (const call of called) {
      sizes.push(call.names.length);
      call.respond('accepted');
    }
  }
  expect(sizes).toEqual([40, 10, 10, 10, 10, 10, 10]);
  expect(fixture.counts.rateLimited).toBe(60);
});

it('the rest of a burst is sent at once, however many keys are queued', async () => {
  const fixture = forwarderFixture({ rateLimit: { perSecond: 1, burst: 5 } });
  fixture.add('first', 1);
  await accepting(fixture, 0);
  for (let number = 0; number < 20; number += 1) fixture.add(`a${number}`, number);
  expect((await accepting(fixture, 5000)).map(({ atMs, names }) => [atMs, names.length])).toEqual([
    [0, 4],
    [5000, 5],
  ]);
});

it('keys below the rate are never delayed', async () => {
  const fixture = forwarderFixture({ rateLimit });
  for (let number = 0; number < 100; number += 1) {
    fixture.add(`a${number}`, number);
    expect(countOf(await accepting(fixture, 50))).toBe(1);
  }
  expect(fixture.counts.rateLimited).toBe(0);
});

it('the last keys of an overload do not wait for a full batch, and a later key does not count as limited', async () => {
  const fixture = forwarderFixture({ rateLimit });
  for (let number = 0; number < 43; number += 1) fixture.add(`a${number}`, number);
  expect((await accepting(fixture, 1000)).map(({ atMs, names }) => [atMs, names.length])).toEqual([
    [0, 40],
    [150, 3],
  ]);
  fixture.add('later', 1);
  await accepting(fixture, 0);
  expect(fixture.counts.rateLimited).toBe(3);
});

it('a change is sent with the next batch, however many keys another namespace has queued', async () => {
  const fixture = forwarderFixture({ rateLimit });
  for (let number = 0; number < 500; number += 1) fixture.add(`a${number}`, number);
  await accepting(fixture, 0);
  fixture.add('fresh', 1, 'dish', 'quiet');
  const [next] = await accepting(fixture, 500);
  expect(next?.names).toHaveLength(10);
  expect(next?.names).toContain('fresh');
});

it('an overloaded controller delays neither another controller nor low-priority keys', async () => {
  const fixture = forwarderFixture({ rateLimit });
  for (let number = 0; number < 100; number += 1) fixture.add(`a${number}`, number);
  await accepting(fixture, 0);
  fixture.add('b', 1, 'menu');
  expect(await fixture.nextCall()).toMatchObject({ queue: 'menu.fifo', names: ['b'] });
  for (let number = 0; number < 100; number += 1) {
    const target = { controller: 'dish', cluster: 'c', group: 'g', resource: 'dishes', name: `n${number}` };
    fixture.forwarder.addLowPriority({ target, observedAt: 0, run: 'r' });
  }
  const lowPriority = await fixture.nextCall();
  expect([lowPriority.queue, lowPriority.entries.length]).toEqual(['timers', 40]);
});

it('keys that a queue rejects do not spend tokens of the rate limit', async () => {
  const fixture = forwarderFixture({ rateLimit: { perSecond: 1, burst: 10 } });
  for (let number = 0; number < 10; number += 1) fixture.add(`a${number}`, number);
  for (let failure = 0; failure < 5; failure += 1) {
    (await fixture.nextCall()).respond('rejected');
    await fixture.advance(5000);
  }
  (await fixture.nextCall()).respond('accepted');
  await fixture.advance(0);
  expect([fixture.forwarder.queueDepth(), fixture.counts.rateLimited]).toEqual([0, 0]);
});

it('two replicas send the same deduplication ids, whenever each of them ran out of tokens', async () => {
  const [one, other] = [forwarderFixture({ rateLimit }), forwarderFixture({ rateLimit })];
  // The other one has already spent a part of its burst, so its tokens come at other times.
  for (let number = 0; number < 33; number += 1) other.add(`early${number}`, number);
  await accepting(other, 130);
  for (let number = 0; number < 200; number += 1) for (const each of [one, other]) each.add(`a${number}`, number);
  const [ofOne, ofOther] = [await accepting(one, 20_000), await accepting(other, 20_000)];
  expect(ofOne.length === ofOther.length && ofOne.every(({ atMs }, index) => atMs === ofOther[index]?.atMs)).toBe(
    false,
  );
  const ids = (sent: typeof ofOne) => sent.flatMap((each) => each.ids).sort();
  expect(ids(ofOne)).toHaveLength(200);
  expect(ids(ofOther)).toEqual(ids(ofOne));
});

it('Forwarder.drain keeps the rate limit, and resolves with the number of keys that are left', async () => {
  const fixture = forwarderFixture({ rateLimit });
  for (let number = 0; number < 100; number += 1) fixture.add(`a${number}`, number);
  expect(countOf(await accepting(fixture, 0))).toBe(40);
  const time = new AbortController();
  const drained = fixture.forwarder.drain({ signal: time.signal });
  expect(countOf(await accepting(fixture, 1000))).toBe(20);
  time.abort();
  expect(await drained).toBe(40);
});

it('no wait is negative, if the time comes while the wait is computed', async () => {
  // The token is there 100 ms after the last key was sent, that is between two of the readings of the clock.
  const fixture = forwarderFixture({ rateLimit: { perSecond: 10, burst: 1 }, readingMs: 40 });
  fixture.add('first', 1);
  fixture.add('second', 2);
  expect(countOf(await accepting(fixture, 500))).toBe(2);
  expect(fixture.waits.filter((seconds) => seconds < 0)).toEqual([]);
});

it('a controller with a rate limit of its own has that one, and the others have the watcher’s', async () => {
  const own = forwarderFixture({ rateLimit, rateLimits: { dish: { perSecond: 1, burst: 3 } } });
  const other = forwarderFixture({ rateLimit, rateLimits: { other: { perSecond: 1, burst: 3 } } });
  for (const fixture of [own, other]) {
    for (let number = 0; number < 20; number += 1) fixture.add(`a${number}`, number);
  }
  expect(countOf(await accepting(own, 0))).toBe(3);
  expect(countOf(await accepting(other, 0))).toBe(20);
});
