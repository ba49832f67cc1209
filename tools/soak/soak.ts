// One soak: all objects are created and converge, then users edit during faults, then everything has to converge again.
// Finally every tank is disturbed once more, and the event of its sensor has to reach its controller.
import { createPlainApi } from '../chaos/plain-api.ts';
import { createBackends } from './backends.ts';
import { type FaultCounts, injectRandomFaults } from './faults.ts';
import { createHeapSamples } from './heap-samples.ts';
import { type HeapRow, heapRows } from './heap-table.ts';
import { createSoakChecker } from './soak-checker.ts';
import { startSystem } from './system.ts';
import { createUsers, type Verb } from './users.ts';

export type SoakOptions = {
  readonly seed: number;
  readonly minutes: number;
  readonly objects: number;
  /** The longest pause of a user between two edits. */
  readonly pauseMilliseconds: number;
  readonly signal: AbortSignal;
  /** Receives the progress, one line at a time. */
  readonly onProgress: (line: string) => void;
  /** Receives the output of the processes, and errors of the system. */
  readonly onLine?: (line: string) => void;
};

/** The outcome. No change was lost if `lost`, `deadLetters` and `unexpectedResponses` are empty. */
export type SoakOutcome = {
  readonly edits: Readonly<Record<Verb, number>>;
  readonly faultCounts: FaultCounts;
  readonly reconciles: number;
  /** The violations at the end, one line each. */
  readonly lost: readonly string[];
  readonly unexpectedResponses: readonly string[];
  /** Pairs of concurrent pantry requests for one Ingredient. */
  readonly overlapCount: number;
  /** Messages of the dead-letter queues, as JSON. */
  readonly deadLetters: readonly string[];
  readonly heaps: readonly HeapRow[];
  /** From the start, from the last edit and fault, and from the disturbance, each until everything converged. */
  readonly seconds: { readonly initial: number; readonly converge: number; readonly disturbed: number };
  readonly timers: { readonly waiting: number; readonly tanks: number };
};

/** From here on a run is long enough for what grows or collapses slowly: heaps and timers. */
export const longMinutes = 5;
const progressSeconds = 10;
/** Beyond every tolerance, and drained within some seconds. */
const disturbanceLevels = 6;

/**
 * Runs a soak and cleans up. Throws when the system cannot be started or does not converge at first, or when the signal
 * aborts.
 */
export async function soak(options: SoakOptions): Promise<SoakOutcome> {
  const { seed, minutes, objects, pauseMilliseconds, signal, onProgress, onLine = () => undefined } = options;
  await using cleanup = new AsyncDisposableStack();
  const samples = createHeapSamples();
  let reconciles = 0;
  const readLine = (pid: number, line: string): void => {
    if (samples.readLine(pid, line)) return;
    if (line.includes('"reconciled"')) reconciles += 1;
    onLine(line);
  };
  onProgress('starting the control plane, two watchers and the functions');
  const system = await startSystem({ signal, onLine: readLine, onError: onLine });
  cleanup.defer(() => system.close());
  const api = cleanup.adopt(createPlainApi(system.direct.api), (caller) => caller.close());
  const sqs = cleanup.adopt(createPlainApi(system.direct.sqs), (caller) => caller.close());
  const { disturb } = system.simulators.plant;
  const users = createUsers({ api, pour: disturb }, { seed, objects, pauseMilliseconds });
  const { lastWrites } = users;
  const checker = createSoakChecker({ system, api, sqs, lastWrites, onProgress, signal });
  const measure = async (what: string) => {
    const since = performance.now();
    const violations = await checker.untilConverged(what);
    return { violations, seconds: (performance.now() - since) / 1000 };
  };

  const since = performance.now();
  await createBackends(api);
  onProgress(`creating ${objects} objects`);
  await users.createAll();
  const { violations: initialViolations } = await measure('initial convergence');
  if (initialViolations.length > 0) throw new Error(`it did not converge: ${initialViolations.slice(0, 5).join('; ')}`);
  const initial = (performance.now() - since) / 1000;

  onProgress(`converged after ${initial.toFixed(0)} s; next: ${minutes} minutes of edits and faults`);
  const faultCounts = new Map<string, { times: number; hits: number }>();
  const startedAt = performance.now();
  await forMinutes(minutes, signal, async (end) => {
    const reportProgress = (): void => {
      checker.recordRequests();
      samples.request(system.parts);
      const elapsed = (performance.now() - startedAt) / 1000;
      const heap =
        samples
          .samples()
          .findLast(({ part }) => part === 'watcher')
          ?.heap.toFixed(1) ?? '?';
      onProgress(
        `${elapsed.toFixed(0)} s, ${Math.max(0, minutes * 60 - elapsed).toFixed(0)} s left: ${sum(Object.values(users.counts()))} edits, ` +
          `${sum([...faultCounts.values()].map(({ times }) => times))} faults, ${reconciles} reconciles, ${checker.overlapCount()} overlaps, ` +
          `watcher's heap ${heap} MB`,
      );
    };
    const progressTimer = setInterval(reportProgress, progressSeconds * 1000);
    const onFault = (name: string, added: number): void => {
      const { times, hits } = faultCounts.get(name) ?? { times: 0, hits: 0 };
      faultCounts.set(name, { times: times + 1, hits: hits + added });
    };
    await Promise.all([users.edit(end), injectRandomFaults(system, { seed, signal: end, onFault })]).finally(() =>
      clearInterval(progressTimer),
    );
  });
  const heaps = heapRows(samples.samples());
  onProgress('edits and faults have ended; waiting for convergence');
  const tanks = lastWrites().filter(({ subject, spec }) => subject.kind === 'WaterTank' && spec !== undefined);
  const disturbAll = (): void => {
    for (const { uid, spec } of tanks) disturb(uid, Number(spec?.targetLevel) + disturbanceLevels);
  };
  // A tank that filled while no controller could read it may have overflowed, and would drain for as long as that took.
  disturbAll();
  const { violations: lost, seconds: converge } = await measure('convergence');
  onProgress('every tank is disturbed once more; the events of the sensors wake its controller');
  disturbAll();
  const { violations: undetected, seconds: disturbed } =
    lost.length > 0 ? { violations: [], seconds: 0 } : await measure('convergence after the disturbance');
  return {
    edits: users.counts(),
    faultCounts,
    reconciles,
    lost: [...lost, ...undetected],
    unexpectedResponses: users.unexpectedResponses(),
    heaps,
    overlapCount: checker.overlapCount(),
    deadLetters: await checker.deadLetters(),
    seconds: { initial, converge, disturbed },
    timers: {
      waiting: await checker.countTimers(minutes >= longMinutes ? 2 * tanks.length : Number.POSITIVE_INFINITY),
      tanks: tanks.length,
    },
  };
}

/** Runs the work until the time is over, or until one part of it fails, which also ends the others. */
async function forMinutes(
  minutes: number,
  signal: AbortSignal,
  work: (end: AbortSignal) => Promise<void>,
): Promise<void> {
  const aborter = new AbortController();
  const timer = setTimeout(() => aborter.abort(), minutes * 60_000);
  try {
    await work(AbortSignal.any([signal, aborter.signal]));
    signal.throwIfAborted();
  } finally {
    clearTimeout(timer);
    aborter.abort();
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
