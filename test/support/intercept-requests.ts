// A client whose requests a test observes, changes the cluster before, or fails.
import type { KubeClient, KubeRequest } from '../../src/kube/client/client.ts';

/** Runs before each request. If it throws, the request is not sent and fails with that error. */
export type BeforeRequest = (request: KubeRequest) => Promise<void> | void;

/** Returns the client with an action before each of its requests. */
export function interceptRequests(client: KubeClient, before: BeforeRequest): KubeClient {
  return {
    ...client,
    request: async (request) => {
      await before(request);
      return await client.request(request);
    },
  };
}
