// docs/scale.md: the tables of the simulation, and its plots.
import { readFile, writeFile } from 'node:fs/promises';
import {
  assumed,
  fleetTasks,
  functionMegabytes,
  invocationMs,
  listCoreSecondsPerObject,
  millionChanges,
  periodicMonth,
  resyncMegabytes,
  total,
} from '@outrigger/cli/commands/cost/price-sheet';
import { readSheet, type Sheet } from '@outrigger/cli/commands/cost/read-sheet';
import { refreshSeconds } from '../../src/clusters/registry/source.ts';
import { registry } from '../../src/controllers/registry.ts';
import { replaceBetween } from '../../test/support/replace-between.ts';
import { dollars, table } from '../markdown.ts';
import type { Row } from '../row.ts';
import { quotas, rateLimit } from './assumed.ts';
import { type Drain, simulateDrain } from './drain.ts';
import { measuredRuns, rowOf, simulateRuns } from './measure.ts';
import { busiestSecond, type Periodic, paceWithUnreachable, periodicReconciles, resyncRunSeconds } from './steady.ts';

export const file = 'docs/scale.md';
const plot = 'docs/scale.svg';
const fleets = [50, 500, 5_000] as const;
const objects = 10_000;
/** MaximumConcurrency of the mapping, with the account's concurrency that it needs. */
const settings = [
  { concurrency: 10, name: 'as deployed: 10 batches at a time' },
  { concurrency: 100, name: '`concurrency: 100`' },
  { concurrency: 1_000, name: '`concurrency: 1000`' },
] as const;
/** The resync function: packages/cli/src/aws/shared.ts, and f7 for its pace. */
const resync = {
  concurrency: 10,
  coresPerFunction: resyncMegabytes / assumed.megabytesPerCore,
  coreSecondsPerObject: listCoreSecondsPerObject,
};
const resyncIntervalSeconds = 600;
const unreachable = { share: 0.1, timeoutMs: 3_000 };

type Simulated = { readonly clusters: number; readonly setting: (typeof settings)[number]; readonly drain: Drain };

/** Simulates every fleet with every setting. */
async function simulateAll({ measured }: Sheet): Promise<readonly Simulated[]> {
  const all: Simulated[] = [];
  for (const clusters of fleets) {
    for (const setting of settings) {
      const batchMs = (size: number) =>
        size > 5
          ? invocationMs(measured['changed-10'], 10, functionMegabytes)
          : invocationMs(measured['changed-1'], 1, functionMegabytes);
      const plan = { clusters, objects, rateLimit, concurrency: setting.concurrency, batchMs };
      all.push({ clusters, setting, drain: await simulateDrain(plan) });
    }
  }
  return all;
}

/** Writes the document's tables and its plot. Returns rows for the bench. */
export async function scale({ write }: { readonly write: boolean }): Promise<readonly Row[]> {
  const sheet = await readSheet(registry);
  const simulated = await simulateAll(sheet);
  const { text, rows } = await scaleTables(sheet, simulated);
  if (write) {
    const before = await readFile(file, 'utf8');
    await writeFile(file, replaceBetween(before, text, { file, name: 'scale' }));
    // The charts have a lock file of their own: a test of the tables does without them.
    const { drawProgress } = await import('./plot.ts');
    const fastest = simulated.filter(({ setting }) => setting.concurrency === 1_000);
    await writeFile(
      plot,
      drawProgress(fastest.map(({ clusters, drain }) => ({ clusters, drain, all: clusters * objects }))),
    );
  }
  return rows;
}

/** Computes the text between the document's marks. */
export async function scaleText(): Promise<string> {
  const sheet = await readSheet(registry);
  return (await scaleTables(sheet, await simulateAll(sheet))).text;
}

async function scaleTables(
  sheet: Sheet,
  simulated: readonly Simulated[],
): Promise<{ readonly text: string; readonly rows: readonly Row[] }> {
  const { prices, measured } = sheet;
  const { runs } = await measuredRuns();
  const checked = await simulateRuns(runs, measured);
  const rows = checked.map(rowOf);
  const batchMs = invocationMs(measured['changed-10'], 10, functionMegabytes);
  const convergedMs = invocationMs(measured['converged-1'], 1, functionMegabytes);
  const text = [
    '### A change of every object',
    '',
    `${number(objects)} objects of one controller in each cluster change at once.`,
    '',
    table(
      ['clusters', 'setting', 'all done after', 'binds first', 'used up', 'at most, a cluster and second', 'price'],
      simulated.map(({ clusters, setting, drain }) => [
        number(clusters),
        setting.name,
        duration(drain.seconds),
        drain.binding,
        `${Math.round(drain.usedUp[drain.binding] * 100)} %`,
        `${number(Math.max(1, Math.round(drain.peakPerCluster)))} reconciles`,
        dollars(((clusters * objects) / 1e6) * total(millionChanges(prices, measured, 10))),
      ]),
    ),
    '',
    '![Objects that are done, over time](scale.svg)',
    '',
    '### While nothing changes',
    '',
    `One controller, ${number(objects)} objects in each cluster, each reconciled once in ten hours.`,
    '',
    table(
      ['', ...fleets.map((clusters) => `${number(clusters)} clusters`)],
      [
        perFleet('periodic reconciles a second, mean', ({ periodic }) => number(Math.round(periodic.mean))),
        perFleet('periodic reconciles, in the busiest second', ({ periodic }) => number(Math.round(periodic.peak))),
        perFleet('batches of one at a time that this takes', ({ periodic }) =>
          String(Math.max(1, Math.ceil((periodic.peak * convergedMs) / 1_000))),
        ),
        perFleet(`a resync run with ${resync.concurrency} functions, of ${resyncIntervalSeconds} s`, ({ clusters }) => {
          const seconds = resyncRunSeconds(clusters, objects, resync);
          return `${duration(seconds)}${seconds > resyncIntervalSeconds ? ' (**too long**)' : ''}`;
        }),
        perFleet('reads of the clusters table a second, 1,000 instances', () =>
          (quotas.accountConcurrency / refreshSeconds).toFixed(1),
        ),
        perFleet('tasks of a fleet watcher', ({ clusters }) => {
          const { tasks, gigabytes } = fleetTasks(clusters, objects);
          return `${tasks} of ${gigabytes} GB`;
        }),
        perFleet('price of the periodic reconciles, a month', ({ clusters }) => {
          const price = (size: 1 | 10) => periodicMonth(prices, measured, clusters * objects, size);
          return `$${number(Math.round(price(10)))} - $${number(Math.round(price(1)))}`;
        }),
        perFleet('pace that is left while a tenth of the clusters does not answer', ({ clusters }) => {
          const options = { batchMs, timeoutMs: unreachable.timeoutMs };
          const [withBreaker, without] = [true, false].map((breaker) =>
            Math.round(100 * paceWithUnreachable(clusters, unreachable.share, { ...options, breaker })),
          );
          return `${withBreaker} % (without circuit breaker ${without} %)`;
        }),
      ],
    ),
  ].join('\n');
  return { text, rows };
}

type Fleet = { readonly clusters: number; readonly periodic: Periodic };

function perFleet(what: string, cell: (fleet: Fleet) => string): readonly string[] {
  return [what, ...fleets.map((clusters) => cell({ clusters, periodic: periodicOf(clusters) }))];
}

let busiest: number | undefined;

function periodicOf(clusters: number): Periodic {
  busiest ??= busiestSecond(objects);
  return periodicReconciles(clusters, objects, busiest);
}

const number = (value: number) => value.toLocaleString('en-US');

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
