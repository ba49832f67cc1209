// A list shows the objects that exist, not the ones that were deleted before it. An owner whose child was deleted while
// the watcher was down is therefore found only by requeuing every object that could own one. The watch loop of the
// children requests this, and the watch loop of their owners sends the keys.
import { holdLowWatermark, type PendingAcks } from './acknowledgements.ts';

/** Sends all objects of a collection on request, once the collection is listed. */
export type OwnerRequeues = {
  /**
   * Requests all objects, now or as soon as they are listed. `acks` is held at its current version until SQS has
   * accepted their keys.
   * @param sinceMs when the list began that may have missed deletions. A list that began later and sent all its objects
   * makes the request unnecessary. Absent: no earlier list is enough.
   */
  request(controller: string, acks: PendingAcks, sinceMs?: number): void;
  /** Reports that the collection is listed. `inBulk`: this list sent all of its objects already. */
  complete(inBulk: boolean): void;
  /** Reports that the collection is no longer known: the cluster was restored. */
  reset(): void;
};

/** Creates the requeues of one collection. `send` sends all of its objects for a controller. */
export function createOwnerRequeues(
  send: (controller: string, acks: PendingAcks) => void,
  { now }: { readonly now: () => number },
): OwnerRequeues {
  let listed = false;
  let inBulkAt = Number.NEGATIVE_INFINITY;
  let waiting: (() => void)[] = [];

  return {
    request: (controller, acks, sinceMs = Number.POSITIVE_INFINITY) => {
      const sendUnlessSent = (held: PendingAcks) => {
        if (inBulkAt < sinceMs) send(controller, held);
      };
      if (listed) {
        sendUnlessSent(acks);
        return;
      }
      const held = holdLowWatermark(acks);
      waiting.push(() => {
        sendUnlessSent(held);
        held.release();
      });
    },
    complete: (inBulk) => {
      listed = true;
      if (inBulk) inBulkAt = now();
      const requests = waiting;
      waiting = [];
      for (const run of requests) run();
    },
    reset: () => {
      listed = false;
      inBulkAt = Number.NEGATIVE_INFINITY;
    },
  };
}
