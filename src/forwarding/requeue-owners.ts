// A list shows the objects that exist, not the ones that were deleted before it. An owner whose child was deleted while
// the watcher was down, or made and deleted while a watch had lost its history, is therefore found only by requeuing
// every object that could own one. The watch loop of the children requests this, and the watch loop of their owners
// sends the keys.
import { type HeldWatermark, holdLowWatermark, type PendingAcks } from './acknowledgements.ts';

/**
 * A watcher that starts lists owners and children at the same time. If their first pages arrive within this time, one
 * key of each owner is enough: it passes two queues and two functions before its reconcile. The resync finds a child
 * that is deleted after a reconcile within this time.
 */
const simultaneousMs = 1_000;

/** Sends all objects of a collection on request, once the collection is listed. */
export type OwnerRequeues = {
  /**
   * Requests all objects, now or as soon as they are listed. `acks` is held at its current version until SQS has
   * accepted their keys.
   * @param missedUntilMs when the first page arrived of the list that may have missed deletions, in milliseconds. A
   * list that sent all objects from then on, or another request, makes this one unnecessary: a kind that is watched in
   * some namespaces has a list in each. Absent: they are sent in any case.
   */
  request(controller: string, acks: PendingAcks, missedUntilMs?: number): void;
  /**
   * Reports that the collection is listed.
   * @param sentSinceMs when the first page arrived, if this list sent all of its objects at low priority
   */
  complete(sentSinceMs?: number): void;
};

/** Creates the requeues of one collection. `send` sends all of its objects for a controller. */
export function createOwnerRequeues(
  send: (controller: string, acks: PendingAcks) => void,
  now: () => number,
): OwnerRequeues {
  let listed = false;
  /** When the first page arrived of the last list that sent all objects. */
  let inBulkSinceMs = Number.NEGATIVE_INFINITY;
  /** The last request of a controller that sent all objects, and when. */
  const sent = new Map<string, { readonly atMs: number; readonly held: HeldWatermark }>();
  let waiting: (() => void)[] = [];

  return {
    request: (controller, acks, missedUntilMs = Number.POSITIVE_INFINITY) => {
      const held = holdLowWatermark(acks);
      const isSent = (sinceMs: number) => sinceMs + simultaneousMs >= missedUntilMs;
      const sendUnlessSent = () => {
        const last = sent.get(controller);
        // A list that sent all objects has no checkpoint yet: a watcher that ends before SQS has them sends them again.
        if (isSent(inBulkSinceMs)) return;
        if (last !== undefined && isSent(last.atMs)) return last.held.join(held);
        sent.set(controller, { atMs: now(), held });
        send(controller, held);
      };
      const run = () => {
        sendUnlessSent();
        held.release();
      };
      if (listed) run();
      else waiting.push(run);
    },
    complete: (sentSinceMs) => {
      listed = true;
      if (sentSinceMs !== undefined) inBulkSinceMs = sentSinceMs;
      const requests = waiting;
      waiting = [];
      for (const run of requests) run();
    },
  };
}
