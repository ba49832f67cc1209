// Sends the keys of one work queue to one SQS queue, through src/sqs/send.ts. A change leaves the watcher here. The
// sender sends until no key may be sent, then sleeps until the next key is due or added. The work queue decides which
// keys may be sent, the rate limiter how many. This file decides how keys are batched, and how failures of the queue
// delay the next call.
import { backoffSeconds, keyBackoff } from '../core/backoff.ts';
import { formatReconcileKey } from '../core/key.ts';
import type { Log } from '../core/log.ts';
import type { Wait } from '../core/time.ts';
import type { CauseType } from '../sqs/message.ts';
import type { QueueEntry, Send } from '../sqs/sender.ts';
import { createRateLimiter, type RateLimit } from './rate-limiter.ts';
import { createWorkQueue, type QueuedKey, type WorkItem } from './work-queue.ts';

/** The metrics of forwarding. */
export type ForwardMetrics = {
  accepted(controller: string, cause: CauseType, latencyMs: number): void;
  /** A key was added that was queued already. */
  coalesced(controller: string): void;
  rejected(queue: string, keys: number): void;
  /** Keys were sent after they had waited for the rate limit of their controller. */
  rateLimited(controller: string, keys: number): void;
};

/** The dependencies of a queue sender. */
export type QueueSenderDeps = {
  readonly send: Send;
  readonly log: Log;
  readonly metrics: ForwardMetrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: Wait;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  /**
   * Resolves when the keys of everything that has arrived are added, so that they are sent together. Default: at once.
   */
  readonly arrived?: () => Promise<void>;
  /** Stops the sender at once. Keys that are queued then are lost with the process. */
  readonly signal: AbortSignal;
};

/** The queue, and how its entries are made. */
export type QueueSenderSpec = {
  readonly queue: string;
  readonly toEntry: (queued: QueuedKey) => QueueEntry;
  /** Called after each call of Send. */
  readonly onSent: () => void;
};

/** Takes keys and sends them to one queue. */
export type QueueSender = {
  /** Adds a key. Returns true for a new entry, false if the key was queued already. */
  add(item: WorkItem): boolean;
  /** The number of keys that are queued or in flight. */
  size(): number;
  /** Since when the queue has refused every key; undefined if the last call accepted one, or there is no such queue. */
  refusedSince(): number | undefined;
  /** Ends all waiting except for the rate limit. */
  flush(): void;
};

/** SQS takes at most this many messages in one request, and bills them as one. */
const batchSize = 10;
/** Keys in one call of Send: four batches in parallel. */
const callSize = 4 * batchSize;
/**
 * After a call with at least this many keys, more are expected: a partial batch then waits up to batchWindowMs to be
 * filled.
 */
const busyKeys = batchSize / 2;
const batchWindowMs = 20;
/** The longest wait for the tokens of a full batch while there are some. */
const maxTokenWaitMs = 100;
/**
 * The longest wait for a queue that rejects everything. Short, because one bad key may be the cause and the next keys
 * are good.
 */
const maxQueueBackoffSeconds = 5;

/** Creates the sender of a queue. A key that was accepted less than `dedupeWindowMs` ago waits. */
export function createQueueSender(
  { send, log, metrics, now, wait, random, arrived = async () => undefined, signal }: QueueSenderDeps,
  { queue, toEntry, onSent }: QueueSenderSpec,
  {
    dedupeWindowMs = 0,
    rateLimit,
  }: { readonly dedupeWindowMs?: number; readonly rateLimit?: RateLimit | undefined } = {},
): QueueSender {
  const workQueue = createWorkQueue({ dedupeWindowMs });
  const limiter = rateLimit === undefined ? undefined : createRateLimiter(rateLimit);
  /** Whether the next keys had to wait for the rate limit. */
  let limited = false;
  let running = false;
  let sleeping = new AbortController();
  let flushing = false;
  /** Whether the sender sleeps only to fill a batch. */
  let batching = false;
  /** Until when a partial batch waits to be filled. */
  let batchUntil = Number.NEGATIVE_INFINITY;
  /** Consecutive calls in which no key was accepted. */
  let failures = 0;
  let refusedSince: number | undefined;

  async function sleep(seconds: number): Promise<void> {
    if (flushing && seconds > 0) seconds = Math.min(seconds, keyBackoff.firstSeconds);
    sleeping = new AbortController();
    await wait(seconds, AbortSignal.any([sleeping.signal, signal])).catch(() => undefined);
  }

  function wake(): void {
    // Without a reason each abort creates an error with its stack, and this is called for every key that is added.
    if (!sleeping.signal.aborted) sleeping.abort('woken');
  }

  /** When the next keys may be sent; undefined while none is queued. */
  function nextAt(nowMs: number): number | undefined {
    const at = workQueue.nextAt(nowMs);
    // A request costs the same for one key as for ten, in time and in money.
    batching = at !== undefined && at <= nowMs && isBusy(nowMs) && workQueue.ready() < batchSize;
    if (batching) return batchUntil;
    if (at === undefined || limiter === undefined) return at;
    // Single tokens would make single requests, at ten times the price. Without tokens, it waits for those of a whole
    // batch. A call takes so long that a few tokens are there after it, so it waits for the rest if that is soon.
    const free = limiter.free(nowMs);
    const enoughAt = limiter.freeAt(Math.min(batchSize, workQueue.size()), nowMs);
    if (free > 0 && !limited && (free >= workQueue.ready() || enoughAt - nowMs > maxTokenWaitMs)) return at;
    limited = at <= nowMs && (limited || enoughAt > nowMs);
    return Math.max(at, enoughAt);
  }

  function isBusy(nowMs: number): boolean {
    // The last condition fails if the clock was set back, so that keys do not wait for it.
    return !flushing && nowMs < batchUntil && batchUntil - nowMs <= batchWindowMs;
  }

  /** How many keys are sent now. While more keys follow only full batches are sent, and the rest with those. */
  function sendLimit(nowMs: number): number {
    // While the queue rejects everything, one batch is enough to find out whether it still does.
    const ready = workQueue.ready();
    const limit = Math.min(failures === 0 ? callSize : batchSize, limiter?.free(nowMs) ?? callSize, ready);
    return (limit < ready || isBusy(nowMs)) && limit > batchSize ? limit - (limit % batchSize) : limit;
  }

  async function sendUntilEmpty(): Promise<void> {
    for (let at = nextAt(now()); at !== undefined && !signal.aborted; at = nextAt(now())) {
      // Read once: a later reading can be past `at`, and a timer of negative length makes Node print a warning.
      const nowMs = now();
      if (at > nowMs) {
        await sleep((at - nowMs) / 1000);
        continue;
      }
      const taken = workQueue.take(sendLimit(nowMs), nowMs);
      // Keys that a rejecting queue left behind do not show that more keys are coming.
      if (taken.length >= busyKeys && failures === 0) batchUntil = nowMs + batchWindowMs;
      await sendKeys(taken);
      if (failures > 0) await sleep(Math.min(maxQueueBackoffSeconds, backoffSeconds(keyBackoff, failures, random())));
    }
  }

  async function sendKeys(taken: readonly QueuedKey[]): Promise<void> {
    const sendable = taken.flatMap((queued) => {
      const entry = attempt(() => toEntry(queued));
      if (entry.error === undefined) return [{ queued, entry: entry.value }];
      // The key can never be sent. If it stayed pending, it would hold back the low watermark for ever.
      log.error('key cannot be sent', { key: formatReconcileKey(queued.target), error: entry.error });
      metrics.rejected(queue, 1);
      workQueue.done(queued, 'accepted', now());
      return [];
    });
    if (limited) for (const { queued } of sendable) metrics.rateLimited(queued.target.controller, 1);
    limited = false;
    const results = await send(
      queue,
      sendable.map(({ entry }) => entry),
      { signal },
    );
    const nowMs = now();
    const accepted = results.filter((one) => one.accepted).length;
    const noneAccepted = accepted === 0;
    // Only accepted keys spend tokens: rejected keys are not on the queue and delay nothing there.
    limiter?.spend(accepted, nowMs);
    const reasons: string[] = [];
    for (const [index, { queued }] of sendable.entries()) {
      const result = results[index] ?? { accepted: false, reason: `${queue}: no response` };
      if (result.accepted) recordAccepted(queued, nowMs);
      else {
        reasons.push(result.reason);
        // If no key was accepted, the queue backs off as a whole, not each key.
        const seconds = noneAccepted ? 0 : backoffSeconds(keyBackoff, queued.failures + 1, random());
        workQueue.done(queued, { retryAt: nowMs + seconds * 1000 }, nowMs);
      }
    }
    failures = noneAccepted && sendable.length > 0 ? failures + 1 : 0;
    // The manifests of an upgrade are applied before the deployment creates the queue of a new controller.
    const isMissing = results.every((one) => !one.accepted && one.missingQueue === true);
    refusedSince = failures === 0 || isMissing ? undefined : (refusedSince ?? nowMs);
    recordRejected(reasons);
    onSent();
  }

  function recordAccepted(queued: QueuedKey, nowMs: number): void {
    const { target, observedAt, run } = queued;
    const cause = run === undefined ? 'change' : 'resync';
    workQueue.done(queued, 'accepted', nowMs);
    metrics.accepted(target.controller, cause, Math.max(0, nowMs - observedAt));
    log.debug('key sent', { ...target, cause });
  }

  function recordRejected(reasons: readonly string[]): void {
    const [reason] = reasons;
    if (reason === undefined || signal.aborted) return;
    metrics.rejected(queue, reasons.length);
    // Logged for the first failure, and then each time the number of consecutive failures has doubled.
    if ((failures & (failures - 1)) !== 0) return;
    log.warn('keys not sent, retrying', {
      queue,
      keys: reasons.length,
      queueDepth: workQueue.size(),
      error: reason,
    });
  }

  function start(): void {
    if (running) {
      if (!batching || workQueue.ready() >= batchSize) wake();
      return;
    }
    running = true;
    // All keys of one watch event are added before the first batch is made.
    void arrived()
      .then(sendUntilEmpty)
      .finally(() => {
        running = false;
        if (workQueue.size() > 0 && !signal.aborted) start();
      });
  }

  return {
    add: (item) => {
      const isNew = workQueue.add(item, now());
      if (isNew && (!running || failures === 0)) start();
      return isNew;
    },
    size: workQueue.size,
    refusedSince: () => refusedSince,
    flush: () => {
      flushing = true;
      workQueue.flush();
      wake();
    },
  };
}

function attempt<T>(make: () => T): { readonly value: T; readonly error?: undefined } | { readonly error: string } {
  try {
    return { value: make() };
  } catch (thrown) {
    return { error: String(thrown) };
  }
}
