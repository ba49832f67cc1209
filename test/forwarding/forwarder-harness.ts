// A forwarder whose queue answers as a test says, and whose time passes when a test lets it.
import { onTestFinished } from 'vitest';
import type { TargetKey } from '../../src/core/key.ts';
import type { Wait } from '../../src/core/time.ts';
import { parseMessage } from '../../src/queue/message.ts';
import type { Entry, Sent } from '../../src/sqs/sender.ts';
import { createForwarder } from '../../src/runtime/forwarder.ts';
import type { Pace } from '../../src/runtime/token-bucket.ts';
import { createWitness } from '../support/recorder.ts';

type Call = {
  readonly queue: string;
  readonly entries: readonly Entry[];
  readonly names: readonly string[];
  answer(sent: 'accepted' | 'refused' | readonly boolean[]): void;
};

/** The key of a dish. */
export const target = (name: string, controller = 'dish', namespace = 'shop'): TargetKey => ({
  ...{ controller, cluster: 'c', group: 'g', resource: 'dishes', namespace, name },
});
/** A change of it, by version. */
export const source = (version: number) => ({ uid: 'u', resourceVersion: String(version) });

/** Creates a forwarder, with everything at hand that a test looks at. */
export function forwarderAround({ pace }: { readonly pace?: Pace } = {}) {
  const calls: Call[] = [];
  const witness = createWitness();
  const over = new AbortController();
  onTestFinished(() => over.abort());
  let now = 1_000_000;
  let pending: { readonly at: number; readonly end: () => void }[] = [];
  const wait: Wait = (seconds, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      if (signal.aborted) reject(signal.reason);
      pending.push({ at: now + seconds * 1000, end: resolve });
    });
  const counts = { accepted: [] as string[], coalesced: 0, refused: 0, paced: 0 };
  const forwarder = createForwarder({
    send: (queue, entries) =>
      new Promise((resolve) => {
        const answer = (sent: 'accepted' | 'refused' | readonly boolean[]) =>
          resolve(
            entries.map((_, index): Sent => {
              const ok = typeof sent === 'string' ? sent === 'accepted' : sent[index] === true;
              return ok ? { accepted: true, messageId: 'm' } : { accepted: false, reason: `${queue}: no` };
            }),
          );
        calls.push({ queue, entries, names: entries.map(({ body }) => parseMessage(body).name), answer });
      }),
    log: witness.log,
    meter: {
      accepted: (controller, lane, lagMs) => counts.accepted.push(`${controller} ${lane} ${lagMs}`),
      coalesced: () => {
        counts.coalesced += 1;
      },
      refused: (_, keys) => {
        counts.refused += keys;
      },
      paced: (_, keys) => {
        counts.paced += keys;
      },
    },
    now: () => now,
    wait,
    random: () => 0,
    bulkPerSecond: 2,
    pace,
    signal: over.signal,
  });
  /** Lets everything run that needs no time. */
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    ...{ forwarder, calls, counts, witness, settle },
    mark: (name: string, version: number, controller?: string, namespace?: string) =>
      forwarder.mark({ target: target(name, controller, namespace), source: source(version), seenAt: now }),
    pass: async (ms: number) => {
      await settle();
      now += ms;
      const due = pending.filter(({ at }) => at <= now);
      pending = pending.filter(({ at }) => at > now);
      for (const { end } of due) end();
      await settle();
    },
    /** The next call that nobody has looked at. */
    call: async (): Promise<Call> => {
      await settle();
      const next = calls.shift();
      if (next === undefined) throw new Error('nothing was sent');
      return next;
    },
  };
}
