// Waits until the cluster, the simulators and the queues have converged, and reports what has not.
import { setTimeout as wait } from 'node:timers/promises';
import { countOverlaps } from '../chaos/checker.ts';
import type { PlainApi } from '../chaos/plain-api.ts';
import { namespace } from './objects.ts';
import { countMessages, type Queue, readDeadLetters } from './queues.ts';
import { takeSnapshot } from './snapshot.ts';
import type { SoakSystem } from './system.ts';
import type { LastWrite } from './users.ts';
import { findViolations } from './violations.ts';

/** Waits for convergence and counts violations. */
export type SoakChecker = {
  /** Resolves with nothing when everything has converged; at the deadline, with the violations. */
  untilConverged(phase: string): Promise<readonly string[]>;
  /** Records the pantry's requests. Call it regularly, because the pantry proxy keeps every request until then. */
  recordRequests(): void;
  /** Pairs of concurrent pantry requests for one Ingredient. */
  overlapCount(): number;
  /** Messages of the dead-letter queues, as JSON; at most ten of each queue. */
  deadLetters(): Promise<readonly string[]>;
  /**
   * Counts the delayed messages of the timers queue; resolves when there are at most `most`, or after a deadline. Two
   * timer chains of one object collapse when both have been due once.
   */
  countTimers(most: number): Promise<number>;
};

export type SoakCheckerDeps = {
  readonly system: SoakSystem;
  readonly api: PlainApi;
  readonly sqs: PlainApi;
  readonly lastWrites: () => readonly LastWrite[];
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
};

const pollSeconds = 2;
const progressSeconds = 10;
/**
 * A stalled watch is detected after 70 s, a message of a killed function is received again after 40 s, a postponed one
 * after at most 15 minutes.
 */
const convergeSeconds = 1000;
/** The longest wait of a tank at rest. */
const collapseSeconds = 450;
/** How often a busy queue is checked for an empty moment, and with which pause: tanks are reconciled all the time. */
const queuePolls = { times: 40, milliseconds: 50 };
const isDeadLetterQueue = ({ name }: Queue) => name.includes('-dlq');

/** Creates a checker. */
export function createSoakChecker({ system, api, sqs, lastWrites, onProgress, signal }: SoakCheckerDeps): SoakChecker {
  const { plant, pantry, bitcoin } = system.simulators;
  const knownHolders = new Set<string>();
  let overlaps = 0;
  const simulators = {
    tanks: plant.tanks,
    holding: pantry.holding,
    stock: pantry.stock,
    added: (pod: string) => bitcoin.added({ namespace, name: pod }),
  };

  function recordRequests(): void {
    const requests = system.slowPantry.requests();
    overlaps += countOverlaps(requests);
    for (const { holder } of requests) knownHolders.add(holder);
    system.slowPantry.clearRequests();
  }

  async function check(): Promise<readonly string[]> {
    recordRequests();
    const snapshot = await takeSnapshot(api, simulators);
    const violations = findViolations(snapshot, { lastWrites: lastWrites(), knownHolders: [...knownHolders] });
    if (violations.length > 0) return violations;
    const lines = await Promise.all(system.queues.filter((queue) => !isDeadLetterQueue(queue)).map(findBusy));
    return lines.flat();
  }

  async function findBusy(queue: Queue): Promise<readonly string[]> {
    for (let times = 0; times < queuePolls.times; times += 1) {
      const { visible, inFlight } = await countMessages(sqs, queue);
      if (visible + inFlight === 0) return [];
      await wait(queuePolls.milliseconds, undefined, { signal });
    }
    return [`${queue.name}: the queue is never empty`];
  }

  return {
    recordRequests,
    overlapCount: () => overlaps,
    async untilConverged(phase) {
      const until = performance.now() + convergeSeconds * 1000;
      for (let reportedAt = performance.now(); ; ) {
        signal.throwIfAborted();
        const found = await check().catch((error: unknown) => [`check failed: ${String(error)}`]);
        if (found.length === 0 || performance.now() > until) return found;
        if (performance.now() - reportedAt > progressSeconds * 1000) {
          reportedAt = performance.now();
          const secondsLeft = ((until - reportedAt) / 1000).toFixed(0);
          onProgress(`${phase}, at most ${secondsLeft} s more: ${found.length} violations, for example ${found[0]}`);
        }
        await wait(pollSeconds * 1000, undefined, { signal });
      }
    },
    async deadLetters() {
      const deadLetters = await Promise.all(
        system.queues.filter(isDeadLetterQueue).map(async (queue) => await readDeadLetters(sqs, queue)),
      );
      return deadLetters.flat();
    },
    async countTimers(most) {
      const timers = system.queues.find(({ name }) => name === 'timers');
      if (timers === undefined) return 0;
      const until = performance.now() + collapseSeconds * 1000;
      for (;;) {
        const { delayed } = await countMessages(sqs, timers);
        if (delayed <= most || performance.now() > until) return delayed;
        await wait(pollSeconds * 1000, undefined, { signal });
      }
    },
  };
}
