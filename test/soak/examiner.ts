// Looks until everything is at rest, and says what is not: the cluster, the worlds, the queues. It decides nothing itself but when to stop.
import { setTimeout as wait } from 'node:timers/promises';
import { meetings } from '../chaos/judge.ts';
import type { PlainApi } from '../../tools/chaos/plain-api.ts';
import { whatIsWrong } from './judgement.ts';
import { namespace } from '../../tools/soak/objects.ts';
import { lettersOf, type Queue, waitingOn } from '../../tools/soak/queues.ts';
import { takeSnapshot } from '../../tools/soak/snapshot.ts';
import type { SoakSystem } from './system.ts';
import type { Word } from './users.ts';

/** Somebody who looks. */
export type Examiner = {
  /** Resolves with nothing when all is at rest and as it should be; with what is not, when its patience is at an end. */
  untilAtRest(what: string): Promise<readonly string[]>;
  /** Takes note of who was at the pantry; to be called now and then, because each visit is remembered until then. */
  noteVisits(): void;
  /** Pairs of reconciles of one Ingredient that were at the pantry at once. */
  met(): number;
  /** Letters on dead-letter queues, as JSON; ten of each queue at most. */
  deadLetters(): Promise<readonly string[]>;
  /**
   * Counts the messages on the timers queue that wait for their time; resolves when they are as few as they should be, or will not be.
   * Two chains of one object collapse when both were due once.
   */
  timersWaiting(most: number): Promise<number>;
};

export type ExaminerNeeds = {
  readonly system: SoakSystem;
  readonly api: PlainApi;
  readonly sqs: PlainApi;
  readonly words: () => readonly Word[];
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
};

const lookSeconds = 2;
const saySeconds = 10;
/** A stalled watch is found after 70 s, a killed function's message comes back after 40 s, one that was deferred after 15 minutes at most. */
const patienceSeconds = 1000;
/** Three times as long as the longest that a tank asks for. */
const collapseSeconds = 90;
/** How often, and how far apart, a queue is looked at that somebody always uses: tanks are looked at all the time. */
const queueLooks = { times: 40, milliseconds: 50 };
const isLetters = ({ name }: Queue) => name.includes('-dlq');

/** Creates one. */
export function createExaminer({ system, api, sqs, words, onProgress, signal }: ExaminerNeeds): Examiner {
  const { plant, pantry, bitcoin } = system.worlds;
  const everSeen = new Set<string>();
  let met = 0;
  const outside = {
    ...{ tanks: plant.tanks, holding: pantry.holding, stock: pantry.stock },
    added: (pod: string) => bitcoin.added({ namespace, name: pod }),
  };

  function noteVisits(): void {
    const visits = system.gate.visits();
    met += meetings(visits);
    for (const { holder } of visits) everSeen.add(holder);
    system.gate.forget();
  }

  async function look(): Promise<readonly string[]> {
    noteVisits();
    const snapshot = await takeSnapshot(api, outside);
    const wrong = whatIsWrong(snapshot, { words: words(), everSeen: [...everSeen] });
    if (wrong.length > 0) return wrong;
    const lines = await Promise.all(system.queues.filter((queue) => !isLetters(queue)).map(restless));
    return lines.flat();
  }

  async function restless(queue: Queue): Promise<readonly string[]> {
    for (let times = 0; times < queueLooks.times; times += 1) {
      const { visible, inFlight } = await waitingOn(sqs, queue);
      if (visible + inFlight === 0) return [];
      await wait(queueLooks.milliseconds, undefined, { signal });
    }
    return [`${queue.name}: messages lie there all the time`];
  }

  return {
    noteVisits,
    met: () => met,
    async untilAtRest(what) {
      const until = performance.now() + patienceSeconds * 1000;
      for (let said = performance.now(); ; ) {
        signal.throwIfAborted();
        const found = await look().catch((error: unknown) => [`cannot look: ${String(error)}`]);
        if (found.length === 0 || performance.now() > until) return found;
        if (performance.now() - said > saySeconds * 1000) {
          said = performance.now();
          const left = ((until - said) / 1000).toFixed(0);
          onProgress(`${what}, for ${left} s at most: ${found.length} not yet as they should be, as ${found[0]}`);
        }
        await wait(lookSeconds * 1000, undefined, { signal });
      }
    },
    async deadLetters() {
      const letters = await Promise.all(
        system.queues.filter(isLetters).map(async (queue) => await lettersOf(sqs, queue)),
      );
      return letters.flat();
    },
    async timersWaiting(most) {
      const timers = system.queues.find(({ name }) => name === 'timers');
      if (timers === undefined) return 0;
      const until = performance.now() + collapseSeconds * 1000;
      for (;;) {
        const { delayed } = await waitingOn(sqs, timers);
        if (delayed <= most || performance.now() > until) return delayed;
        await wait(lookSeconds * 1000, undefined, { signal });
      }
    },
  };
}
