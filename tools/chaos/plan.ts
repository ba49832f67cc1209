// The plan of a run of `npm run chaos`: its rows, seeds and amounts. On the command line everything can be chosen. In
// CI the commit's hash chooses, so a run can be repeated and every commit tests other rows. `--full` writes the record
// of the document.
import { parseArgs } from 'node:util';
import type { ChaosOptions } from './chaos.ts';
import { createSeededRandom } from './random.ts';
import type { Row } from './row.ts';

/** A run. */
export type Plan = Pick<ChaosOptions, 'real' | 'amounts' | 'users' | 'timeoutSeconds'> & {
  readonly seeds: readonly number[];
  readonly rows: readonly Row[];
  /** Rows that were selected, but need `--real`. */
  readonly skipped: readonly Row[];
  /** No further row is started after this time. */
  readonly maxSeconds: number;
  readonly verbose: boolean;
  /** The file with the outcomes, so that an interrupted run can be continued. */
  readonly outcomeFile?: string | undefined;
  /** The document to which the table of the outcomes is written. */
  readonly document?: string | undefined;
  /** The name of the table in the document. */
  readonly record: string;
  /** The file for the calls to AWS: a line of JSON for each kind of call and each system. */
  readonly callFile?: string | undefined;
  /** The file for the run's results in the format of vitest's report. */
  readonly reportFile?: string | undefined;
};

/** The inputs of a plan apart from the command line. */
export type PlanDeps = {
  readonly catalogue: readonly Row[];
  /** A seed from the present commit. */
  readonly commitSeed: () => number;
  readonly randomSeed: () => number;
};

/** The rows of a run in CI; at most one of the slow ones, which wait for timeouts. */
const ciRows = { usual: 4, slow: 1 };
/** A CI run has four minutes; a row that was started may need the rest. */
const ciSeconds = 130;
const fullSeeds = 3;
/** The rate of a resync of 100,000 objects, each once in ten hours. */
const fullResyncPerSecond = 2.8;

/** Creates the plan for a command line. Throws for options that contradict each other. */
export function makePlan(args: readonly string[], { catalogue, commitSeed, randomSeed }: PlanDeps): Plan {
  const { values } = parseArgs({ args: [...args], options });
  const { ci, full } = values;
  if (ci && full) throw new Error('--ci and --full exclude each other');
  const real = values.real || ci || full;
  const number = (given: string | undefined, usual: number, fullValue = usual) =>
    Number(given ?? (full ? fullValue : usual));
  const firstSeed = values.seed === undefined ? (ci ? commitSeed() : randomSeed()) : Number(values.seed);
  const selected = catalogue.filter(({ fault }) => (values.only ?? ['']).some((part) => fault.includes(part)));
  const runnable = selected.filter((row) => real || row.real !== true);
  return {
    real,
    seeds: Array.from({ length: number(values.seeds, 1, fullSeeds) }, (_, index) => firstSeed + index),
    rows: values['report-only'] ? [] : ci ? rotate(runnable, firstSeed) : runnable,
    skipped: selected.filter((row) => !runnable.includes(row)),
    amounts: {
      changes: number(values.changes, 40, 1_000),
      outageSeconds: number(values.outage, 5, 60),
      queueOutageSeconds: number(values['queue-outage'], 5, 60),
      rejectSeconds: number(values.reject, 5, 300),
      kills: number(values.kills, 4, 50),
      bulkObjects: number(values['bulk-objects'], 100, 1_000),
      resyncKeys: number(values['resync-keys'], 2_000, 100_000),
      resyncPerSecond: number(values['resync-per-second'], 5, fullResyncPerSecond),
    },
    users: {
      objects: number(values.objects, 8, 50),
      users: number(values.users, 1, 5),
      pauseMilliseconds: number(values.pause, 300, 60),
    },
    ...(values.timeout === undefined ? {} : { timeoutSeconds: Number(values.timeout) }),
    maxSeconds: ci ? ciSeconds : Number.POSITIVE_INFINITY,
    verbose: values.verbose,
    outcomeFile: values.keep,
    document: values.write,
    record: values.record,
    callFile: values.calls,
    reportFile: values.report,
  };
}

const options = {
  real: { type: 'boolean', default: false },
  ci: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  seed: { type: 'string' },
  seeds: { type: 'string' },
  changes: { type: 'string' },
  objects: { type: 'string' },
  users: { type: 'string' },
  pause: { type: 'string' },
  /** The time limit of the functions, in seconds: with a few, a loaded machine is a fault of its own. */
  timeout: { type: 'string' },
  outage: { type: 'string' },
  'queue-outage': { type: 'string' },
  reject: { type: 'string' },
  kills: { type: 'string' },
  'bulk-objects': { type: 'string' },
  'resync-keys': { type: 'string' },
  'resync-per-second': { type: 'string' },
  only: { type: 'string', multiple: true },
  keep: { type: 'string' },
  write: { type: 'string' },
  record: { type: 'string', default: 'chaos' },
  calls: { type: 'string' },
  /** Runs nothing; only reports the outcomes of `--keep`. */
  'report-only': { type: 'boolean', default: false },
  report: { type: 'string' },
  verbose: { type: 'boolean', default: false },
} as const;

/** Chooses the rows of one run in CI. */
function rotate(rows: readonly Row[], seed: number): readonly Row[] {
  const random = createSeededRandom(seed);
  const shuffled = rows
    .filter((row) => row.long !== true)
    .map((row) => ({ row, place: random.number() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ row }) => row);
  const slow = shuffled.filter((row) => row.slow === true).slice(0, ciRows.slow);
  // The slow row is last: if time runs out, it is the one that is skipped.
  return [...shuffled.filter((row) => row.slow !== true).slice(0, ciRows.usual), ...slow];
}
