// Only that the promises hold under a few faults on the embedded parts, with few changes; `npm run chaos` has every fault, and the
// real control plane. What a proxy, a watch or a batch does about each of them is tested with it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chaos, createCatalogue, openChaos } from '../../../tools/chaos/chaos.ts';

const startSeconds = 170;
const rowSeconds = 400;
const seed = 20_261;
/** Whoever tries again and again without a pause does so a thousand times a second; all others together need some fifty. */
const hotLoop = 1_000;

const cases = [
  { fault: 'watch stream reset', name: 'a watch that is reset loses no change' },
  { fault: 'API server killed and away', name: 'X10: an API server that goes away and comes back loses no change' },
  { fault: '429 storm', name: 'X10: an API server that answers 429 with Retry-After loses no change' },
  { fault: '503', name: 'X10: an API server that answers 503 loses no change' },
  { fault: 'list cut in the middle', name: 'X10: a list that breaks off in the middle loses no change' },
  { fault: 'SQS away', name: 'X11: an SQS that is away loses no change' },
  { fault: '410 in the stream', name: 'X11: a watch that has expired is listed anew, and loses no change' },
  { fault: 'one of two watchers killed', name: 'X12: either of two watchers may die, and no change is lost' },
  { fault: 'both watchers killed at once', name: 'X12: both watchers may die at once, and no change is lost' },
  { fault: 'SQS answer lost', name: 'a send whose answer is lost loses no change' },
];

describe('while something breaks', () => {
  let chaos: Chaos;
  beforeAll(async () => {
    const amounts = {
      changes: 8,
      awaySeconds: 2,
      queuesAwaySeconds: 1,
      kills: 3,
      crowd: 9,
      resyncKeys: 50,
      resyncPerSecond: 10,
    };
    const users = { objects: 4, pauseMilliseconds: 60 };
    chaos = await openChaos({ real: false, seed, amounts, users }, AbortSignal.timeout(startSeconds * 1000));
  }, startSeconds * 1000);
  afterAll(async () => {
    await chaos?.[Symbol.asyncDispose]();
  });

  const catalogue = createCatalogue();
  it.each(cases)(
    '$name, and no object is reconciled twice at once',
    async ({ fault }) => {
      const row = catalogue.find((one) => one.fault === fault);
      if (row === undefined) throw new Error(`no row ${fault}`);
      const { fired, changes, lost, concurrent } = await chaos.run(row);
      expect({ lost, concurrent }, `seed ${seed}`).toEqual({ lost: [], concurrent: 0 });
      expect([fired > 0, fired < hotLoop, changes > 0]).toEqual([true, true, true]);
    },
    rowSeconds * 1000,
  );
});
