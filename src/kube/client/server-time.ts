// The time by the clock of the API server, with which the times in its objects are compared. The clocks of watchers,
// functions and operators may be hours off.
import type { KubeClient } from './client.ts';

/**
 * Creates a client that reports the time of each response, in milliseconds since 1970 (RFC 9110 §6.6.1, Date). It is
 * undefined if the response has none, as behind some proxies. Streams report none.
 */
export function withServerTime(client: KubeClient, onTime: (ms: number | undefined) => void): KubeClient {
  return {
    ...client,
    request: async (request) => {
      const response = await client.request(request);
      const dateMs = Date.parse(response.headers.date ?? '');
      onTime(Number.isNaN(dateMs) ? undefined : dateMs);
      return response;
    },
  };
}
