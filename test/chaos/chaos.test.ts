// Only that the promises hold under a few faults on the embedded parts, with few changes; `npm run chaos` has every fault, and the
// real control plane. What a proxy, a watch or a batch does about each of them is tested with it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chaos, createCatalogue, openChaos } from './chaos.ts';

const startSeconds = 170;
const rowSeconds = 150;
const seed = 20_261;
const chosen = ['watch stream reset', '410 in the stream', 'SQS answer lost', 'watcher killed'];

describe('while something breaks', () => {
  let chaos: Chaos;
  beforeAll(async () => {
    const amounts = { changes: 8, awaySeconds: 1, queuesAwaySeconds: 1, kills: 3, crowd: 9, resyncKeys: 50 };
    const users = { objects: 4, users: 1, pauseMilliseconds: 60 };
    chaos = await openChaos({ real: false, seed, amounts, users }, AbortSignal.timeout(startSeconds * 1000));
  }, startSeconds * 1000);
  afterAll(async () => {
    await chaos?.[Symbol.asyncDispose]();
  });

  const rows = createCatalogue().filter(({ fault }) => chosen.includes(fault));
  it.each(rows)(
    '$fault: no change is lost, and no object is reconciled twice at once',
    async (row) => {
      const { fired, changes, lost, concurrent } = await chaos.run(row);
      expect({ lost, concurrent }, `seed ${seed}`).toEqual({ lost: [], concurrent: 0 });
      expect([fired > 0, changes > 0]).toEqual([true, true]);
    },
    rowSeconds * 1000,
  );
});
