// A client that retries when the API server is overloaded (429). It is for CLI commands, which have no other retry. A
// request that was rejected with 429 had no effect, so a retry is safe for every method. Functions postpone the key
// instead, and the watcher backs off.
import { sleep, type Wait } from '../../core/time.ts';
import type { KubeClient } from './client.ts';
import { isThrottled } from './errors.ts';

/** A server that reinitializes the storage of a kind returns 429 for some seconds. */
const maxTries = 12;
/** A server may request no delay, or a negative one. */
const minDelaySeconds = 1;
const maxDelaySeconds = 10;

/**
 * Wraps a client with retries. Each request is tried up to `maxTries` times, with the server's Retry-After
 * between the tries.
 */
export function retryingClient(client: KubeClient, { wait = sleep }: { readonly wait?: Wait } = {}): KubeClient {
  return {
    ...client,
    request: async (request) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await client.request(request);
        } catch (error) {
          if (!isThrottled(error) || attempt === maxTries) throw error;
          const seconds = Math.min(Math.max(error.retryAfterSeconds ?? 1, minDelaySeconds), maxDelaySeconds);
          await wait(seconds, request.signal ?? new AbortController().signal);
        }
      }
    },
  };
}
