// Brings marked keys to their queues: changes straight to their controllers', bulk through timers. Each queue is pumped by
// itself, so that one that is missing or throttled holds back nothing but its own, and bulk never stands before a change.
import { controllerQueue, timersQueue } from '../core/names.ts';
import type { Entry } from '../sqs/sender.ts';
import type { Mark, Waiting } from './dirty-set.ts';
import { changeEntry, createPaces } from './forward-entries.ts';
import { createPump, type Pump, type PumpParts } from './pump.ts';
import type { Pace } from './token-bucket.ts';

/** What the forwarder works with. */
export type ForwarderParts = PumpParts & {
  /** Bulk keys a second for each controller. */
  readonly bulkPerSecond: number;
  /**
   * Of the changes of each controller; absent: as fast as its queue takes them. What is beyond it stays in the dirty set, where a
   * flood is one entry an object: the queue is other clusters', too.
   */
  readonly pace?: Pace | undefined;
};

/** Takes keys and brings them to their queues. */
export type Forwarder = {
  /** A change: goes as soon as it may. */
  mark(mark: Mark): void;
  /** One of many, `run` naming which: goes through timers, paced. */
  markBulk(mark: Mark & { readonly run: string }): void;
  /** Keys that wait or are on their way. */
  waiting(): number;
  /**
   * Sends everything without waiting for anything but the pace; resolves with what is left, which is 0 unless the signal
   * aborted. What is left holds the cursor back, so that the next start finds it.
   */
  drain(options: { readonly signal: AbortSignal }): Promise<number>;
};

/** A hot object costs one message a second. */
const quietMs = 1000;

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
    // What goes through timers is paced there.
    const kept = queue === timersQueue ? {} : { quietMs, pace: parts.pace };
    const made = createPump(parts, { queue, toEntry, onSettled }, kept);
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
