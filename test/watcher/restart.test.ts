// Watchers that die and start anew, with their real cursor on an embedded API server: which keys are accepted because of what
// happened while nobody watched. Real processes are restart-cases.ts; the cursor's object alone is cursor.test.ts;
// whatever may happen in whatever order is any-order.test.ts.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { parseCursor } from '../../src/runtime/cursor-document.ts';
import { readCursorObject, writeCursorObject } from '../../src/runtime/cursor-object.ts';
import { type Kitchen, openKitchen } from './watcher-harness.ts';
import type { MortalWatcher } from './killable-watcher.ts';

/** A kitchen whose pots are all known, forwarded and behind the cursor; nobody watches. */
async function aClosedKitchen(...pots: readonly string[]) {
  const kitchen = await openKitchen();
  onTestFinished(kitchen.close);
  for (const pot of pots) {
    await kitchen.putPot(pot);
    await kitchen.putLid(`lid-of-${pot}`, pot);
  }
  const first = kitchen.start();
  await kitchen.caughtUp(first);
  await first.writeCursor();
  kitchen.kill(first);
  kitchen.accepted();
  return kitchen;
}

const plant = async ({ client }: Kitchen, text: string) => {
  const object = await readCursorObject(client);
  await writeCursorObject(client, { text, resourceVersion: object?.resourceVersion ?? '' });
};
const modes = (lines: readonly object[]) => lines.map((line) => ('mode' in line ? line.mode : undefined));
const warnings = ({ lines }: MortalWatcher) =>
  lines.filter(({ level }) => level === 'warn').map(({ message }) => message);

it('a restart over objects that did not change forwards nothing', async () => {
  const names = Array.from({ length: 300 }, (_, number) => `pot-${number}`);
  const kitchen = await aClosedKitchen(...names);
  const watcher = kitchen.start();
  expect(modes(await watcher.listed())).toEqual(['exact', 'exact']);
  await kitchen.caughtUp(watcher);
  expect(kitchen.accepted()).toEqual({ changes: [], bulk: [] });
});

it('what was created, changed and deleted while nobody watched is forwarded, children’s changes to their owners', async () => {
  const kitchen = await aClosedKitchen(
    'still',
    'changed',
    'gone',
    'lost-its-lid',
    'gave-its-lid',
    'got-a-lid',
    'new-lid',
  );
  await kitchen.putPot('created');
  await kitchen.putPot('changed');
  await kitchen.removePot('gone');
  await kitchen.removeLid('lid-of-lost-its-lid');
  await kitchen.putLid('lid-of-gave-its-lid', 'got-a-lid');
  await kitchen.putLid('another', 'new-lid');
  await kitchen.putPot('short-lived');
  await kitchen.removePot('short-lived');
  const watcher = kitchen.start();
  await kitchen.caughtUp(watcher);
  expect(kitchen.accepted()).toEqual({
    changes: ['changed', 'created', 'gave-its-lid', 'gone', 'got-a-lid', 'lost-its-lid', 'new-lid', 'short-lived'],
    bulk: [],
  });
});

it('after a compaction what is newer is forwarded, and every owner in bulk for the children that may be gone', async () => {
  const kitchen = await aClosedKitchen('still', 'changed', 'lost-its-lid', 'new-lid');
  await kitchen.putPot('created');
  await kitchen.putPot('changed');
  await kitchen.removeLid('lid-of-lost-its-lid');
  await kitchen.putLid('another', 'new-lid');
  kitchen.server.expireWindow();
  const watcher = kitchen.start();
  expect(modes(await watcher.listed())).toEqual(['expired', 'expired']);
  await kitchen.caughtUp(watcher);
  expect(kitchen.accepted()).toEqual({
    changes: ['changed', 'created', 'new-lid'],
    bulk: ['changed', 'created', 'lost-its-lid', 'new-lid', 'still'],
  });
});

it('keys that SQS has not accepted hold the cursor back, whatever came after them', async () => {
  const kitchen = await aClosedKitchen('still');
  const watcher = kitchen.start();
  await watcher.listed();
  kitchen.sqs('refuse');
  await kitchen.putPot('waits');
  for (let count = 0; count < 20; count += 1) await kitchen.putLid('busy', 'still');
  await watcher.writeCursor();
  kitchen.kill(watcher);
  kitchen.sqs('accept');
  const next = kitchen.start();
  await kitchen.caughtUp(next);
  expect(kitchen.accepted()).toEqual({ changes: ['still', 'waits'], bulk: [] });
});

it('keys that wait for their pace hold the cursor back, and the next watcher sends them', async () => {
  const kitchen = await aClosedKitchen('still');
  // The third key would have its turn in 100 s, which is longer than anything that this watcher waits for.
  const watcher = kitchen.start({ perSecond: 0.01, burst: 2 });
  await watcher.listed();
  const sent: string[] = [];
  for (const pot of ['a', 'b', 'c', 'd', 'e']) await kitchen.putPot(pot);
  while (sent.length < 2) {
    sent.push(...kitchen.accepted().changes);
    await turn();
  }
  for (let count = 0; count < 20; count += 1) await kitchen.putLid('busy', 'still');
  await watcher.writeCursor();
  kitchen.kill(watcher);
  const next = kitchen.start();
  await kitchen.caughtUp(next);
  expect([...new Set([...sent, ...kitchen.accepted().changes])].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'still']);
  expect(await kitchen.lost({ ofGone: true })).toEqual([]);
});

it('a watcher that dies before it has sent the objects it found first sends all of them again', async () => {
  const kitchen = await openKitchen();
  onTestFinished(kitchen.close);
  for (const pot of ['a', 'b']) await kitchen.putPot(pot);
  kitchen.sqs('stall');
  const first = kitchen.start();
  await first.listed();
  await first.writeCursor();
  kitchen.kill(first);
  kitchen.sqs('accept');
  const next = kitchen.start();
  await kitchen.caughtUp(next);
  expect(kitchen.accepted().bulk).toEqual(['a', 'b']);
});

it.each<[string, (text: string) => string, string]>([
  ['that is not JSON', () => 'garbage', 'the cursor is ignored, everything is forwarded'],
  [
    'of another cluster',
    (text) => text.replace(/"cluster":"[^"]*"/, '"cluster":"elsewhere"'),
    'the cursor is ignored, everything is forwarded',
  ],
  [
    'from the future',
    (text) => text.replaceAll(/"version":"(\d+)"/g, '"version":"9$1"'),
    'the server is older than what is known of it: restored from a backup; everything is forwarded',
  ],
])('a cursor %s is ignored with a warning, everything is forwarded, and the next start has a good one', async (_, spoil, warning) => {
  const kitchen = await aClosedKitchen('a', 'b');
  const before = (await readCursorObject(kitchen.client))?.text ?? '';
  await kitchen.putPot('c');
  await plant(kitchen, spoil(before));
  const watcher = kitchen.start();
  await kitchen.caughtUp(watcher);
  expect(kitchen.accepted().bulk).toEqual(['a', 'b', 'c']);
  expect(warnings(watcher)).toContain(warning);
  await watcher.writeCursor();
  kitchen.kill(watcher);
  const next = kitchen.start();
  await kitchen.caughtUp(next);
  expect(kitchen.accepted()).toEqual({ changes: [], bulk: [] });
  expect(warnings(next)).toEqual([]);
});

it('a writer of the cursor is not woken by its own write, although it watches ConfigMaps', async () => {
  const kitchen = await aClosedKitchen('a');
  const watcher = kitchen.start();
  await watcher.listed();
  for (let count = 0; count < 3; count += 1) await watcher.writeCursor();
  await kitchen.caughtUp(watcher);
  expect(kitchen.accepted()).toEqual({ changes: [], bulk: [] });
});

it('two replicas leave a cursor that is good for both, whichever of them lagged', async () => {
  const kitchen = await aClosedKitchen('a');
  const [one, other] = [kitchen.start(), kitchen.start()];
  await kitchen.caughtUp(one);
  await kitchen.caughtUp(other);
  const known = ['configmaps', 'secrets'].flatMap((plural) =>
    [one, other].map((watcher) => ({ plural, version: Number(watcher.accepted().get(plural)) })),
  );
  await Promise.all([one.writeCursor(), other.writeCursor()]);
  const reading = parseCursor((await readCursorObject(kitchen.client))?.text);
  const entries = reading.type === 'read' ? [...reading.document.entries] : [];
  for (const { plural, version } of known) {
    const stored = entries.find(([name]) => name.includes(`_${plural}_`))?.[1].version;
    expect(Number(stored)).toBeGreaterThanOrEqual(version);
  }
  kitchen.kill(one);
  kitchen.kill(other);
  kitchen.accepted();
  const next = kitchen.start();
  await kitchen.caughtUp(next);
  expect(kitchen.accepted()).toEqual({ changes: [], bulk: [] });
});
