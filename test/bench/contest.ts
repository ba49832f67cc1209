// Contestants one after the other, several times around, so that what else the machine does is in everybody's spread. One that cannot be built,
// does not start or breaks off is told with the last line of its error, and the others go on.
import { toError } from '../../src/core/errors.ts';
import type { Contestant, Job, Program, Setting } from './peers/contestant.ts';

/** A contestant with one of its settings. */
export type Entrant = {
  /** As tables call it: `kopf`, or `kopf (best)` where it has several settings. */
  readonly name: string;
  readonly setting: Setting;
  readonly program: Program;
};

/** What an entrant came to: a measurement of each run, or why there are none. */
export type Outcome<T> = {
  readonly name: string;
  readonly setting: Setting;
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
  { runs, say, longMilliseconds = usualLongMilliseconds }: ContestOptions,
): Promise<readonly Outcome<T>[]> {
  const outcomes: Outcome<T>[] = [];
  const entrants: Entrant[] = [];
  for (const { name: contestant, settings, prepare } of contestants.filter((one) => one.jobs.includes(job))) {
    const prepared = await prepare().catch(lastLine);
    for (const setting of settings) {
      const name = settings.length === 1 ? contestant : `${contestant} (${setting})`;
      if (typeof prepared === 'string') say(`  ${name}: ${prepared}`);
      outcomes.push({ name, setting, runs: [], ...(typeof prepared === 'string' ? { failure: prepared } : {}) });
      if (typeof prepared !== 'string') entrants.push({ name, setting, program: prepared });
    }
  }
  const begun = performance.now();
  const slow = new Set<string>();
  for (let run = 0; run < runs; run += 1) {
    for (const [index, entrant] of entrants.entries()) {
      const at = outcomes.findIndex(({ name }) => name === entrant.name);
      const before = outcomes[at];
      if (before === undefined || before.failure !== undefined || slow.has(entrant.name)) continue;
      const done = run * entrants.length + index;
      const left = ((performance.now() - begun) / done) * (runs * entrants.length - done);
      const soon = done === 0 ? '' : `, about ${Math.ceil(left / 60_000)} min left`;
      say(`  ${entrant.name}, run ${run + 1} of ${runs}${soon}`);
      const { version } = entrant.program;
      const runBegun = performance.now();
      outcomes[at] = await measure(entrant).then(
        (measured) => ({ ...before, version, runs: [...before.runs, measured] }),
        (error: unknown) => ({ ...before, version, failure: lastLine(error) }),
      );
      if (performance.now() - runBegun > longMilliseconds) slow.add(entrant.name);
      const { failure } = outcomes[at];
      if (failure !== undefined) say(`  ${entrant.name}: ${failure}`);
    }
  }
  return outcomes;
}

/** The last line of an error: a table has room for no more. */
function lastLine(error: unknown): string {
  const line = toError(error).message.trim().split('\n').at(-1) ?? '';
  return line.trim().slice(0, 200);
}
