// The measured runs that the simulation has to reproduce: drains of f3, on a real kube-apiserver, with the deployed
// bundles, limited by the concurrency of the function.
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { Measured } from '@outrigger/cli/commands/cost/price-sheet';
import { readSheet } from '@outrigger/cli/commands/cost/read-sheet';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { drain } from '../f3-drain.ts';
import { ours } from '../ours/ours.ts';
import type { Row } from '../row.ts';
import { rateLimit } from './assumed.ts';
import { type DrainPlan, simulateDrain } from './drain.ts';

const file = 'bench/scale/measured.json';
/** How long the external service of f3 takes. */
const externalMs = 200;
/** A call on one machine, in milliseconds. */
const localCallMs = 1;
/** The greatest difference between a measured and a simulated run. */
export const tolerance = 0.2;
/** Few enough batches that the two cores, which API server and queue server share, do not limit them. */
const runs = [
  { what: 'one batch of ten at a time', objects: 1_000, concurrency: 1 },
  { what: 'two batches of ten at a time', objects: 2_000, concurrency: 2 },
] as const;

const shape = z.strictObject({
  machine: z.string(),
  runs: z.array(
    z.strictObject({ what: z.string(), objects: z.number(), concurrency: z.number(), seconds: z.number() }),
  ),
});
export type MeasuredRun = z.infer<typeof shape>['runs'][number];

/** Reads the stored runs. */
export async function measuredRuns(): Promise<z.infer<typeof shape>> {
  return shape.parse(JSON.parse(await readFile(file, 'utf8')));
}

/** Returns the plan of a measured run: one cluster with one watcher, a whole processor, local calls. */
export function planOf({ objects, concurrency }: MeasuredRun, measured: Measured): DrainPlan {
  return {
    clusters: 1,
    objects,
    concurrency,
    watchers: 1,
    rateLimit,
    // Keys of a batch run at the same time: the external service, the CPU time of ten, the calls of one.
    batchMs: () => externalMs + measured['changed-10'].cpuMilliseconds + 7 * localCallMs,
    sqsCallMs: localCallMs,
    pollMs: localCallMs,
    scalingPer10Seconds: Number.POSITIVE_INFINITY,
  };
}

/** Measures each run once and stores it. */
export async function measureScale(): Promise<readonly Row[]> {
  const { measured } = await readSheet(registry);
  const program = await ours('fauxqs').prepare();
  const results: MeasuredRun[] = [];
  for (const run of runs) {
    const entrant = { name: 'Outrigger', program, setting: 'default' } as const;
    const seconds = await drain(entrant, run.objects, run.concurrency * 10);
    results.push({ ...run, seconds: Number(seconds.toFixed(1)) });
  }
  await writeFile(file, `${JSON.stringify({ machine: machineText(), runs: results }, undefined, 2)}\n`);
  return (await simulateRuns(results, measured)).map(rowOf);
}

/** A measured run, and how long its simulation takes, in seconds. */
export type SimulatedRun = MeasuredRun & { readonly simulated: number };

/** Simulates measured runs. */
export async function simulateRuns(
  measuredOnes: readonly MeasuredRun[],
  measured: Measured,
): Promise<readonly SimulatedRun[]> {
  return await Promise.all(
    measuredOnes.map(async (run) => ({ ...run, simulated: (await simulateDrain(planOf(run, measured))).seconds })),
  );
}

/** Compares a run with its simulation. */
export function rowOf({ what, objects, seconds, simulated }: SimulatedRun): Row {
  return {
    figure: 'scale',
    what: `drain ${objects} objects, ${what}`,
    ours: `${seconds} s`,
    peer: `${simulated.toFixed(1)} s (simulated)`,
    ratio: (simulated / seconds).toFixed(2),
    goal: `within ${tolerance * 100} %`,
    met: Math.abs(simulated / seconds - 1) <= tolerance,
  };
}

function machineText(): string {
  return `${availableParallelism()} cores, Node ${process.versions.node}, a real kube-apiserver, ${new Date().toISOString().slice(0, 10)}`;
}
