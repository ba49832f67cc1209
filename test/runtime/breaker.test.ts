// Only whether a cluster is tried; what follows for its keys is batch.test.ts.
import { describe, expect, it } from 'vitest';
import { createBreaker } from '../../src/runtime/breaker.ts';

function setUp() {
  let clock = 0;
  const breaker = createBreaker(() => clock);
  const fail = (times: number, cluster = 'a') => {
    for (let count = 0; count < times; count += 1) breaker.unreachable(cluster);
  };
  const advance = (seconds: number) => {
    clock += seconds * 1_000;
  };
  return { breaker, fail, advance };
}

describe('a breaker', () => {
  it('opens at the fifth failure in a row, not before', () => {
    const { breaker, fail } = setUp();
    fail(4);
    expect(breaker.mayTry('a')).toBe(true);
    fail(1);
    expect(breaker.mayTry('a')).toBe(false);
  });

  it('counts failures in a row only', () => {
    const { breaker, fail } = setUp();
    fail(4);
    breaker.reached('a');
    fail(4);
    expect(breaker.mayTry('a')).toBe(true);
  });

  it('lets one through every ten seconds while it is open', () => {
    const { breaker, fail, advance } = setUp();
    fail(5);
    advance(9.999);
    expect(breaker.mayTry('a')).toBe(false);
    advance(0.001);
    expect([breaker.mayTry('a'), breaker.mayTry('a')]).toEqual([true, false]);
    breaker.unreachable('a');
    advance(9);
    expect(breaker.mayTry('a')).toBe(false);
    advance(1);
    expect(breaker.mayTry('a')).toBe(true);
  });

  it('closes when the probe is answered', () => {
    const { breaker, fail, advance } = setUp();
    fail(7);
    advance(10);
    expect(breaker.mayTry('a')).toBe(true);
    breaker.reached('a');
    expect([breaker.mayTry('a'), breaker.mayTry('a')]).toEqual([true, true]);
  });

  it('of one dead cluster leaves the others alone', () => {
    const { breaker, fail } = setUp();
    fail(5, 'dead');
    expect(breaker.mayTry('dead')).toBe(false);
    expect(breaker.mayTry('alive')).toBe(true);
  });
});
