// Only the wait beside a stream, and that it ends with it; what a watch does about silence is watch.test.ts.
import { expect, it } from 'vitest';
import { untilSilent } from '../../../src/kube/until-silent.ts';

it.each([
  ['ends', false],
  ['breaks', true],
])('no wait is left behind by a stream that %s', async (_how, breaks) => {
  const signals: AbortSignal[] = [];
  const wait = (_seconds: number, signal: AbortSignal): Promise<void> => {
    signals.push(signal);
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  async function* chunks() {
    yield Buffer.from('one');
    if (breaks) throw new Error('the connection is lost');
  }
  const stream = { headers: {}, close: () => undefined, [Symbol.asyncIterator]: chunks };
  const read = async () => {
    for await (const _chunk of untilSilent(stream, 70, wait)) expect(signals.length).toBeGreaterThan(0);
  };
  await read().catch(() => undefined);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});
