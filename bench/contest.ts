// Measures contestants in turn, several times, so that other load of the machine affects all of them. A contestant that
// cannot be built, does not start or fails is reported with the last line of its error, and the others continue.
import { toError } from '../src/core/errors.ts';
import type { Contestant, Job, Program, Setting } from './peers/contestant.ts';

/** A contestant with one of its settings. */
export type Entrant = {
  /** Its name in tables: `kopf`, or `kopf (best)` if it has several settings. */
  readonly name: string;
  readonly setting: Setting;
  readonly program: Program;
};

/** A contestant that is measured several times. */
export type Measurable<T> = {
  readonly name: string;
  readonly version?: string;
  /** Rejects when it cannot be measured. */
  readonly measure: () => Promise<T>;
};

/** The result of a contestant: a measurement of each run, or why there is none. */
export type Outcome<T> = {
  readonly name: string;
  readonly version?: string;
  readonly runs: readonly T[];
  readonly failure?: string;
};

/** The number of runs, and the progress listener. */
export type ContestOptions = {
  readonly runs: number;
  readonly log: (line: string) => void;
  /** A contestant with longer runs is measured once; otherwise the whole figure would take hours. */
  readonly longMilliseconds?: number;
};

const defaultLongMilliseconds = 240_000;

/** Measures each contestant that does the job, with each of its settings. */
export async function measureContestants<T>(
  contestants: readonly Contestant[],
  job: Job,
  measure: (entrant: Entrant) => Promise<T>,
  options: ContestOptions,
): Promise<readonly (Outcome<T> & { readonly setting: Setting })[]> {
  const entrants: (Measurable<T> & { readonly setting: Setting })[] = [];
  for (const { name: contestant, settings, prepare } of contestants.filter((one) => one.jobs.includes(job))) {
    const program = await prepare().catch(toError);
    for (const setting of settings) {
      const name = settings.length === 1 ? contestant : `${contestant} (${setting})`;
      entrants.push(
        program instanceof Error
          ? { name, setting, measure: () => Promise.reject(program) }
          : { name, setting, version: program.version, measure: () => measure({ name, setting, program }) },
      );
    }
  }
  const outcomes = await measureInTurn(entrants, options);
  return outcomes.map((outcome, index) => ({ ...outcome, setting: entrants[index]?.setting ?? 'default' }));
}

/** Measures every contestant once, then every contestant again. */
export async function measureInTurn<T>(
  all: readonly Measurable<T>[],
  { runs, log, longMilliseconds = defaultLongMilliseconds }: ContestOptions,
): Promise<readonly Outcome<T>[]> {
  const outcomes = all.map(({ measure: _, ...about }): Outcome<T> => ({ ...about, runs: [] }));
  const startedAt = performance.now();
  const slow = new Set<string>();
  for (let run = 0; run < runs; run += 1) {
    for (const [index, { name, measure }] of all.entries()) {
      const before = outcomes[index];
      if (before === undefined || before.failure !== undefined || slow.has(name)) continue;
      const done = run * all.length + index;
      const remaining = ((performance.now() - startedAt) / done) * (runs * all.length - done);
      const soon = done === 0 ? '' : `, about ${Math.ceil(remaining / 60_000)} min left`;
      log(`  ${name}, run ${run + 1} of ${runs}${soon}`);
      const runBegun = performance.now();
      const after = await measure().then(
        (measured): Outcome<T> => ({ ...before, runs: [...before.runs, measured] }),
        (error: unknown): Outcome<T> => ({ ...before, failure: lastLine(error) }),
      );
      outcomes[index] = after;
      if (performance.now() - runBegun > longMilliseconds) slow.add(name);
      if (after.failure !== undefined) log(`  ${name}: ${after.failure}`);
    }
  }
  return outcomes;
}

/** The last line of an error, because a table has no room for more. */
function lastLine(error: unknown): string {
  const line = toError(error).message.trim().split('\n').at(-1) ?? '';
  return line.trim().slice(0, 200);
}
