// How long the last runs of each controller took, and where the time went: from the log lines of the runs. Pure.

/** A run, as its log line says. Times are in milliseconds; the latency is from a change to the end of its run. */
export type TimedRun = {
  readonly cause?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly requestMs?: number | undefined;
  readonly latencyMs?: number | undefined;
};

/** The times of a controller, in milliseconds: the latency, and the parts of an average run, the longest one first. */
export type ControllerTimes = Latencies & {
  readonly runs: number;
  readonly parts: readonly { readonly name: keyof typeof partTexts; readonly ms: number }[];
};

/** The latencies of runs; absent if there are none. */
export type Latencies = { readonly p50Ms?: number; readonly p99Ms?: number };

const partTexts = { wait: 'watcher and queue', 'API server': 'the API server', code: 'its code and what it calls' };
/** The runs that are kept of a controller. */
const maxRuns = 1_000;

/** The last runs of each controller. */
export class RunTimes {
  readonly #runs = new Map<string, TimedRun[]>();

  /** Adds a run that has ended. */
  add(controller: string, { cause, durationMs, requestMs, latencyMs }: TimedRun): void {
    const runs = this.#runs.get(controller) ?? [];
    this.#runs.set(controller, runs);
    if (runs.push({ cause, durationMs, requestMs, latencyMs }) > maxRuns) runs.shift();
  }

  /** Returns the times of a controller; undefined if it has not run. */
  of(controller: string): ControllerTimes | undefined {
    const runs = this.#runs.get(controller) ?? [];
    if (runs.length === 0) return undefined;
    const changes = runs.filter(({ cause }) => cause === 'change');
    const parts = [
      // A retry has waited on purpose.
      ...part('wait', changes, ({ latencyMs = Number.NaN, durationMs = 0 }) => latencyMs - durationMs),
      ...part('API server', runs, ({ requestMs = Number.NaN }) => requestMs),
      ...part('code', runs, ({ durationMs = Number.NaN, requestMs = Number.NaN }) => durationMs - requestMs),
    ];
    return { runs: runs.length, ...latenciesOf(changes), parts: parts.toSorted((a, b) => b.ms - a.ms) };
  }
}

function part(
  name: keyof typeof partTexts,
  runs: readonly TimedRun[],
  msOf: (run: TimedRun) => number,
): ControllerTimes['parts'] {
  const all = runs.map(msOf).filter((ms) => !Number.isNaN(ms));
  const sum = all.reduce((total, ms) => total + Math.max(0, ms), 0);
  return all.length === 0 ? [] : [{ name, ms: Math.round(sum / all.length) }];
}

/** The time of an average run, with what it has waited. */
export function averageMs({ parts }: ControllerTimes): number {
  return parts.reduce((sum, { ms }) => sum + ms, 0);
}

/** Says where the time goes: `12 runs, p50 2.1 s, p99 4.0 s from a change to its status; on average 1.9 s in ...`. */
export function timesText({ runs, p50Ms, p99Ms, parts }: ControllerTimes): string {
  const latency =
    p50Ms === undefined || p99Ms === undefined
      ? ''
      : `, p50 ${duration(p50Ms)}, p99 ${duration(p99Ms)} from a change to its status`;
  const split = parts.map(({ name, ms }) => `${duration(ms)} in ${partTexts[name]}`).join(', ');
  return `${runs === 1 ? '1 run' : `${runs} runs`}${latency}${split === '' ? '' : `; on average ${split}`}`;
}

function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Returns the latencies of runs. */
export function latenciesOf(runs: readonly TimedRun[]): Latencies {
  const sorted = runs.flatMap(({ latencyMs }) => (latencyMs === undefined ? [] : [latencyMs])).sort((a, b) => a - b);
  const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
  const [p50Ms, p99Ms] = [quantile(0.5), quantile(0.99)];
  return p50Ms === undefined || p99Ms === undefined ? {} : { p50Ms, p99Ms };
}
