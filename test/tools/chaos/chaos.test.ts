// Only that the guarantees hold under a few faults on the embedded API server, with few changes; `npm run chaos` has
// every fault and the real control plane. The behavior of each component under each fault is tested with the component.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chaos, createCatalogue, openChaos } from '../../../tools/chaos/chaos.ts';

const startSeconds = 170;
const rowSeconds = 400;
const seed = 20_261;
/**
 * A client that retries without a pause makes a thousand requests a second; all faults of a row together affect some
 * fifty.
 */
const hotLoop = 1_000;

const cases = [
  { fault: 'watch stream reset', name: 'no change is lost when watches are reset' },
  { fault: 'API server killed', name: 'X10: no change is lost when the API server is killed and restarted' },
  { fault: '429 storm', name: 'X10: no change is lost when the API server returns 429 with Retry-After' },
  { fault: '503', name: 'X10: no change is lost when the API server returns 503' },
  { fault: 'list response cut off', name: 'X10: no change is lost when a list response is cut off' },
  { fault: 'SQS unavailable', name: 'X11: no change is lost when SQS is unavailable' },
  { fault: '410 in the stream', name: 'X11: no change is lost when a watch expires and is listed again' },
  { fault: 'one of two watchers killed', name: 'X12: no change is lost when one of two watchers is killed' },
  { fault: 'both watchers killed at once', name: 'X12: no change is lost when both watchers are killed at once' },
  { fault: 'SQS response lost', name: 'no change is lost when the response to a send is lost' },
];

describe('guarantees under faults', () => {
  let chaos: Chaos;
  beforeAll(async () => {
    const amounts = {
      changes: 8,
      outageSeconds: 2,
      queueOutageSeconds: 1,
      rejectSeconds: 2,
      kills: 3,
      bulkObjects: 9,
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
    '$name, and no object is reconciled concurrently',
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
