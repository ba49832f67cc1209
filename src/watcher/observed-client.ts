// A loop's client, which tells the loop's health what its events cannot: that something is being tried, and that a stream is
// open although nothing happens on it. kube-apiserver sends a last bookmark before it ends a watch for its age [seen on 1.36],
// but one that is rolled, or a proxy, ends it at any time, and the next one's first bookmark is a minute away again.
import type { KubeClient } from '../kube/client/client.ts';
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
    webSocket: client.webSocket,
    close: client.close,
  };
}
