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

it.each<[string, number | undefined, number]>([
  ['2', 2, 2],
  ['more than 10 s', 3_600, 10],
  ['0', 0, 1],
  ['-7', -7, 1],
  ['nothing', undefined, 1],
])('retryingClient retries after each 429 with a Retry-After of %s', async (_, retryAfterSeconds, waited) => {
  const { request, delays } = createFixture(3, 429, retryAfterSeconds);
  expect((await request()).body).toBe('done');
  expect(delays).toEqual([waited, waited, waited]);
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
