// One soak: everything is made and comes to rest, then users edit while things break, then it has to come to rest again; and last, every
// tank is stirred once, so that a chain of looks that was lost in between is seen to be missing.
import { createPlainApi } from '../../tools/chaos/plain-api.ts';
import { layBackends } from '../../tools/soak/backends.ts';
import { createExaminer } from './examiner.ts';
import { makeTrouble, type Struck } from './faults.ts';
import { createHeapSamples } from '../../tools/soak/heap-samples.ts';
import { type HeapRow, heapRows } from '../../tools/soak/heap-table.ts';
import { startSystem } from './system.ts';
import { createUsers, type Verb } from './users.ts';

export type SoakOptions = {
  readonly seed: number;
  readonly minutes: number;
  readonly objects: number;
  /** The longest pause of one user between two edits. */
  readonly pauseMilliseconds: number;
  readonly signal: AbortSignal;
  /** Told how it goes, in a line. */
  readonly onProgress: (line: string) => void;
  /** Told what the processes write, and what is odd. */
  readonly onLine?: (line: string) => void;
};

/** What came of it. Nothing was lost when `lost`, `letters` and `complaints` are empty. */
export type SoakOutcome = {
  readonly edits: Readonly<Record<Verb, number>>;
  readonly struck: Struck;
  readonly reconciles: number;
  /** What was not as it should be at the end, one line each. */
  readonly lost: readonly string[];
  readonly complaints: readonly string[];
  /** Pairs of reconciles of one Ingredient that were at the pantry at once. */
  readonly met: number;
  /** What lies on dead-letter queues, as JSON. */
  readonly letters: readonly string[];
  readonly heaps: readonly HeapRow[];
  /** From the start, from the last edit and fault, and from the stirring until all was at rest. */
  readonly seconds: { readonly settle: number; readonly converge: number; readonly stirred: number };
  readonly timers: { readonly waiting: number; readonly tanks: number };
};

const tickSeconds = 10;
/** Beyond every tolerance, and drained within some seconds. */
const stirredLevels = 6;

/** Runs a soak and cleans up. Throws when the system cannot be started or never comes to rest at first, or when the signal aborts. */
export async function soak(options: SoakOptions): Promise<SoakOutcome> {
  const { seed, minutes, objects, pauseMilliseconds, signal, onProgress, onLine = () => undefined } = options;
  await using parts = new AsyncDisposableStack();
  const samples = createHeapSamples();
  let reconciles = 0;
  const hear = (pid: number, line: string): void => {
    if (samples.hear(pid, line)) return;
    if (line.includes('"reconciled"')) reconciles += 1;
    onLine(line);
  };
  onProgress('starting the control plane, two watchers and the functions');
  const system = await startSystem({ signal, onLine: hear, onTrouble: onLine });
  parts.defer(() => system.close());
  const api = parts.adopt(createPlainApi(system.direct.api), (caller) => caller.close());
  const sqs = parts.adopt(createPlainApi(system.direct.sqs), (caller) => caller.close());
  const { disturb } = system.worlds.plant;
  const users = createUsers({ api, pour: disturb }, { seed, objects, pauseMilliseconds });
  const { words } = users;
  const examiner = createExaminer({ system, api, sqs, words, onProgress, signal });
  const timed = async (what: string) => {
    const since = performance.now();
    const wrong = await examiner.untilAtRest(what);
    return { wrong, seconds: (performance.now() - since) / 1000 };
  };

  const since = performance.now();
  await layBackends(api);
  onProgress(`making ${objects} objects`);
  await users.settle();
  const { wrong: early } = await timed('settling');
  if (early.length > 0) throw new Error(`it never came to rest: ${early.slice(0, 5).join('; ')}`);
  const settle = (performance.now() - since) / 1000;

  onProgress(`at rest after ${settle.toFixed(0)} s; now ${minutes} minutes of edits and faults`);
  const struck = new Map<string, { times: number; hits: number }>();
  const began = performance.now();
  await forMinutes(minutes, signal, async (over) => {
    const tick = (): void => {
      examiner.noteVisits();
      samples.ask(system.parts);
      const passed = (performance.now() - began) / 1000;
      const heap =
        samples
          .heard()
          .findLast(({ part }) => part === 'watcher')
          ?.heap.toFixed(1) ?? '?';
      onProgress(
        `${passed.toFixed(0)} s, ${Math.max(0, minutes * 60 - passed).toFixed(0)} s left: ${sum(Object.values(users.counts()))} edits, ` +
          `${sum([...struck.values()].map(({ times }) => times))} faults, ${reconciles} reconciles, ${examiner.met()} met, ` +
          `watcher's heap ${heap} MB`,
      );
    };
    const ticker = setInterval(tick, tickSeconds * 1000);
    const onStruck = (name: string, more: number): void => {
      const { times, hits } = struck.get(name) ?? { times: 0, hits: 0 };
      struck.set(name, { times: times + 1, hits: hits + more });
    };
    await Promise.all([users.edit(over), makeTrouble(system, { seed, signal: over, onStruck })]).finally(() =>
      clearInterval(ticker),
    );
  });
  const heaps = heapRows(samples.heard());
  onProgress('edits and faults are over; now it has to come to rest');
  const tanks = words().filter(({ subject, spec }) => subject.kind === 'WaterTank' && spec !== undefined);
  const stir = (): void => {
    for (const { uid, spec } of tanks) disturb(uid, Number(spec?.targetLevel) + stirredLevels);
  };
  // A tank that was filling while nobody could look may have run over, and would drain for as long as that took.
  stir();
  const { wrong: lost, seconds: converge } = await timed('converging');
  onProgress('every tank is stirred once more, and has to be found by the looks that were asked for');
  stir();
  const { wrong: asleep, seconds: stirred } = lost.length > 0 ? { wrong: [], seconds: 0 } : await timed('stirred');
  return {
    ...{ edits: users.counts(), struck, reconciles, lost: [...lost, ...asleep], complaints: users.complaints(), heaps },
    ...{ met: examiner.met(), letters: await examiner.deadLetters(), seconds: { settle, converge, stirred } },
    timers: { waiting: await examiner.timersWaiting(tanks.length), tanks: tanks.length },
  };
}

/** Works until the time is over, or until one part of the work fails: then the rest of it ends, too. */
async function forMinutes(
  minutes: number,
  signal: AbortSignal,
  work: (over: AbortSignal) => Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), minutes * 60_000);
  try {
    await work(AbortSignal.any([signal, ending.signal]));
    signal.throwIfAborted();
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
