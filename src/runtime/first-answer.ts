// The first request of a key, which reads its object: how long its answer takes tells how the cluster is, and until it is there nothing
// was done. Later ones may have waited for webhooks of an object's kind.
import type { KubeClient } from '../kube/client/client.ts';
import { DeadlineError } from '../kube/client/errors.ts';

/** A client whose first request is timed. */
export type TimedClient = {
  readonly client: KubeClient;
  /** How long the first request took, once it ended. */
  first(): { readonly answerMs?: number };
  /** Whether the first request was given up for want of patience: what came of it says nothing of the object. */
  gaveUp(): boolean;
};

/** Times a client's first request. With `patienceMs` it is given up after so long, if it reads one object: a list may take its time. */
export function timeFirstAnswer(
  client: KubeClient,
  monotonicMs: () => number,
  { patienceMs }: { readonly patienceMs?: number | undefined } = {},
): TimedClient {
  let asked = false;
  let gaveUp = false;
  let first: { readonly answerMs?: number } = {};
  const timed: KubeClient = {
    ...client,
    request: async (request) => {
      if (asked) return await client.request(request);
      asked = true;
      const readsOne = request.method === 'GET' && request.query === undefined;
      const isHurried = readsOne && patienceMs !== undefined;
      const askedAt = monotonicMs();
      try {
        return await client.request(isHurried ? { ...request, timeoutSeconds: patienceMs / 1000 } : request);
      } catch (thrown) {
        gaveUp = isHurried && thrown instanceof DeadlineError;
        throw thrown;
      } finally {
        first = { answerMs: monotonicMs() - askedAt };
      }
    },
  };
  return { client: timed, first: () => first, gaveUp: () => gaveUp };
}
