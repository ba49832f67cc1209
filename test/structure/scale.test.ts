// That docs/scale.md agrees with its simulation, and the simulation with what was measured.
import { readFile } from 'node:fs/promises';
import { readSheet } from '@outrigger/cli/commands/cost/read-sheet';
import { expect, it } from 'vitest';
import { file, scaleText } from '../../bench/scale/document.ts';
import { simulateDrain } from '../../bench/scale/drain.ts';
import { measuredRuns, planOf, tolerance } from '../../bench/scale/measure.ts';
import { registry } from '../../src/controllers/registry.ts';
import { replaceBetween } from '../support/replace-between.ts';

it('the simulation reproduces the measured drains within a fifth', async () => {
  const { measured } = await readSheet(registry);
  const { runs } = await measuredRuns();
  expect(runs.length).toBeGreaterThanOrEqual(2);
  for (const run of runs) {
    const { seconds } = await simulateDrain(planOf(run, measured));
    expect(Math.abs(seconds / run.seconds - 1), run.what).toBeLessThanOrEqual(tolerance);
  }
});

it('a drain is bound by the rate limit, the concurrency or the calls of SQS, whichever is the smallest', async () => {
  const plan = { clusters: 20, objects: 500, rateLimit: { perSecond: 200, burst: 100 }, concurrency: 1_000 };
  const batchMs = () => 100;
  const byRate = await simulateDrain({ ...plan, batchMs });
  // The 400 objects after the burst.
  expect([byRate.binding, Math.round(byRate.seconds)]).toEqual(['rate limit of the watchers', 2]);
  const byConcurrency = await simulateDrain({ ...plan, batchMs, concurrency: 2 });
  // 1,000 batches, two at a time.
  expect([byConcurrency.binding, Math.round(byConcurrency.seconds / 10) * 10]).toEqual([
    'concurrency of the function',
    60,
  ]);
  const byCalls = await simulateDrain({
    ...plan,
    batchMs,
    rateLimit: { perSecond: 10_000, burst: 10_000 },
    fifoCallsPerSecond: 100,
  });
  // 1,000 batches, sent by two watchers each.
  expect([byCalls.binding, Math.round(byCalls.seconds)]).toEqual(['calls of SQS', 20]);
});

it('the tables are those that npm run bench -- --only scale --write docs/scale.md writes', async () => {
  const text = await readFile(file, 'utf8');
  expect(text).toBe(replaceBetween(text, await scaleText(), { file, name: 'scale' }));
}, 240_000);
