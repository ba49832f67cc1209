// Only whether a cluster may be called. The consequences for its keys are in batch.test.ts.
import { expect, it } from 'vitest';
import { type Breaker, createBreaker } from '../../src/reconciling/breaker.ts';

function setUp() {
  let clock = 0;
  const chance = { random: 0.5 };
  const breaker = createBreaker(() => clock, { random: () => chance.random });
  const fail = (times: number, cluster = 'a') => {
    for (let count = 0; count < times; count += 1) breaker.recordFailure(cluster, { durationMs: 1 });
  };
  const advance = (seconds: number) => {
    clock += seconds * 1_000;
  };
  return { breaker, fail, advance, chance };
}

it('a breaker opens at the fifth failure in a row, not before, and for no other cluster', () => {
  const { breaker, fail } = setUp();
  fail(4);
  expect(breaker.state('a')).toBe('closed');
  breaker.recordSuccess('a', { responseMs: 1, durationMs: 1 });
  fail(4);
  expect(breaker.state('a')).toBe('closed');
  fail(1);
  expect([breaker.state('a'), breaker.state('other')]).toEqual(['open', 'closed']);
});

it.each([
  ['ten seconds after the last failure', 1, 10],
  ['after four times the duration of a failure that took long', 9_000, 36],
])('a breaker closes for all keys %s, until the next one', (_, durationMs, seconds) => {
  const { breaker, advance } = setUp();
  for (let count = 0; count < 5; count += 1) breaker.recordFailure('a', { durationMs });
  for (const _again of ['once', 'again']) {
    advance(seconds - 0.001);
    expect(breaker.state('a')).toBe('open');
    advance(0.001);
    // The keys of a batch arrive at once: none of them may be postponed while the first one probes the cluster.
    expect([breaker.state('a'), breaker.state('a')]).toEqual(['closed', 'closed']);
    breaker.recordFailure('a', { durationMs });
  }
});

const responded = (breaker: Breaker, cluster: string, responseMs: number, times = 3) => {
  for (let count = 0; count < times; count += 1)
    breaker.recordSuccess(cluster, { responseMs, durationMs: 2 * responseMs });
};

it('a breaker throttles a slow cluster to a fifth of the time while another is fast', () => {
  const { breaker, advance } = setUp();
  responded(breaker, 'fast', 20);
  responded(breaker, 'slow', 1_500);
  expect([breaker.state('slow'), breaker.state('fast')]).toEqual(['throttled', 'closed']);
  advance(11.999);
  expect(breaker.state('slow')).toBe('throttled');
  advance(0.001);
  // A batch can have several of its keys at once.
  expect([breaker.state('slow'), breaker.state('slow')]).toEqual(['closed', 'closed']);
});

const [fast, slow, other] = [{ fast: 20 }, { slow: 1_500 }, { other: 2_000 }];
it.each<[why: string, responses: readonly Readonly<Record<string, number>>[]]>([
  ['after a single slow response', [fast, slow]],
  ['if all are slow, because then the function is slow', [other, other, slow, slow]],
  ['if no other is known to be faster', [slow, slow]],
  ['after its first fast response', [fast, slow, slow, { slow: 30 }]],
])('a breaker does not throttle a slow cluster %s', (_, responses) => {
  const { breaker, fail, advance } = setUp();
  fail(2, 'failing');
  for (const [cluster = '', responseMs = 0] of responses.flatMap(Object.entries)) {
    advance(12);
    responded(breaker, cluster, responseMs, 1);
  }
  expect(breaker.state('slow')).toBe('closed');
});

it('a breaker limits the first response of an unknown cluster to one second, and then throttles it', () => {
  const { breaker, advance } = setUp();
  expect(breaker.firstResponseTimeoutMs('slow')).toBeUndefined();
  responded(breaker, 'fast', 20);
  expect(breaker.firstResponseTimeoutMs('slow')).toBe(1_000);
  breaker.recordTimeout('slow', { durationMs: 1_000 });
  expect(breaker.state('slow')).toBe('throttled');
  advance(4);
  // The cluster may be called now. With a limit below its response time it would never succeed.
  expect([breaker.state('slow'), breaker.firstResponseTimeoutMs('slow')]).toEqual(['closed', undefined]);
  responded(breaker, 'slow', 1_500, 1);
  expect(breaker.state('slow')).toBe('throttled');
  advance(12);
  responded(breaker, 'slow', 30, 1);
  expect([breaker.state('slow'), breaker.firstResponseTimeoutMs('slow')]).toEqual(['closed', 1_000]);
});

it('a breaker throttles with jitter, so that not all instances call a slow cluster at once', () => {
  const { breaker, advance, chance } = setUp();
  responded(breaker, 'fast', 20);
  const around = (seconds: number) => {
    responded(breaker, 'slow', 1_500);
    advance(seconds - 0.001);
    const before = breaker.state('slow');
    advance(0.001);
    return [before, breaker.state('slow')];
  };
  chance.random = 0;
  expect(around(6)).toEqual(['throttled', 'closed']);
  chance.random = 1;
  expect(around(18)).toEqual(['throttled', 'closed']);
});

it('a breaker has no first-response limit for a cluster that failed before', () => {
  const { breaker, fail } = setUp();
  responded(breaker, 'fast', 20);
  fail(1);
  expect(breaker.firstResponseTimeoutMs('a')).toBeUndefined();
});

/** Runs batches with a key of one of `dead` clusters in each. Returns the seconds in which one of them was called. */
const lostSeconds = ({ breaker, advance }: ReturnType<typeof setUp>, dead: number, seconds: number) => {
  let lost = 0;
  for (let elapsed = 0, batch = 0; elapsed < seconds; batch += 1) {
    const cluster = `dead-${batch % dead}`;
    const isCalled = breaker.state(cluster) === 'closed';
    const took = isCalled ? 3 : 0.1;
    advance(took);
    elapsed += took;
    if (isCalled) {
      breaker.recordFailure(cluster, { durationMs: 3_000 });
      lost += 3;
    }
  }
  return lost;
};

it.each([1, 10, 100])('%i clusters that do not answer together take a fifth of the time', (dead) => {
  const fixture = setUp();
  lostSeconds(fixture, dead, 600);
  const share = lostSeconds(fixture, dead, 3_600) / 3_600;
  expect(share).toBeLessThan(0.21);
  // They are still called, so that a cluster that is back is noticed.
  expect(share).toBeGreaterThan(0.15);
});

it('clusters that are back are called at once, however long they were away', () => {
  const fixture = setUp();
  lostSeconds(fixture, 100, 3_600);
  fixture.advance(60);
  const closed = () =>
    Array.from({ length: 100 }, (_, index) => `dead-${index}`).filter((one) => fixture.breaker.state(one) === 'closed');
  expect(closed()).toHaveLength(100);
  for (const cluster of closed()) fixture.breaker.recordSuccess(cluster, { responseMs: 5, durationMs: 5 });
  expect(closed()).toHaveLength(100);
});

it.each<[doubt: string, raise: (breaker: Breaker) => void]>([
  ['one failure', (breaker) => breaker.recordFailure('healthy', { durationMs: 1 })],
  ['one slow response', (breaker) => breaker.recordSuccess('healthy', { responseMs: 600, durationMs: 600 })],
])('a cluster with %s is called while others have used up the time of the unreachable ones', (_, raise) => {
  const fixture = setUp();
  lostSeconds(fixture, 3, 600);
  raise(fixture.breaker);
  fixture.breaker.recordFailure('dead-0', { durationMs: 3_000 });
  expect([fixture.breaker.state('dead-1'), fixture.breaker.state('healthy')]).toEqual(['open', 'closed']);
});

it('keys of one batch that fail at the same time count once', () => {
  const { breaker, advance } = setUp();
  advance(3);
  for (let cluster = 0; cluster < 10; cluster += 1) breaker.recordFailure(`dead-${cluster}`, { durationMs: 3_000 });
  // Three of the fifteen seconds that one cluster may take at once.
  expect(breaker.state('dead-0')).toBe('closed');
});
