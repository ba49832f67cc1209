// Brings marked keys to their queues: changes straight to their controllers', bulk through timers. Each queue is pumped by
// itself, so that one that is missing or throttled holds back nothing but its own, and bulk never stands before a change.
import type { Log } from '../core/context.ts';
import { formatTarget } from '../core/key.ts';
import { redact } from '../core/redact.ts';
import { controllerQueue, type Lane, timersQueue } from '../core/words.ts';
import type { Wait } from '../kube/wait.ts';
import type { Entry, Send } from '../queue/sender.ts';
import { createDirtySet, type Mark, type Waiting } from './dirty-set.ts';
import { changeEntry, createPaces } from './forward-entries.ts';

/** What the forwarder tells of itself, for metrics. */
export type ForwardMeter = {
  accepted(controller: string, lane: Lane, lagMs: number): void;
  /** A mark joined a key that was waiting already. */
  coalesced(controller: string): void;
  refused(queue: string, keys: number): void;
};

/** What the forwarder works with. */
export type ForwarderParts = {
  readonly send: Send;
  readonly log: Log;
  readonly meter: ForwardMeter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: Wait;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  /** Bulk keys a second for each controller. */
  readonly bulkPerSecond: number;
  /** Ends the pumps at once; what waits then is lost with the process. */
  readonly signal: AbortSignal;
};

/** Takes keys and brings them to their queues. */
export type Forwarder = {
  /** A change: goes as soon as it may. */
  mark(mark: Mark): void;
  /** One of many, `run` naming which: goes through timers, paced. */
  markBulk(mark: Mark & { readonly run: string }): void;
  /** Keys that wait or are on their way. */
  waiting(): number;
  /** Sends everything without waiting; resolves with what is left, which is 0 unless the signal aborted. */
  drain(options: { readonly signal: AbortSignal }): Promise<number>;
};

/** A hot object costs one message a second. What goes through timers is paced anyway. */
const quietMs = 1000;
/** Keys in one call of Send: four batches of 10 side by side. */
const callSize = 40;
const firstBackoffSeconds = 0.5;
/** Of a single key that is refused while others are accepted. */
const maxBackoffSeconds = 30;
/** Of a queue that refuses everything: short, because it may be one bad key and the next marks are others. */
const maxQueueBackoffSeconds = 5;

type Pump = { mark(mark: Mark): boolean; size(): number; hurry(): void };

/** Creates a forwarder. */
export function createForwarder(parts: ForwarderParts): Forwarder {
  const { meter } = parts;
  const pumps = new Map<string, Pump>();
  const paceOf = createPaces(parts);
  let hurrying = false;
  let emptied: (() => void) | undefined;

  const waiting = () => [...pumps.values()].reduce((sum, pump) => sum + pump.size(), 0);
  const onSettled = () => {
    if (waiting() === 0) emptied?.();
  };
  const pumpOf = (queue: string, toEntry: (waiting: Waiting) => Entry): Pump => {
    const known = pumps.get(queue);
    if (known !== undefined) return known;
    const made = createPump(parts, queue, toEntry, onSettled, queue === timersQueue ? 0 : quietMs);
    if (hurrying) made.hurry();
    pumps.set(queue, made);
    return made;
  };

  return {
    mark: (mark) => {
      const { controller } = mark.target;
      if (!pumpOf(controllerQueue(controller), changeEntry).mark(mark)) meter.coalesced(controller);
    },
    markBulk: (mark) => {
      const { controller } = mark.target;
      if (!pumpOf(timersQueue, paceOf).mark(mark)) meter.coalesced(controller);
    },
    waiting,
    drain: async ({ signal }) => {
      hurrying = true;
      for (const pump of pumps.values()) pump.hurry();
      if (waiting() > 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          emptied = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      return waiting();
    },
  };
}

/** One queue: sends what may be sent until nothing waits, then sleeps until the next mark. */
function createPump(
  { send, log, meter, now, wait, random, signal }: ForwarderParts,
  queue: string,
  toEntry: (waiting: Waiting) => Entry,
  onSettled: () => void,
  quiet: number,
): Pump {
  const set = createDirtySet({ quietMs: quiet });
  let running = false;
  let waking = new AbortController();
  let hurrying = false;
  /** Calls in a row of which nothing was accepted. */
  let failures = 0;

  async function sleep(seconds: number): Promise<void> {
    if (hurrying && seconds > 0) seconds = Math.min(seconds, firstBackoffSeconds);
    waking = new AbortController();
    await wait(seconds, AbortSignal.any([waking.signal, signal])).catch(() => undefined);
  }

  async function pump(): Promise<void> {
    for (let at = set.nextAt(now()); at !== undefined && !signal.aborted; at = set.nextAt(now())) {
      if (at > now()) {
        await sleep((at - now()) / 1000);
        continue;
      }
      // While the queue refuses everything, one batch is enough to find out whether it still does.
      await sendSome(set.take(failures === 0 ? callSize : 10, now()));
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
    const sent = await send(
      queue,
      made.map(({ entry }) => entry),
      { signal },
    );
    const nowMs = now();
    const noneAccepted = !sent.some(({ accepted }) => accepted);
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
      waking.abort();
      return;
    }
    running = true;
    // Everything that one frame marks is marked before the first batch is made.
    queueMicrotask(() => {
      void pump().finally(() => {
        running = false;
        if (set.size() > 0 && !signal.aborted) start();
      });
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
      waking.abort();
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
