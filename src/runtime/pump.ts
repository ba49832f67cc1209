// The keys of one queue: sends what may be sent until nothing waits, then sleeps until the next mark. What may be sent when is the dirty
// set's to say, and how fast the token bucket's; what a queue's failures mean for the next call is said here.
import type { Log } from '../core/context.ts';
import { formatTarget } from '../core/key.ts';
import { redact } from '../core/redact.ts';
import type { Lane } from '../core/names.ts';
import type { Wait } from '../core/time.ts';
import type { Entry, Send } from '../sqs/sender.ts';
import { createDirtySet, type Mark, type Waiting } from './dirty-set.ts';
import { createTokenBucket, type Pace } from './token-bucket.ts';

/** What is told of forwarding, for metrics. */
export type ForwardMeter = {
  accepted(controller: string, lane: Lane, lagMs: number): void;
  /** A mark joined a key that was waiting already. */
  coalesced(controller: string): void;
  refused(queue: string, keys: number): void;
  /** Keys went only when their controller's pace let them. */
  paced(controller: string, keys: number): void;
};

/** What a pump works with. */
export type PumpParts = {
  readonly send: Send;
  readonly log: Log;
  readonly meter: ForwardMeter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: Wait;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  /** Resolves when everything that has arrived is marked, so that it goes together. Default: at once. */
  readonly arrived?: () => Promise<void>;
  /** Ends the pumps at once; what waits then is lost with the process. */
  readonly signal: AbortSignal;
};

/** Which queue, and what becomes of its keys. */
export type PumpOf = {
  readonly queue: string;
  readonly toEntry: (waiting: Waiting) => Entry;
  /** Called after each call of Send. */
  readonly onSettled: () => void;
};

/** Takes keys and brings them to one queue. */
export type Pump = {
  /** Adds a key; tells whether it is a new entry, not one that was waiting already. */
  mark(mark: Mark): boolean;
  /** Keys that wait or are on their way. */
  size(): number;
  /** Lets nothing wait any more but for the pace. */
  hurry(): void;
};

/** What SQS takes in one request, and bills as one. */
const batchSize = 10;
/** Keys in one call of Send: four batches side by side. */
const callSize = 4 * batchSize;
/** A call of so many keys shows that more are coming: what is less than a batch then waits for them, or for so long after that call. */
const busyKeys = batchSize / 2;
const lingerMs = 20;
const firstBackoffSeconds = 0.5;
/** Of a single key that is refused while others are accepted. */
const maxBackoffSeconds = 30;
/** Of a queue that refuses everything: short, because it may be one bad key and the next marks are others. */
const maxQueueBackoffSeconds = 5;

/** Creates the pump of a queue. A key that was accepted less than `quietMs` ago waits. */
export function createPump(
  { send, log, meter, now, wait, random, arrived = async () => undefined, signal }: PumpParts,
  { queue, toEntry, onSettled }: PumpOf,
  { quietMs = 0, pace }: { readonly quietMs?: number; readonly pace?: Pace | undefined } = {},
): Pump {
  const set = createDirtySet({ quietMs });
  const bucket = pace === undefined ? undefined : createTokenBucket(pace);
  /** Whether the keys that are taken next had to wait for the pace. */
  let held = false;
  let running = false;
  let waking = new AbortController();
  let hurrying = false;
  /** Whether it sleeps only until a batch is full. */
  let lingering = false;
  /** Until when less than a batch waits for more. */
  let lingerUntil = Number.NEGATIVE_INFINITY;
  /** Calls in a row of which nothing was accepted. */
  let failures = 0;

  async function sleep(seconds: number): Promise<void> {
    if (hurrying && seconds > 0) seconds = Math.min(seconds, firstBackoffSeconds);
    waking = new AbortController();
    await wait(seconds, AbortSignal.any([waking.signal, signal])).catch(() => undefined);
  }

  function wake(): void {
    // With a reason that is there already: without one, each call makes an error with its stack, and this is called for every mark.
    if (!waking.signal.aborted) waking.abort('woken');
  }

  /** When some may be sent next; undefined while none waits. */
  function nextAt(nowMs: number): number | undefined {
    const at = set.nextAt(nowMs);
    // Each request costs as much for one key as for ten, here and on the bill. A clock that was set back must not keep keys waiting.
    lingering = at !== undefined && at <= nowMs && isBusy(nowMs) && set.ready() < batchSize;
    if (lingering) return lingerUntil;
    if (at === undefined || bucket === undefined || (bucket.free(nowMs) > 0 && !held)) return at;
    // Single tokens would be single requests, ten times the price: once there are none, they are let add up to a batch.
    const paced = bucket.freeAt(Math.min(batchSize, set.size()), nowMs);
    held = at <= nowMs;
    return Math.max(at, paced);
  }

  function isBusy(nowMs: number): boolean {
    return !hurrying && nowMs < lingerUntil && lingerUntil - nowMs <= lingerMs;
  }

  /** How many keys go now: while it is busy full batches alone, the rest with those that come. */
  function howMany(nowMs: number): number {
    // While the queue refuses everything, one batch is enough to find out whether it still does.
    const most = Math.min(failures === 0 ? callSize : batchSize, bucket?.free(nowMs) ?? callSize, set.ready());
    return isBusy(nowMs) && most > batchSize ? most - (most % batchSize) : most;
  }

  async function pump(): Promise<void> {
    for (let at = nextAt(now()); at !== undefined && !signal.aborted; at = nextAt(now())) {
      if (at > now()) {
        await sleep((at - now()) / 1000);
        continue;
      }
      const nowMs = now();
      const taken = set.take(howMany(nowMs), nowMs);
      // What was left behind by a queue that refused it is no sign of more.
      if (taken.length >= busyKeys && failures === 0) lingerUntil = nowMs + lingerMs;
      await sendSome(taken);
      if (failures > 0) await sleep(Math.min(maxQueueBackoffSeconds, backoffSeconds(failures, random())));
    }
  }

  async function sendSome(taken: readonly Waiting[]): Promise<void> {
    const made = taken.flatMap((waiting) => {
      const entry = attempt(() => toEntry(waiting));
      if (entry.error === undefined) return [{ waiting, entry: entry.value }];
      // It can never be sent: holding its version back for ever would hold everything back.
      log.error('key cannot be sent', { key: formatTarget(waiting.target), error: redact(entry.error) });
      meter.refused(queue, 1);
      set.settle(waiting, 'accepted', now());
      return [];
    });
    if (held) for (const { waiting } of made) meter.paced(waiting.target.controller, 1);
    held = false;
    const sent = await send(
      queue,
      made.map(({ entry }) => entry),
      { signal },
    );
    const nowMs = now();
    const accepted = sent.filter((one) => one.accepted).length;
    const noneAccepted = accepted === 0;
    // What was refused is behind nobody.
    bucket?.spend(accepted, nowMs);
    const reasons: string[] = [];
    for (const [index, { waiting }] of made.entries()) {
      const result = sent[index] ?? { accepted: false, reason: `${queue}: no answer` };
      if (result.accepted) settled(waiting, nowMs);
      else {
        reasons.push(result.reason);
        // When nothing is accepted, it is the queue that waits, not each key of it.
        const seconds = noneAccepted ? 0 : backoffSeconds(waiting.failures + 1, random());
        set.settle(waiting, { againAt: nowMs + seconds * 1000 }, nowMs);
      }
    }
    failures = noneAccepted && made.length > 0 ? failures + 1 : 0;
    complain(reasons);
    onSettled();
  }

  function settled(waiting: Waiting, nowMs: number): void {
    const { target, seenAt, run } = waiting;
    const lane = run === undefined ? 'watch' : 'resync';
    set.settle(waiting, 'accepted', nowMs);
    meter.accepted(target.controller, lane, Math.max(0, nowMs - seenAt));
    log.debug('forwarded', { ...target, lane });
  }

  function complain(reasons: readonly string[]): void {
    const [reason] = reasons;
    if (reason === undefined || signal.aborted) return;
    meter.refused(queue, reasons.length);
    // Said when it begins, and then each time that twice as many calls have failed.
    if ((failures & (failures - 1)) !== 0) return;
    log.warn('keys not sent, trying again', {
      queue,
      keys: reasons.length,
      waiting: set.size(),
      error: redact(reason),
    });
  }

  function start(): void {
    if (running) {
      if (!lingering || set.ready() >= batchSize) wake();
      return;
    }
    running = true;
    // Everything that one frame marks is marked before the first batch is made.
    void arrived()
      .then(pump)
      .finally(() => {
        running = false;
        if (set.size() > 0 && !signal.aborted) start();
      });
  }

  return {
    mark: (mark) => {
      const fresh = set.mark(mark, now());
      if (fresh && (!running || failures === 0)) start();
      return fresh;
    },
    size: set.size,
    hurry: () => {
      hurrying = true;
      set.hurry();
      wake();
    },
  };
}

/** 0.25 to 0.5 s at first, doubling up to 15 to 30 s. */
function backoffSeconds(failures: number, random: number): number {
  return (Math.min(maxBackoffSeconds, firstBackoffSeconds * 2 ** Math.min(failures - 1, 30)) * (1 + random)) / 2;
}

function attempt<T>(make: () => T): { readonly value: T; readonly error?: undefined } | { readonly error: string } {
  try {
    return { value: make() };
  } catch (thrown) {
    return { error: String(thrown) };
  }
}
