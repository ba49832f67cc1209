// The token limiter by itself, on a clock that is a number. How keys wait for it is forwarder-rate-limit.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRateLimiter } from '../../src/forwarding/rate-limiter.ts';

it('RateLimiter.free is a burst at first, then one token after each interval', () => {
  const limiter = createRateLimiter({ perSecond: 2, burst: 3 });
  expect(limiter.free(0)).toBe(3);
  limiter.spend(3, 0);
  expect([limiter.free(0), limiter.free(499), limiter.free(500), limiter.free(999)]).toEqual([0, 0, 1, 1]);
  expect([limiter.freeAt(1, 0), limiter.freeAt(2, 0), limiter.freeAt(3, 0)]).toEqual([500, 1000, 1500]);
});

it('RateLimiter.freeAt for more than a burst is the time at which the limiter is full', () => {
  const limiter = createRateLimiter({ perSecond: 1, burst: 3 });
  limiter.spend(4, 0);
  expect([limiter.free(0), limiter.freeAt(10, 0)]).toEqual([0, 3000]);
});

it('RateLimiter.freeAt is at most the fill time away after the clock was set back by an hour', () => {
  const limiter = createRateLimiter({ perSecond: 1, burst: 3 });
  limiter.spend(3, 3_600_000);
  expect(limiter.freeAt(3, 0)).toBe(3000);
});

it('RateLimiter allows a burst and the rate, never more, and no wait is longer than the tokens need', () => {
  const rateLimits = fc.record({
    perSecond: fc.integer({ min: 1, max: 3000 }),
    burst: fc.integer({ min: 1, max: 3000 }),
  });
  const requests = fc.array(
    fc.record({ tokens: fc.integer({ min: 1, max: 50 }), idleMs: fc.constantFrom(0, 0, 0, 7) }),
    { minLength: 1, maxLength: 200 },
  );
  fc.assert(
    fc.property(rateLimits, requests, ({ perSecond, burst }, wanted) => {
      const limiter = createRateLimiter({ perSecond, burst });
      let nowMs = 1_764_000_000_000;
      const beganMs = nowMs;
      let spent = 0;
      for (const { tokens, idleMs } of wanted) {
        const count = Math.min(tokens, burst);
        const waitedFrom = nowMs;
        nowMs = Math.max(nowMs + idleMs, limiter.freeAt(count, nowMs));
        expect(limiter.free(nowMs)).toBeGreaterThanOrEqual(count);
        expect(nowMs - waitedFrom - idleMs).toBeLessThanOrEqual((count * 1000) / perSecond + 1);
        limiter.spend(count, nowMs);
        spent += count;
        expect(spent).toBeLessThanOrEqual(burst + ((nowMs - beganMs + 1) * perSecond) / 1000);
      }
    }),
  );
});
