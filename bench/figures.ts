// Every figure of the bench: how to measure it, and how long that takes, for whoever waits.
import { build } from '../src/cli/build.ts';
import { contestants } from './contestants.ts';
import { f1 } from './f1-watcher-memory.ts';
import { f2 } from './f2-edit-to-status.ts';
import { f3 } from '../test/bench/f3-drain.ts';
import { f4 } from './f4-requests.ts';
import { f5 } from './f5-function-size.ts';
import { f6 } from './f6-restart.ts';
import { f7 } from './f7-resync.ts';
import { f8 } from '../test/bench/f8-growth.ts';
import { f9Measure } from './f9-measure.ts';
import { f9 } from './f9-price.ts';
import { f10 } from '../test/bench/f10-watcher-rate.ts';
import { f11 } from './f11-watched-bytes.ts';
import { fleetLag } from '../test/bench/fleet.ts';
import { linesOfCode } from './lines-of-code.ts';
import type { Row } from './row.ts';

/** Of a contestant a minute or more, of growth several. */
const usualRuns = 3;
/** Of what takes less. */
const shortRuns = 5;

/** A figure, or several that are measured together. */
export type Figure = {
  readonly name: string;
  /** About how long it takes on two cores. */
  readonly seconds: number;
  /** Set of what is measured only when it is asked for: it is in other documents. */
  readonly isApart?: boolean;
  readonly measure: () => Promise<readonly Row[]>;
};

/** What a user of the bench may choose. */
export type Choices = {
  /** For a trial with fewer, or with more. */
  readonly objects?: number;
  /** An empty folder: where the time goes, instead of how much it is. */
  readonly profile?: string;
  /** Of f9: another file of prices. */
  readonly prices?: string;
  /** The document of the prices, for f9 to write its tables into, and what they are computed from into its file. */
  readonly costs?: string;
  /** Of f2 and f3: beside which peers, by the beginnings of their names; all when not given. */
  readonly peers?: readonly string[];
  /** Of what is measured several times: how many times around. */
  readonly runs?: number;
};

/** Makes the list, in the order in which they are measured. */
export function allFigures(
  { objects, profile, prices, costs, peers: only, runs: chosen }: Choices,
  say: (line: string) => void,
): readonly Figure[] {
  const runs = chosen ?? usualRuns;
  const count = objects === undefined ? {} : { objects };
  const measureF5 = async () => {
    await build(process.cwd());
    return await f5();
  };
  return [
    {
      ...{ name: 'f1', seconds: 600 },
      measure: () => f1({ ...(objects === undefined ? {} : { counts: [objects] }), runs: chosen ?? shortRuns, say }),
    },
    { name: 'f2', seconds: 2_300, measure: () => f2(contestants({ only }), { ...count, runs, say }) },
    {
      name: 'f3',
      seconds: 2_950,
      measure: () => f3(contestants({ best: true, only }), { ...count, runs, say }),
    },
    { name: 'f4', seconds: 15, measure: f4 },
    { name: 'f5', seconds: 20, measure: measureF5 },
    { name: 'f6', seconds: 300, measure: () => f6(count) },
    { name: 'f7', seconds: 150, measure: () => f7(count) },
    { name: 'f8', seconds: 700, measure: () => f8({ runs, say }) },
    { name: 'f10', seconds: 750, measure: () => f10({ ...(profile === undefined ? {} : { profile }), runs, say }) },
    { name: 'f11', seconds: 20, measure: f11 },
    { name: 'f9-measure', seconds: 120, measure: () => f9Measure({ store: costs !== undefined }) },
    {
      ...{ name: 'f9', seconds: 1 },
      measure: () =>
        f9({ ...(prices === undefined ? {} : { prices }), ...(costs === undefined ? {} : { write: costs }) }),
    },
    { name: 'fleet', seconds: 700, isApart: true, measure: fleetLag },
    { name: 'loc', seconds: 2, isApart: true, measure: linesOfCode },
  ];
}
