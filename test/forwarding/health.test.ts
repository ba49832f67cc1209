// Only what the probes are made of: when a watcher is ready, when it is dead, and that an outage is neither its end nor its
// readiness.
import { describe, expect, it } from 'vitest';
import { ApiError, ConnectError } from '../../src/kube/client/errors.ts';
import { createHealth } from '../../src/watcher/health.ts';

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
const notFound = new ApiError('GET /x', 404, undefined);
const forbidden = new ApiError('GET /x', 403, undefined);

describe('ready', () => {
  it('a watcher is ready while every kind had a frame within 90 s', () => {
    const { loops, at } = create('a', 'b');
    expect(at(0).ready).toBe(false);
    loops[0]?.heard();
    expect(at(0).ready).toBe(false);
    loops[1]?.heard();
    expect(at(90).ready).toBe(true);
    expect(at(91).ready).toBe(false);
    loops[0]?.heard();
    expect(at(91).ready).toBe(false);
    loops[1]?.heard();
    expect(at(91).ready).toBe(true);
  });

  it.each([notFound, forbidden])('a kind that is answered with %s harms no other', (error) => {
    const { loops, at } = create('a', 'b');
    loops[0]?.heard();
    loops[1]?.trouble(error);
    expect(at(0).ready).toBe(true);
  });

  it('a watcher that is served nothing at all is not ready', () => {
    const { loops, at } = create('a');
    loops[0]?.trouble(forbidden);
    expect(at(0).ready).toBe(false);
  });

  it('a kind that is served again counts again', () => {
    const { loops, at, health } = create('a', 'b');
    loops[0]?.heard();
    loops[1]?.trouble(notFound);
    loops[1]?.heard();
    expect(health.report()[1]).toMatchObject({ served: true });
    expect(health.report()[1]).not.toHaveProperty('problem');
    at(91);
    loops[0]?.heard();
    expect(at(91).ready).toBe(false);
  });
});

describe('alive', () => {
  it('an outage of hours is not the end of a watcher that tries', () => {
    const { loops, at } = create('a');
    for (let seconds = 0; seconds < 7200; seconds += 60) {
      at(seconds);
      loops[0]?.trouble(new ConnectError('nobody there'));
      expect(at(seconds + 59)).toEqual({ ready: false, alive: true });
    }
  });

  it('a loop with neither frame nor attempt for 2 min is dead, whatever the others do', () => {
    const { loops, at } = create('a', 'b');
    at(120);
    loops[0]?.heard();
    expect(at(120).alive).toBe(true);
    expect(at(121).alive).toBe(false);
    loops[1]?.restarted();
    expect(at(121).alive).toBe(true);
  });
});

it('frames are counted from the kind that has heard nothing for the longest, and not from one that is not served', () => {
  const { loops, at, health } = create('a', 'b', 'c');
  expect(health.framesAt()).toBeUndefined();
  at(10);
  loops[0]?.heard();
  loops[2]?.trouble(notFound);
  expect(health.framesAt()).toBeUndefined();
  at(30);
  loops[1]?.heard();
  expect(health.framesAt()).toBe(10_000);
  at(50);
  loops[0]?.heard();
  expect(health.framesAt()).toBe(30_000);
});

it('a problem is new once, until something was heard', () => {
  const { loops, health } = create('a');
  const [loop] = loops;
  expect([loop?.isNew('x'), loop?.isNew('x'), loop?.isNew('y')]).toEqual([true, false, true]);
  loop?.heard();
  expect(loop?.isNew('y')).toBe(true);
  loop?.trouble(new Error('token=abcdef'));
  expect(health.report()[0]?.problem).toBe('token=[redacted]');
});
