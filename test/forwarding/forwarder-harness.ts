// A forwarder on a fake queue whose responses the test chooses, and a fake clock that the test advances.
import { onTestFinished } from 'vitest';
import type { ReconcileKey } from '../../src/core/key.ts';
import type { Wait } from '../../src/core/time.ts';
import { createForwarder } from '../../src/forwarding/forwarder.ts';
import type { RateLimit } from '../../src/forwarding/rate-limiter.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import type { QueueEntry, SendResult } from '../../src/sqs/sender.ts';
import { createRecorder } from '../support/recorder.ts';

type Call = {
  readonly queue: string;
  readonly entries: readonly QueueEntry[];
  readonly names: readonly string[];
  respond(result: 'accepted' | 'rejected' | 'missing queue' | readonly boolean[]): void;
};

/** The key of a dish. */
export const target = (name: string, controller = 'dish', namespace = 'shop'): ReconcileKey => ({
  controller,
  cluster: 'c',
  group: 'g',
  resource: 'dishes',
  namespace,
  name,
});
/** A change of a dish, by version. */
export const source = (version: number) => ({ uid: 'u', resourceVersion: String(version) });

/** Creates a forwarder, its fake queue, clock and metrics. */
export function forwarderFixture({
  rateLimit,
  rateLimits,
  lowPriorityPerSecond = 2,
  toSqsTime,
  readingMs = 0,
}: {
  readonly rateLimit?: RateLimit;
  readonly rateLimits?: Readonly<Record<string, RateLimit>>;
  readonly lowPriorityPerSecond?: number;
  readonly toSqsTime?: (at: number) => number;
  /** The clock advances by this much at each reading. */
  readonly readingMs?: number;
} = {}) {
  const calls: Call[] = [];
  const recorder = createRecorder();
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  let now = 1_000_000;
  /** The seconds of every wait. */
  const waits: number[] = [];
  let pending: { readonly at: number; readonly end: () => void }[] = [];
  const wait: Wait = (seconds, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      if (signal.aborted) reject(signal.reason);
      waits.push(seconds);
      pending.push({ at: now + seconds * 1000, end: resolve });
    });
  const counts = { accepted: [] as string[], coalesced: 0, rejected: 0, rateLimited: 0 };
  const forwarder = createForwarder({
    send: (queue, entries) =>
      new Promise((resolve) => {
        const respond = (result: Parameters<Call['respond']>[0]) =>
          resolve(
            entries.map((_, index): SendResult => {
              const ok = typeof result === 'string' ? result === 'accepted' : result[index] === true;
              const missing = result === 'missing queue' ? { missingQueue: true as const } : {};
              return ok ? { accepted: true, messageId: 'm' } : { accepted: false, reason: `${queue}: no`, ...missing };
            }),
          );
        calls.push({ queue, entries, names: entries.map(({ body }) => parseMessage(body).name), respond });
      }),
    log: recorder.log,
    metrics: {
      accepted: (controller, cause, latencyMs) => counts.accepted.push(`${controller} ${cause} ${latencyMs}`),
      coalesced: () => {
        counts.coalesced += 1;
      },
      rejected: (_, keys) => {
        counts.rejected += keys;
      },
      rateLimited: (_, keys) => {
        counts.rateLimited += keys;
      },
    },
    now: () => {
      now += readingMs;
      return now;
    },
    wait,
    random: () => 0,
    lowPriorityPerSecond,
    toSqsTime,
    rateLimit,
    rateLimits,
    signal: ended.signal,
  });
  /** Runs everything that does not wait for time. */
  const runMicrotasks = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  /** Advances the clock. */
  const advance = async (ms: number) => {
    await runMicrotasks();
    now += ms;
    const due = pending.filter(({ at }) => at <= now);
    pending = pending.filter(({ at }) => at > now);
    for (const { end } of due) end();
    await runMicrotasks();
  };
  /** Returns the next call of Send. */
  const nextCall = async (): Promise<Call> => {
    await runMicrotasks();
    const next = calls.shift();
    if (next === undefined) throw new Error('Send was not called');
    return next;
  };
  return {
    forwarder,
    calls,
    counts,
    waits,
    recorder,
    runMicrotasks,
    /** Adds a change of a dish. */
    add: (name: string, version: number, controller?: string, namespace?: string) =>
      forwarder.add({ target: target(name, controller, namespace), source: source(version), observedAt: now }),
    advance,
    nextCall,
    /** Responds to the next call of Send, and runs everything that follows. */
    respond: async (...result: Parameters<Call['respond']>) => {
      (await nextCall()).respond(...result);
      await runMicrotasks();
    },
  };
}
