// What a run of `npm run chaos` does: which rows, with which seeds, how much of everything. By hand everything can be chosen; in
// CI the commit chooses, so that its run can be had again and every commit looks at other rows; `--full` is for the document.
import { parseArgs } from 'node:util';
import type { ChaosOptions } from './chaos.ts';
import { createDice } from './random.ts';
import type { Row } from '../../test/chaos/row.ts';

/** A run. */
export type Plan = Pick<ChaosOptions, 'real' | 'amounts' | 'users'> & {
  readonly seeds: readonly number[];
  readonly rows: readonly Row[];
  /** Rows that were asked for, and that this machine's parts cannot do. */
  readonly skipped: readonly Row[];
  /** After so long no further row is begun. */
  readonly mostSeconds: number;
  readonly verbose: boolean;
  /** Where outcomes are kept, so that a run can be gone on with. */
  readonly keep?: string | undefined;
  /** The document that is to have the table of what is kept. */
  readonly write?: string | undefined;
  /** Where the calls to AWS are written, a line of JSON for each kind of each system. */
  readonly calls?: string | undefined;
  /** Where the run is reported as vitest reports its own. */
  readonly report?: string | undefined;
};

/** What a plan is made from, beside the command line. */
export type PlanParts = {
  readonly catalogue: readonly Row[];
  /** A seed from the commit that is there. */
  readonly commitSeed: () => number;
  readonly randomSeed: () => number;
};

/** Rows of a run in CI; of the slow ones, which wait for time-outs, at most one. */
const ciRows = { usual: 4, slow: 1 };
/** Of the four minutes there are; what was begun may need the rest. */
const ciSeconds = 130;
const fullSeeds = 3;
/** What a resync of 100,000 objects brings: each once in ten hours. */
const fullResyncPerSecond = 2.8;

/** Makes a plan of a command line. Throws for one that makes no sense. */
export function makePlan(args: readonly string[], { catalogue, commitSeed, randomSeed }: PlanParts): Plan {
  const { values } = parseArgs({ args: [...args], options });
  const { ci, full } = values;
  if (ci && full) throw new Error('--ci and --full: one of them');
  const real = values.real || ci || full;
  const number = (given: string | undefined, usual: number, inFull = usual) => Number(given ?? (full ? inFull : usual));
  const first = values.seed === undefined ? (ci ? commitSeed() : randomSeed()) : Number(values.seed);
  const wanted = catalogue.filter(({ fault }) => (values.only ?? ['']).some((part) => fault.includes(part)));
  const possible = wanted.filter((row) => real || row.real !== true);
  return {
    real,
    seeds: Array.from({ length: number(values.seeds, 1, fullSeeds) }, (_, index) => first + index),
    rows: values.tell ? [] : ci ? rotate(possible, first) : possible,
    skipped: wanted.filter((row) => !possible.includes(row)),
    amounts: {
      changes: number(values.changes, 40, 1_000),
      awaySeconds: number(values.away, 5, 60),
      queuesAwaySeconds: number(values['queues-away'], 5, 60),
      kills: number(values.kills, 4, 50),
      crowd: number(values.crowd, 100, 1_000),
      resyncKeys: number(values['resync-keys'], 2_000, 100_000),
      resyncPerSecond: number(values['resync-per-second'], 5, fullResyncPerSecond),
    },
    users: {
      objects: number(values.objects, 8, 50),
      users: number(values.users, 1, 5),
      pauseMilliseconds: number(values.pause, 300, 60),
    },
    mostSeconds: ci ? ciSeconds : Number.POSITIVE_INFINITY,
    verbose: values.verbose,
    keep: values.keep,
    write: values.write,
    calls: values.calls,
    report: values.report,
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
  away: { type: 'string' },
  'queues-away': { type: 'string' },
  kills: { type: 'string' },
  crowd: { type: 'string' },
  'resync-keys': { type: 'string' },
  'resync-per-second': { type: 'string' },
  only: { type: 'string', multiple: true },
  keep: { type: 'string' },
  write: { type: 'string' },
  calls: { type: 'string' },
  /** Runs nothing: what is kept is told. */
  tell: { type: 'boolean', default: false },
  report: { type: 'string' },
  verbose: { type: 'boolean', default: false },
} as const;

/** Chooses the rows of one run in CI. */
function rotate(rows: readonly Row[], seed: number): readonly Row[] {
  const dice = createDice(seed);
  const shuffled = rows
    .filter((row) => row.long !== true)
    .map((row) => ({ row, place: dice.number() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ row }) => row);
  const slow = shuffled.filter((row) => row.slow === true).slice(0, ciRows.slow);
  // The slow one last: when time runs out, it is the one that is left out.
  return [...shuffled.filter((row) => row.slow !== true).slice(0, ciRows.usual), ...slow];
}
