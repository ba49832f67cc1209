// Only the retries of retryingClient: their number and their delays.
import { expect, it } from 'vitest';
import { createClient } from '../../../src/kube/client/client.ts';
import { ApiError, isForbidden, isThrottled } from '../../../src/kube/client/errors.ts';
import { retryingClient } from '../../../src/kube/client/retrying-client.ts';

/** Creates a retrying client whose first requests fail, and whose delays take no time. */
function createFixture(times: number, status = 429, retryAfterSeconds?: number) {
  const delays: number[] = [];
  let requests = 0;
  const client = retryingClient(
    {
      ...createClient({ server: new URL('http://127.0.0.1:9') }),
      request: async ({ method, path }) => {
        requests += 1;
        if (requests <= times) throw new ApiError(`${method} ${path}`, status, {}, retryAfterSeconds);
        return { status: 200, headers: {}, body: 'done' };
      },
    },
    {
      wait: async (seconds, signal) => {
        signal.throwIfAborted();
        delays.push(seconds);
      },
    },
  );
  return {
    delays,
    requests: () => requests,
    request: (signal?: AbortSignal) =>
      client.request({ method: 'GET', path: '/api', ...(signal === undefined ? {} : { signal }) }),
  };
}

it('retryingClient retries after a 429 with the server’s Retry-After', async () => {
  const { request, delays } = createFixture(3, 429, 2);
  expect((await request()).body).toBe('done');
  expect(delays).toEqual([2, 2, 2]);
});

it('retryingClient waits 1 s without Retry-After, and at most 10 s', async () => {
  const withoutHeader = createFixture(1);
  await withoutHeader.request();
  const withLongDelay = createFixture(1, 429, 3_600);
  await withLongDelay.request();
  expect([...withoutHeader.delays, ...withLongDelay.delays]).toEqual([1, 10]);
});

it.each([0, -7])('retryingClient waits 1 s after a 429 with Retry-After %i', async (seconds) => {
  const { request, delays } = createFixture(2, 429, seconds);
  await request();
  expect(delays).toEqual([1, 1]);
});

it('retryingClient throws the 429 after 12 tries', async () => {
  const { request, requests } = createFixture(1_000);
  await expect(request()).rejects.toSatisfy(isThrottled);
  expect(requests()).toBe(12);
});

it('retryingClient does not retry other errors', async () => {
  const { request, requests } = createFixture(1, 403);
  await expect(request()).rejects.toSatisfy(isForbidden);
  expect(requests()).toBe(1);
});

it('retryingClient stops waiting when the signal aborts', async () => {
  await expect(createFixture(5).request(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
});
