// Only the timer of withIdleTimeout. Excluded: the reaction of a watch to the idle timeout (watch-reconnect.test.ts).
import { expect, it } from 'vitest';
import { withIdleTimeout } from '../../../src/kube/watch/watch.ts';

it.each([
  ['ends', false],
  ['fails', true],
])('withIdleTimeout leaves no timer behind when the stream %s', async (_how, fails) => {
  const signals: AbortSignal[] = [];
  const wait = (_seconds: number, signal: AbortSignal): Promise<void> => {
    signals.push(signal);
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  async function* chunks() {
    yield Buffer.from('one');
    if (fails) throw new Error('the connection is lost');
  }
  const stream = { headers: {}, close: () => undefined, [Symbol.asyncIterator]: chunks };
  const read = async () => {
    for await (const _chunk of withIdleTimeout(stream, { seconds: 70, wait, idleSeconds: () => 0 }))
      expect(signals.length).toBeGreaterThan(0);
  };
  await read().catch(() => undefined);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

it('withIdleTimeout gives up a stream whose blank lines come faster than its timer', async () => {
  let chunks = 0;
  let closed = false;
  const stream = {
    headers: {},
    close: () => {
      closed = true;
    },
    [Symbol.asyncIterator]: async function* () {
      for (; chunks < 1_000; chunks += 1) yield Buffer.from('\n');
    },
  };
  // The timer never ends before the next chunk.
  const wait = () => new Promise<void>(() => undefined);
  const read = async () => {
    for await (const chunk of withIdleTimeout(stream, { seconds: 70, wait, idleSeconds: () => chunks }))
      expect(String(chunk)).toBe('\n');
  };
  await expect(read()).rejects.toThrow('no event for 70 s');
  expect([closed, chunks < 100]).toEqual([true, true]);
});

it('withIdleTimeout never waits a negative time, if the timeout passes between its check and its wait', async () => {
  const waits: number[] = [];
  const wait = (seconds: number): Promise<void> => {
    waits.push(seconds);
    return new Promise(() => undefined);
  };
  const stream = { headers: {}, close: () => undefined, [Symbol.asyncIterator]: oneChunk };
  async function* oneChunk() {
    yield Buffer.from('one');
  }
  // The first wait, the check after the chunk, and the second wait.
  const idle = [0, 69.999, 70.001];
  for await (const chunk of withIdleTimeout(stream, { seconds: 70, wait, idleSeconds: () => idle.shift() ?? 70 }))
    expect(String(chunk)).toBe('one');
  expect(waits).toEqual([70, 0]);
});
