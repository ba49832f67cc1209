// A small form of `npm run chaos:fleet`, whose record is in docs/reliability.md: six clusters, one of them real.
import { expect, it } from 'vitest';
import { runFleetChaos, startRow } from '../../tools/chaos/fleet/fleet-chaos.ts';

const seed = 20_261;

it('no change of six clusters is lost while replicas of their fleet watcher are killed, and none is reconciled concurrently', async () => {
  const outcomes = await runFleetChaos({
    ...{ seed, inMemory: 5, real: 1, objects: 4, perSecond: 10, killSeconds: 15, measureSeconds: 5 },
    isWanted: (fault) => fault === 'one of two replicas killed',
    log: () => undefined,
  });
  const judged = outcomes.map(({ fault, lost, concurrent }) => ({ fault, lost, concurrent }));
  expect(judged, `seed ${seed}`).toEqual([
    { fault: startRow, lost: [], concurrent: 0 },
    { fault: 'one of two replicas killed', lost: [], concurrent: 0 },
  ]);
  expect(outcomes.every(({ fired, changes }) => fired > 0 && changes > 0)).toBe(true);
}, 600_000);
