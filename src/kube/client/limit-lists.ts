// Limits the pages of lists that a process with many clusters reads at once, because a page is held in memory while it
// is parsed. A cluster that does not respond must not use up the slots of the others: the slots of the process are only
// for clusters that responded to their last request for a page, or before their first page to any other request. Any
// other cluster has only its own slots.
import { isPage, type KubeClient, type KubeRequest } from './client.ts';
import { ApiError } from './errors.ts';

/** The slots of one process. */
export type ListLimiter = {
  /** Returns a client of one cluster whose pages are limited. Closing it closes the given one. */
  limit(client: KubeClient): KubeClient;
};

/** A semaphore. Callers are served in the order in which they came. */
function createSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    async take(signal: AbortSignal | undefined): Promise<void> {
      if (free > 0) {
        free -= 1;
        return;
      }
      await new Promise<void>((resolve, reject) => {
        const grant = () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        };
        const abort = () => {
          waiting.splice(waiting.indexOf(grant), 1);
          reject(signal?.reason);
        };
        if (signal?.aborted === true) return reject(signal.reason);
        signal?.addEventListener('abort', abort, { once: true });
        waiting.push(grant);
      });
    },
    give(): void {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}

/**
 * Creates the limiter of a process.
 * @param pages the number of pages that all clusters together read at once
 * @param pagesOfCluster the number of pages that one cluster reads at once
 */
export function createListLimiter({
  pages = 16,
  pagesOfCluster = 4,
}: {
  readonly pages?: number;
  readonly pagesOfCluster?: number;
} = {}): ListLimiter {
  const shared = createSlots(pages);
  return {
    limit: (client) => {
      const own = createSlots(pagesOfCluster);
      /** Undefined before the first response. */
      let isResponding: boolean | undefined;

      async function readPage(request: KubeRequest) {
        const held: (typeof own)[] = [];
        const take = async (slots: typeof own) => {
          await slots.take(request.signal);
          held.push(slots);
        };
        try {
          request.onQueued?.(true);
          try {
            await take(own);
            // The cluster may have responded to another page in the meantime.
            if (isResponding === true) await take(shared);
          } finally {
            request.onQueued?.(false);
          }
          const response = await client.request(request);
          isResponding = true;
          return response;
        } catch (error) {
          if (request.signal?.aborted !== true) isResponding = error instanceof ApiError;
          throw error;
        } finally {
          for (const slots of held) slots.give();
        }
      }

      return {
        ...client,
        request: async (request) => {
          if (isPage(request)) return await readPage(request);
          const response = await client.request(request);
          isResponding ??= true;
          return response;
        },
      };
    },
  };
}
