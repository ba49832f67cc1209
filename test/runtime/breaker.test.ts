// Only whether a cluster is tried; what follows for its keys is batch.test.ts.
import { describe, expect, it } from 'vitest';
import { type Breaker, createBreaker } from '../../src/runtime/breaker.ts';

function setUp() {
  let clock = 0;
  const chance = { random: 0.5 };
  const breaker = createBreaker(() => clock, { random: () => chance.random });
  const fail = (times: number, cluster = 'a') => {
    for (let count = 0; count < times; count += 1) breaker.unreachable(cluster, { wholeMs: 1 });
  };
  const advance = (seconds: number) => {
    clock += seconds * 1_000;
  };
  return { breaker, fail, advance, chance };
}

describe('a breaker', () => {
  it('opens at the fifth failure in a row, not before', () => {
    const { breaker, fail } = setUp();
    fail(4);
    expect(breaker.advise('a')).toBe('try');
    fail(1);
    expect(breaker.advise('a')).toBe('unreachable');
  });

  it('counts failures in a row only', () => {
    const { breaker, fail } = setUp();
    fail(4);
    breaker.reached('a', { answerMs: 1, wholeMs: 1 });
    fail(4);
    expect(breaker.advise('a')).toBe('try');
  });

  it('is tried again ten seconds after its last failure, by everybody until the next one', () => {
    const { breaker, fail, advance } = setUp();
    fail(5);
    advance(9.999);
    expect(breaker.advise('a')).toBe('unreachable');
    advance(0.001);
    // The keys of a batch come at once: those of a cluster that is back must not be put off for the first one's sake.
    expect([breaker.advise('a'), breaker.advise('a')]).toEqual(['try', 'try']);
    breaker.unreachable('a', { wholeMs: 1 });
    advance(9);
    expect(breaker.advise('a')).toBe('unreachable');
    advance(1);
    expect(breaker.advise('a')).toBe('try');
  });

  it('closes when somebody is answered', () => {
    const { breaker, fail, advance } = setUp();
    fail(7);
    advance(10);
    expect(breaker.advise('a')).toBe('try');
    breaker.reached('a', { answerMs: 1, wholeMs: 1 });
    expect([breaker.advise('a'), breaker.advise('a')]).toEqual(['try', 'try']);
  });

  it('of one dead cluster leaves the others alone', () => {
    const { breaker, fail } = setUp();
    fail(5, 'dead');
    expect(breaker.advise('dead')).toBe('unreachable');
    expect(breaker.advise('alive')).toBe('try');
  });

  it('of a cluster whose silence costs more than those ten seconds asks it the less often, so that the others have four times as much', () => {
    const { breaker, advance } = setUp();
    for (let count = 0; count < 5; count += 1) breaker.unreachable('a', { wholeMs: 9_000 });
    advance(35.999);
    expect(breaker.advise('a')).toBe('unreachable');
    advance(0.001);
    expect(breaker.advise('a')).toBe('try');
  });
});

describe('a breaker, of a cluster that answers slowly', () => {
  const answered = (breaker: Breaker, cluster: string, answerMs: number, times = 3) => {
    for (let count = 0; count < times; count += 1) breaker.reached(cluster, { answerMs, wholeMs: 2 * answerMs });
  };

  it('gives it a fifth of the time while another is fast', () => {
    const { breaker, advance } = setUp();
    answered(breaker, 'fast', 20);
    answered(breaker, 'slow', 1_500);
    expect([breaker.advise('slow'), breaker.advise('fast')]).toEqual(['slow', 'try']);
    advance(11.999);
    expect(breaker.advise('slow')).toBe('slow');
    advance(0.001);
    // A batch may have several of its keys, at once.
    expect([breaker.advise('slow'), breaker.advise('slow')]).toEqual(['try', 'try']);
  });

  it('does not take one slow answer for a slow cluster', () => {
    const { breaker } = setUp();
    answered(breaker, 'fast', 20);
    answered(breaker, 'slow', 1_500, 1);
    expect(breaker.advise('slow')).toBe('try');
  });

  it('holds nothing against it when all are slow: that is the function itself', () => {
    const { breaker } = setUp();
    answered(breaker, 'one', 1_500);
    answered(breaker, 'two', 2_000);
    expect([breaker.advise('one'), breaker.advise('two')]).toEqual(['try', 'try']);
  });

  it('holds nothing against it for want of another that is known to be faster', () => {
    const { breaker, fail } = setUp();
    fail(2, 'other');
    answered(breaker, 'slow', 1_500);
    expect(breaker.advise('slow')).toBe('try');
  });

  it('forgets it at the first fast answer', () => {
    const { breaker, advance } = setUp();
    answered(breaker, 'fast', 20);
    answered(breaker, 'slow', 1_500);
    advance(12);
    answered(breaker, 'slow', 30, 1);
    expect(breaker.advise('slow')).toBe('try');
  });

  it('does not await its first answer for more than a second, and then gives it a fifth of the time', () => {
    const { breaker, advance } = setUp();
    expect(breaker.patienceMs('slow')).toBeUndefined();
    answered(breaker, 'fast', 20);
    expect(breaker.patienceMs('slow')).toBe(1_000);
    breaker.gaveUp('slow', { wholeMs: 1_000 });
    expect(breaker.advise('slow')).toBe('slow');
    advance(4);
    // Its turn now: with less patience than its answers take it would never get one.
    expect([breaker.advise('slow'), breaker.patienceMs('slow')]).toEqual(['try', undefined]);
    answered(breaker, 'slow', 1_500, 1);
    expect(breaker.advise('slow')).toBe('slow');
    advance(12);
    answered(breaker, 'slow', 30, 1);
    expect([breaker.advise('slow'), breaker.patienceMs('slow')]).toEqual(['try', 1_000]);
  });

  it('gives it its turn earlier or later by chance, so that not all instances do at once', () => {
    const { breaker, advance, chance } = setUp();
    answered(breaker, 'fast', 20);
    const turn = (seconds: number) => {
      answered(breaker, 'slow', 1_500);
      advance(seconds - 0.001);
      const before = breaker.advise('slow');
      advance(0.001);
      return [before, breaker.advise('slow')];
    };
    chance.random = 0;
    expect(turn(6)).toEqual(['slow', 'try']);
    chance.random = 1;
    expect(turn(18)).toEqual(['slow', 'try']);
  });

  it('awaits who may be unreachable: that is another finding', () => {
    const { breaker, fail } = setUp();
    answered(breaker, 'fast', 20);
    fail(1);
    expect(breaker.patienceMs('a')).toBeUndefined();
  });
});
