// Watchers with a wrong, foreign or shared watch checkpoint on an embedded API server: which keys SQS accepts. Restarts
// are test/forwarding/watch-loop-checkpoint.test.ts and, as processes, restart-cases.ts, the checkpoint's ConfigMap is test/checkpoint,
// random orders of events are test/forwarding/any-order.test.ts.
import { expect, it, onTestFinished } from 'vitest';
import { readCheckpoint, writeCheckpoint } from '../../src/checkpoint/config-map.ts';
import { parseCheckpoint } from '../../src/checkpoint/document.ts';
import type { KillableWatcher } from './killable-watcher.ts';
import { openWatcherFixture, type WatcherFixture } from './watcher-harness.ts';

/** Opens a fixture whose pots are all forwarded and covered by the checkpoint, without a running watcher. */
async function openForwardedFixture(...pots: readonly string[]) {
  const fixture = await openWatcherFixture();
  onTestFinished(fixture.close);
  for (const pot of pots) {
    await fixture.putPot(pot);
    await fixture.putLid(`lid-of-${pot}`, pot);
  }
  const first = fixture.start();
  await fixture.caughtUp(first);
  await first.writeCheckpoint();
  fixture.kill(first);
  fixture.accepted();
  return fixture;
}

const writeText = async ({ client }: WatcherFixture, text: string) => {
  const object = await readCheckpoint(client);
  await writeCheckpoint(client, { text, resourceVersion: object?.resourceVersion ?? '' });
};
const warnings = ({ lines }: KillableWatcher) =>
  lines.filter(({ level }) => level === 'warn').map(({ message }) => message);

it.each([
  ['another cluster has its address', { sameCluster: false }],
  ['its cluster was restored', { sameCluster: true }],
])('a running watcher forwards every object if %s, with versions that are ahead', async (_, options) => {
  const fixture = await openWatcherFixture();
  onTestFinished(fixture.close);
  for (let count = 0; count < 60; count += 1) await fixture.putPot('before');
  const watcher = fixture.start();
  await fixture.caughtUp(watcher);
  await watcher.writeCheckpoint();
  await fixture.replaceServer(async () => {
    for (let number = 0; number < 60; number += 1) await fixture.putPot(`pot-${number}`);
    for (let count = 0; count < 60; count += 1) await fixture.putPot('busy');
  }, options);
  await fixture.caughtUp(watcher);
  expect(await fixture.lost({ ofGone: false })).toEqual([]);
});

it('a watcher that is killed before it sent its first list sends the whole list after a restart', async () => {
  const fixture = await openWatcherFixture();
  onTestFinished(fixture.close);
  for (const pot of ['a', 'b']) await fixture.putPot(pot);
  fixture.sqs('stall');
  const first = fixture.start();
  await first.listed();
  await first.writeCheckpoint();
  fixture.kill(first);
  fixture.sqs('accept');
  const next = fixture.start();
  await fixture.caughtUp(next);
  expect(fixture.accepted().lowPriority).toEqual(['a', 'b']);
});

it.each<[string, (text: string) => string, string]>([
  ['that is not JSON', () => 'garbage', 'watch checkpoint ignored: all keys are sent'],
  [
    'of another cluster',
    (text) => text.replace(/"clusterUid":"[^"]*"/, '"clusterUid":"elsewhere"'),
    'watch checkpoint ignored: all keys are sent',
  ],
  [
    'from the future',
    (text) => text.replaceAll(/"resourceVersion":"(\d+)"/g, '"resourceVersion":"9$1"'),
    'cluster restored from a backup: all keys are sent',
  ],
])('a checkpoint %s is ignored with a warning, and every object is forwarded', async (_, corrupt, warning) => {
  const fixture = await openForwardedFixture('a', 'b');
  const before = (await readCheckpoint(fixture.client))?.text ?? '';
  await fixture.putPot('c');
  await writeText(fixture, corrupt(before));
  const watcher = fixture.start();
  await fixture.caughtUp(watcher);
  expect(fixture.accepted().lowPriority).toEqual(['a', 'b', 'c']);
  expect(warnings(watcher)).toContain(warning);
  await watcher.writeCheckpoint();
  fixture.kill(watcher);
  const next = fixture.start();
  await fixture.caughtUp(next);
  expect(fixture.accepted()).toEqual({ changes: [], lowPriority: [] });
  expect(warnings(next)).toEqual([]);
});

it('a watcher ignores its own writes of the checkpoint, even if it watches ConfigMaps', async () => {
  const fixture = await openForwardedFixture('a');
  const watcher = fixture.start();
  await watcher.listed();
  for (let count = 0; count < 3; count += 1) await watcher.writeCheckpoint();
  await fixture.caughtUp(watcher);
  expect(fixture.accepted()).toEqual({ changes: [], lowPriority: [] });
});

it('two replicas write a checkpoint with the newest versions of both, whichever of them lags', async () => {
  const fixture = await openForwardedFixture('a');
  const [one, other] = [fixture.start(), fixture.start()];
  await fixture.caughtUp(one);
  await fixture.caughtUp(other);
  const known = ['configmaps', 'secrets'].flatMap((plural) =>
    [one, other].map((watcher) => ({ plural, version: Number(watcher.accepted().get(plural)) })),
  );
  await Promise.all([one.writeCheckpoint(), other.writeCheckpoint()]);
  const parsed = parseCheckpoint((await readCheckpoint(fixture.client))?.text);
  const entries = parsed.type === 'read' ? [...parsed.document.entries] : [];
  for (const { plural, version } of known) {
    const stored = entries.find(([name]) => name.includes(`_${plural}_`))?.[1].version;
    expect(Number(stored)).toBeGreaterThanOrEqual(version);
  }
  fixture.kill(one);
  fixture.kill(other);
  fixture.accepted();
  const next = fixture.start();
  await fixture.caughtUp(next);
  expect(fixture.accepted()).toEqual({ changes: [], lowPriority: [] });
});
