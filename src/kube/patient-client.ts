// A client that comes again when the API server has too much to do (429): for an operator's commands, which nothing else would bring
// again. A request that was turned away so has done nothing, so repeating it is safe whatever it is. Functions and watchers
// have a way of their own: they put the key off, or back off.
import type { KubeClient } from './client/client.ts';
import { isThrottled } from './client/errors.ts';
import { type Wait, waitReally } from '../core/time.ts';

/** A server whose storage of a kind is being set up anew says no for some seconds. */
const tries = 12;
const secondsAtMost = 10;

/** Makes a client patient. Each request is tried a dozen times, as far apart as the server asks, before its 429 is thrown. */
export function patientClient(client: KubeClient, { wait = waitReally }: { readonly wait?: Wait } = {}): KubeClient {
  return {
    ...client,
    request: async (request) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await client.request(request);
        } catch (error) {
          if (!isThrottled(error) || attempt === tries) throw error;
          const seconds = Math.min(error.retryAfterSeconds ?? 1, secondsAtMost);
          await wait(seconds, request.signal ?? new AbortController().signal);
        }
      }
    },
  };
}
