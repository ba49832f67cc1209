// Contestants one after the other, several times around, so that what else the machine does is in everybody's spread. One that cannot be built,
// does not start or breaks off is told with the last line of its error, and the others go on.
import { toError } from '../src/core/errors.ts';
import type { Contestant, Job, Program, Setting } from '../test/bench/peers/contestant.ts';

/** A contestant with one of its settings. */
export type Entrant = {
  /** As tables call it: `kopf`, or `kopf (best)` where it has several settings. */
  readonly name: string;
  readonly setting: Setting;
  readonly program: Program;
};

/** Somebody who is measured several times. */
export type Measurable<T> = {
  readonly name: string;
  readonly version?: string;
  /** Rejects where there is nothing to measure. */
  readonly measure: () => Promise<T>;
};

/** What somebody came to: a measurement of each run, or why there are none. */
export type Outcome<T> = {
  readonly name: string;
  readonly version?: string;
  readonly runs: readonly T[];
  readonly failure?: string;
};

/** How often, and what is told meanwhile. */
export type ContestOptions = {
  readonly runs: number;
  readonly say: (line: string) => void;
  /** Whose run takes longer is measured once: with it the others' minutes would become hours. */
  readonly longMilliseconds?: number;
};

const usualLongMilliseconds = 240_000;

/** Measures each contestant that does the job, in each of its settings. */
export async function compete<T>(
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
  const outcomes = await alternate(entrants, options);
  return outcomes.map((outcome, index) => ({ ...outcome, setting: entrants[index]?.setting ?? 'default' }));
}

/** Measures everybody once, then everybody again. */
export async function alternate<T>(
  all: readonly Measurable<T>[],
  { runs, say, longMilliseconds = usualLongMilliseconds }: ContestOptions,
): Promise<readonly Outcome<T>[]> {
  const outcomes = all.map(({ measure: _, ...about }): Outcome<T> => ({ ...about, runs: [] }));
  const begun = performance.now();
  const slow = new Set<string>();
  for (let run = 0; run < runs; run += 1) {
    for (const [index, { name, measure }] of all.entries()) {
      const before = outcomes[index];
      if (before === undefined || before.failure !== undefined || slow.has(name)) continue;
      const done = run * all.length + index;
      const left = ((performance.now() - begun) / done) * (runs * all.length - done);
      const soon = done === 0 ? '' : `, about ${Math.ceil(left / 60_000)} min left`;
      say(`  ${name}, run ${run + 1} of ${runs}${soon}`);
      const runBegun = performance.now();
      const after = await measure().then(
        (measured): Outcome<T> => ({ ...before, runs: [...before.runs, measured] }),
        (error: unknown): Outcome<T> => ({ ...before, failure: lastLine(error) }),
      );
      outcomes[index] = after;
      if (performance.now() - runBegun > longMilliseconds) slow.add(name);
      if (after.failure !== undefined) say(`  ${name}: ${after.failure}`);
    }
  }
  return outcomes;
}

/** The last line of an error: a table has room for no more. */
function lastLine(error: unknown): string {
  const line = toError(error).message.trim().split('\n').at(-1) ?? '';
  return line.trim().slice(0, 200);
}
