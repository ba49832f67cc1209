// A loop's client, which tells the loop's health what its events cannot: that something is being tried, and that a stream is
// open although nothing happens on it. A server ends every watch after a while, and the next one's first bookmark comes a
// minute later: two minutes without a frame are nothing unusual.
import type { KubeClient } from '../kube/client.ts';
import type { LoopHealth } from './health.ts';

/** Creates a client that reports every call as an attempt, and every stream that was opened. Closing it closes the client. */
export function observedClient(client: KubeClient, health: Pick<LoopHealth, 'attempted' | 'opened'>): KubeClient {
  return {
    request: (request) => {
      health.attempted();
      return client.request(request);
    },
    stream: async (request) => {
      health.attempted();
      const stream = await client.stream(request);
      health.opened();
      return stream;
    },
    close: client.close,
  };
}
