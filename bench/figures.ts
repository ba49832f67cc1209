// Every figure of the bench: how it is measured, and how long that takes.
import { build } from '@outrigger/cli/commands/build';
import { contestants } from './contestants.ts';
import { f1Foreign } from './f1-foreign.ts';
import { f1 } from './f1-watcher-memory.ts';
import { f2 } from './f2-edit-to-status.ts';
import { f3 } from './f3-drain.ts';
import { f4 } from './f4-requests.ts';
import { f5 } from './f5-function-size.ts';
import { f6 } from './f6-restart.ts';
import { f7 } from './f7-resync.ts';
import { f8 } from './f8-growth.ts';
import { f9Measure } from './f9-measure.ts';
import { f9 } from './f9-price.ts';
import { f10 } from './f10-watcher-rate.ts';
import { f11 } from './f11-watched-bytes.ts';
import { f12 } from './f12-timers.ts';
import { f13 } from './f13-api-server-cpu.ts';
import { f14 } from './f14-large-sets.ts';
import { measureFleet } from './fleet.ts';
import { measureFleetMemory } from './fleet-memory.ts';
import { linesOfCode } from './lines-of-code.ts';
import type { Row } from './row.ts';
import { scale } from './scale/document.ts';
import { measureScale } from './scale/measure.ts';

/** For figures with a minute or more for each contestant, and for growth. */
const defaultRuns = 3;
/** For shorter figures. */
const shortRuns = 5;

/** A figure, or several that are measured together. */
export type Figure = {
  readonly name: string;
  /** The approximate time on two cores. */
  readonly seconds: number;
  /** True: measured only when it is named, because it is in another document. */
  readonly onlyOnRequest?: boolean;
  readonly measure: () => Promise<readonly Row[]>;
};

/** The options of the bench. */
export type Choices = {
  /** The number of objects, for a trial. */
  readonly objects?: number;
  /** An empty folder for CPU profiles, instead of results. */
  readonly profile?: string;
  /** For f9: another file of prices. */
  readonly prices?: string;
  /** For f9: the document of the prices, whose tables are written, and whose measurements are stored. */
  readonly costs?: string;
  /** For scale: whether docs/scale.md is written. */
  readonly scaleDocument?: boolean;
  /** For f2, f3 and f13: the peers, by prefixes of their names; default: all. */
  readonly peers?: readonly string[];
  /** The number of runs of figures that are measured several times. */
  readonly runs?: number;
};

/** Returns the list, in the order of measurement. */
export function allFigures(
  { objects, profile, prices, costs, peers: only, runs: chosenRuns, scaleDocument = false }: Choices,
  log: (line: string) => void,
): readonly Figure[] {
  const runs = chosenRuns ?? defaultRuns;
  const count = objects === undefined ? {} : { objects };
  const measureF5 = async () => {
    await build(process.cwd());
    return await f5();
  };
  return [
    {
      name: 'f1',
      seconds: 600,
      measure: async () => [
        ...(await f1({ ...(objects === undefined ? {} : { counts: [objects] }), runs: chosenRuns ?? shortRuns, log })),
        ...(await f1Foreign()),
      ],
    },
    { name: 'f2', seconds: 2_300, measure: () => f2(contestants({ only }), { ...count, runs, log }) },
    {
      name: 'f3',
      seconds: 2_950,
      measure: () => f3(contestants({ best: true, only }), { ...count, runs, log }),
    },
    { name: 'f4', seconds: 15, measure: f4 },
    { name: 'f5', seconds: 20, measure: measureF5 },
    { name: 'f6', seconds: 300, measure: () => f6(count) },
    { name: 'f7', seconds: 150, measure: () => f7(count) },
    { name: 'f8', seconds: 700, measure: () => f8({ runs, log: log }) },
    { name: 'f10', seconds: 750, measure: () => f10({ ...(profile === undefined ? {} : { profile }), runs, log }) },
    { name: 'f11', seconds: 20, measure: f11 },
    { name: 'f12', seconds: 120, measure: () => f12(count) },
    { name: 'f13', seconds: 900, measure: () => f13(contestants({ only }), { ...count, runs, log }) },
    { name: 'f14', seconds: 300, measure: () => f14() },
    { name: 'f9-measure', seconds: 120, measure: () => f9Measure({ store: costs !== undefined }) },
    {
      name: 'f9',
      seconds: 1,
      measure: () =>
        f9({ ...(prices === undefined ? {} : { prices }), ...(costs === undefined ? {} : { write: costs }) }),
    },
    { name: 'scale', seconds: 60, onlyOnRequest: true, measure: () => scale({ write: scaleDocument }) },
    { name: 'scale-measure', seconds: 180, onlyOnRequest: true, measure: measureScale },
    { name: 'fleet', seconds: 700, onlyOnRequest: true, measure: measureFleet },
    { name: 'fleet-memory', seconds: 120, onlyOnRequest: true, measure: measureFleetMemory },
    { name: 'loc', seconds: 2, onlyOnRequest: true, measure: linesOfCode },
  ];
}
