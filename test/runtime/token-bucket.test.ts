// Only what a bucket lets through by the numbers of a clock; what waits for it meanwhile is forwarder-pace.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createTokenBucket } from '../../src/runtime/token-bucket.ts';

it('a burst is free at once, and then one token each time that one has come', () => {
  const bucket = createTokenBucket({ perSecond: 2, burst: 3 });
  expect(bucket.free(0)).toBe(3);
  bucket.spend(3, 0);
  expect([bucket.free(0), bucket.free(499), bucket.free(500), bucket.free(999)]).toEqual([0, 0, 1, 1]);
  expect([bucket.freeAt(1, 0), bucket.freeAt(2, 0), bucket.freeAt(3, 0)]).toEqual([500, 1000, 1500]);
});

it('more than a burst is never there, however long nothing was spent', () => {
  const bucket = createTokenBucket({ perSecond: 100, burst: 3 });
  bucket.spend(3, 0);
  expect(bucket.free(3_600_000)).toBe(3);
  bucket.spend(2, 3_600_000);
  expect(bucket.free(3_600_000)).toBe(1);
});

it('who asks for more than a burst is told when the bucket is full', () => {
  const bucket = createTokenBucket({ perSecond: 1, burst: 3 });
  bucket.spend(3, 0);
  expect(bucket.freeAt(10, 0)).toBe(3000);
});

it('a clock that was set back by an hour keeps nobody waiting for longer than a bucket takes to fill', () => {
  const bucket = createTokenBucket({ perSecond: 1, burst: 3 });
  bucket.spend(3, 3_600_000);
  expect(bucket.freeAt(3, 0)).toBe(3000);
});

it('what is free at a time is there then, however many digits the time has', () => {
  const bucket = createTokenBucket({ perSecond: 2509, burst: 3 });
  let nowMs = 1_764_000_000_000;
  for (const tokens of [1, 2, 1, 3, 2, 3, 3]) {
    nowMs = Math.max(nowMs, bucket.freeAt(tokens, nowMs));
    expect(bucket.free(nowMs)).toBeGreaterThanOrEqual(tokens);
    bucket.spend(tokens, nowMs);
  }
});

it('what is spent as soon as it is free is never more than a burst and the rate, and never a second less', () => {
  const pace = fc.record({ perSecond: fc.integer({ min: 1, max: 3000 }), burst: fc.integer({ min: 1, max: 3000 }) });
  const asked = fc.array(fc.record({ tokens: fc.integer({ min: 1, max: 50 }), idleMs: fc.constantFrom(0, 0, 0, 7) }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(pace, asked, ({ perSecond, burst }, wishes) => {
      const bucket = createTokenBucket({ perSecond, burst });
      let nowMs = 1_764_000_000_000;
      const beganMs = nowMs;
      let spent = 0;
      for (const { tokens, idleMs } of wishes) {
        const want = Math.min(tokens, burst);
        const waitedFrom = nowMs;
        nowMs = Math.max(nowMs + idleMs, bucket.freeAt(want, nowMs));
        expect(bucket.free(nowMs)).toBeGreaterThanOrEqual(want);
        expect(nowMs - waitedFrom - idleMs).toBeLessThanOrEqual((want * 1000) / perSecond + 1);
        bucket.spend(want, nowMs);
        spent += want;
        expect(spent).toBeLessThanOrEqual(burst + ((nowMs - beganMs + 1) * perSecond) / 1000);
      }
    }),
  );
});
