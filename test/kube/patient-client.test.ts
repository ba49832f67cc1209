// Only how often, and how far apart, a request comes again that was turned away with 429.
import { expect, it } from 'vitest';
import { createClient } from '../../src/kube/client/client.ts';
import { ApiError, isForbidden, isThrottled } from '../../src/kube/client/errors.ts';
import { patientClient } from '../../src/kube/patient-client.ts';

/** A client that is turned away so often, and then answered; and one that waits without waiting. */
function turnedAway(times: number, status = 429, retryAfterSeconds?: number) {
  const waited: number[] = [];
  let asked = 0;
  const client = patientClient(
    {
      ...createClient({ server: new URL('http://127.0.0.1:9') }),
      request: async ({ method, path }) => {
        asked += 1;
        if (asked <= times) throw new ApiError(`${method} ${path}`, status, {}, retryAfterSeconds);
        return { status: 200, headers: {}, body: 'done' };
      },
    },
    {
      wait: async (seconds, signal) => {
        signal.throwIfAborted();
        waited.push(seconds);
      },
    },
  );
  return {
    waited,
    asked: () => asked,
    ask: (signal?: AbortSignal) =>
      client.request({ method: 'GET', path: '/api', ...(signal === undefined ? {} : { signal }) }),
  };
}

it('comes again when the server has time, as late as it asks', async () => {
  const { ask, waited } = turnedAway(3, 429, 2);
  expect((await ask()).body).toBe('done');
  expect(waited).toEqual([2, 2, 2]);
});

it('waits a second where nothing is asked, and ten where more is', async () => {
  const unasked = turnedAway(1);
  await unasked.ask();
  const long = turnedAway(1, 429, 3_600);
  await long.ask();
  expect([...unasked.waited, ...long.waited]).toEqual([1, 10]);
});

it('is not patient for ever', async () => {
  const { ask, asked } = turnedAway(1_000);
  await expect(ask()).rejects.toSatisfy(isThrottled);
  expect(asked()).toBe(12);
});

it('takes any other refusal as it is', async () => {
  const { ask, asked } = turnedAway(1, 403);
  await expect(ask()).rejects.toSatisfy(isForbidden);
  expect(asked()).toBe(1);
});

it('stops waiting when it is told to', async () => {
  await expect(turnedAway(5).ask(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
});
