// Virtual time: what is due next runs next, and the clock jumps to it. Code of the product that takes a clock and a wait
// runs in it unchanged.
import type { Wait } from '../../src/core/time.ts';

/** A clock, what it has to do, and a wait that ends by it. All times are in milliseconds. */
export type VirtualTime = {
  now(): number;
  /** Runs something at a time; at once if that has passed. */
  at(ms: number, run: () => void): void;
  readonly wait: Wait;
  /** Runs everything that is due, in order, until `isDone`. Throws when nothing is due before that. */
  run(isDone: () => boolean): Promise<void>;
};

type Due = { readonly ms: number; readonly run: () => void };

/** Starts at 0. */
export function createVirtualTime(): VirtualTime {
  let nowMs = 0;
  // By millisecond: far fewer than there are events, so a sorted list of them stays short.
  const due = new Map<number, Due[]>();
  const times: number[] = [];

  function at(ms: number, run: () => void): void {
    const time = Math.max(nowMs, Math.ceil(ms));
    const alike = due.get(time);
    if (alike !== undefined) {
      alike.push({ ms: time, run });
      return;
    }
    due.set(time, [{ ms: time, run }]);
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle] ?? 0) > time) low = middle + 1;
      else high = middle;
    }
    times.splice(low, 0, time);
  }

  return {
    now: () => nowMs,
    at,
    wait: (seconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        at(nowMs + seconds * 1000, resolve);
      }),
    run: async (isDone) => {
      // Promises that are ready end before the clock moves.
      const settle = () => new Promise((resolve) => setImmediate(resolve));
      await settle();
      while (!isDone()) {
        const next = times.pop();
        if (next === undefined) throw new Error('nothing is due, and the simulation has not ended');
        nowMs = next;
        const alike = due.get(next) ?? [];
        due.delete(next);
        for (const { run } of alike) run();
        await settle();
      }
    },
  };
}
