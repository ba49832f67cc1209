// Puts each key from the watch loops on the right queue. A change goes directly to its controller's FIFO queue. A
// low-priority key, one of a whole collection, goes through the timers queue, spread over time. Each queue has its own
// work queue and its own sender (queue-sender.ts), so a queue that is missing or throttled delays only its own keys,
// and low-priority keys never delay a change.
import { controllerQueue, timersQueue } from '../core/names.ts';
import { groupIdOf, watchId } from '../sqs/deduplication.ts';
import { type CauseOf, formatMessage, type Message, withStrays } from '../sqs/message.ts';
import type { QueueEntry } from '../sqs/sender.ts';
import { longestPassSeconds } from '../sqs/senders.ts';
import { maxDelaySeconds } from '../timers/slots.ts';
import { timerEntry } from '../timers/timer-message.ts';
import { createQueueSender, type QueueSender, type QueueSenderDeps } from './queue-sender.ts';
import type { RateLimit } from './rate-limiter.ts';
import type { QueuedKey, WorkItem } from './work-queue.ts';

/** The dependencies of a forwarder. */
export type ForwarderDeps = QueueSenderDeps & {
  /** Low-priority keys a second for each controller. */
  readonly lowPriorityPerSecond: number;
  /**
   * The rate limit for the changes of each controller; absent: no limit. The excess waits in the work queue, where a
   * burst is one entry for each object. The controller's queue is shared with other clusters.
   */
  readonly rateLimit?: RateLimit | undefined;
  /** The rate limits of controllers that declare their own. */
  readonly rateLimits?: Readonly<Record<string, RateLimit>> | undefined;
  /** Converts a time of `now` to the clock of SQS, by which messages have their times. Default: they are the same. */
  readonly toSqsTime?: ((at: number) => number) | undefined;
  /** The identity of the cluster that is watched; undefined while it is not known. */
  readonly clusterUid?: (() => string | undefined) | undefined;
};

/** Takes keys and sends them to their queues. */
export type Forwarder = {
  /** Adds a key for a change. It is sent as soon as the work queue and the rate limit allow. */
  add(item: WorkItem): void;
  /** Adds a low-priority key. It goes through the timers queue, rate limited; `run` names the collection's run. */
  addLowPriority(item: WorkItem & { readonly run: string }): void;
  /** The number of keys that are queued or in flight. */
  queueDepth(): number;
  /** Since when a queue has refused every key, the longest of all queues; undefined if none does. */
  refusedSince(): number | undefined;
  /**
   * Sends all keys. Only the rate limit still delays them. Resolves with the number of keys that are left, which is 0
   * unless the signal aborted. Keys that are left hold back the watch checkpoint, so the next start finds their changes
   * again.
   */
  drain(options: { readonly signal: AbortSignal }): Promise<number>;
};

/** An object that changes constantly costs one message a second. */
const dedupeWindowMs = 1000;

/** Creates a forwarder. */
export function createForwarder(deps: ForwarderDeps): Forwarder {
  const { metrics, toSqsTime = (at) => at, clusterUid = () => undefined } = deps;
  const senders = new Map<string, QueueSender>();
  const lowPriorityEntry = createLowPriorityEntry({ ...deps, toSqsTime, clusterUid });
  const toChangeEntry = (queued: QueuedKey) =>
    changeEntry({ ...queued, observedAt: toSqsTime(queued.observedAt), clusterUid: clusterUid() });
  let flushing = false;
  let resolveDrained: (() => void) | undefined;

  const queueDepth = () => [...senders.values()].reduce((sum, sender) => sum + sender.size(), 0);
  const onSent = () => {
    if (queueDepth() === 0) resolveDrained?.();
  };
  const senderOf = (queue: string, toEntry: (queued: QueuedKey) => QueueEntry, rateLimit?: RateLimit): QueueSender => {
    const existing = senders.get(queue);
    if (existing !== undefined) return existing;
    // Entries of the timers queue are spread over time by their due times.
    const options = queue === timersQueue ? {} : { dedupeWindowMs, rateLimit: rateLimit ?? deps.rateLimit };
    const sender = createQueueSender(deps, { queue, toEntry, onSent }, options);
    if (flushing) sender.flush();
    senders.set(queue, sender);
    return sender;
  };

  return {
    add: (item) => {
      const { controller } = item.target;
      const sender = senderOf(controllerQueue(controller), toChangeEntry, deps.rateLimits?.[controller]);
      if (!sender.add(item)) metrics.coalesced(controller);
    },
    addLowPriority: (item) => {
      const { controller } = item.target;
      if (!senderOf(timersQueue, lowPriorityEntry).add(item)) metrics.coalesced(controller);
    },
    queueDepth,
    refusedSince: () => {
      const times = [...senders.values()].flatMap((sender) => sender.refusedSince() ?? []);
      return times.length === 0 ? undefined : Math.min(...times);
    },
    drain: async ({ signal }) => {
      flushing = true;
      for (const sender of senders.values()) sender.flush();
      if (queueDepth() > 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          resolveDrained = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      return queueDepth();
    },
  };
}

/** Makes the queue entry of a change: the newest source is its cause, the older ones are merged into it. */
export function changeEntry({
  target,
  sources,
  observedAt,
  clusterUid,
}: Pick<QueuedKey, 'target' | 'sources' | 'observedAt'> & Pick<Message, 'clusterUid'>): QueueEntry {
  const [cause = { type: 'change', observedAt } as const, ...older] = [...sources].reverse().map(
    ({ uid, resourceVersion, gone, object }): CauseOf<'change'> => ({
      type: 'change',
      observedAt,
      uid,
      resourceVersion,
      ...(gone === true ? { deleted: true } : {}),
      ...(object === undefined ? {} : { object: [...object] }),
    }),
  );
  const merged = older.length === 0 ? {} : { merged: { count: older.length, causes: older } };
  const strays = sources.flatMap(({ object, isStray }) => (isStray === true && object !== undefined ? [object] : []));
  return {
    body: formatMessage({ ...target, cause, clusterUid, ...merged, ...withStrays(strays) }),
    groupId: groupIdOf(target),
    deduplicationId: watchId(target, sources),
  };
}

/** Makes the timer entries of low-priority keys. Their due times are spread, so many a second for each controller. */
function createLowPriorityEntry({
  now,
  lowPriorityPerSecond,
  toSqsTime,
  clusterUid,
}: Pick<ForwarderDeps, 'now' | 'lowPriorityPerSecond'> & {
  readonly toSqsTime: (at: number) => number;
  readonly clusterUid: () => string | undefined;
}): (queued: QueuedKey) => QueueEntry {
  const freeAt = new Map<string, number>();
  /** When keys were due at their last attempt. */
  const lastDue = new WeakMap<QueuedKey['target'], number>();
  return ({ target, run = '', failures }) => {
    const nowMs = now();
    const seen = { ...target, clusterUid: clusterUid() };
    // A rejected key keeps its time while that is ahead. Otherwise each attempt would delay all keys of the controller.
    let due = failures === 0 ? 0 : (lastDue.get(target) ?? 0);
    if (due <= nowMs / 1000) {
      const free = freeAt.get(target.controller) ?? 0;
      // Timers refuse a later one. The keys of a pass that takes longer are due among its first ones.
      due = free > nowMs / 1000 + longestPassSeconds ? nowMs / 1000 : Math.max(free, nowMs / 1000);
      freeAt.set(target.controller, due + 1 / lowPriorityPerSecond);
      lastDue.set(target, due);
    }
    const dueAt = Math.floor(due);
    const delaySeconds = Math.max(0, Math.ceil(dueAt - nowMs / 1000));
    if (delaySeconds > maxDelaySeconds) {
      const cause = { type: 'resync', run, dueAt: Math.floor(toSqsTime(due * 1000) / 1000) } as const;
      return timerEntry({ ...seen, cause }, { nowMs: toSqsTime(nowMs) });
    }
    // Without a due time, which would be one of this watcher's clock: the function that reads it has another one.
    return { ...timerEntry({ ...seen, cause: { type: 'resync', run } }, { nowMs }), delaySeconds };
  };
}
