// A running watcher whose API server is replaced behind its address. What a start reads from a checkpoint is test/checkpoint,
// restarts of processes are test/cluster/watcher-restart.test.ts, random orders of events test/forwarding/any-order.test.ts.
import { expect, it, onTestFinished } from 'vitest';
import { openWatcherFixture } from './watcher-harness.ts';

it.each([
  ['another cluster has its address', { sameCluster: false }],
  ['its cluster was restored', { sameCluster: true }],
])('a running watcher forwards every object if %s, with versions that are ahead', async (_, options) => {
  const fixture = await openWatcherFixture();
  onTestFinished(fixture.close);
  for (let count = 0; count < 20; count += 1) await fixture.putPot('before');
  const watcher = fixture.start();
  await fixture.caughtUp(watcher);
  await watcher.writeCheckpoint();
  await fixture.replaceServer(async () => {
    for (let number = 0; number < 20; number += 1) await fixture.putPot(`pot-${number}`);
    for (let count = 0; count < 20; count += 1) await fixture.putPot('busy');
  }, options);
  await fixture.caughtUp(watcher);
  expect(await fixture.lost({ ofGone: false })).toEqual([]);
});
