// Only what a collection owes others before it is known: what is held back for them, and until when. Who asks, and what is sent, is
// missed-deletions.test.ts.
import { expect, it } from 'vitest';
import { createDirtySet } from '../../src/runtime/dirty-set.ts';
import { createProgress } from '../../src/runtime/progress.ts';
import { createSweeps } from '../../src/watcher/sweeps.ts';

const target = (name: string) => ({ controller: 'dish', cluster: 'c', group: 'g', resource: 'dishes', name });

it('who asked before the collection was known is held back until SQS has every key of it', () => {
  const waiting = createDirtySet();
  const sweeps = createSweeps(
    (_controller, progress) => {
      for (const name of ['soup', 'stew']) waiting.mark({ target: target(name), seenAt: 0, run: 'r', progress }, 0);
    },
    { now: () => 0 },
  );
  const asker = createProgress();
  sweeps.ask('dish', asker);
  asker.heard('100');
  sweeps.complete(false);
  expect(asker.accepted()).toBeUndefined();
  const [soup, stew] = waiting.take(2, 0);
  for (const one of [soup, stew]) {
    expect(asker.accepted()).toBeUndefined();
    if (one !== undefined) waiting.settle(one, 'accepted', 0);
  }
  expect(asker.accepted()).toBe('100');
});

it('who asked is held back no longer when there was nothing to send', () => {
  const sweeps = createSweeps(() => undefined, { now: () => 0 });
  const asker = createProgress();
  sweeps.ask('dish', asker);
  asker.heard('100');
  expect(asker.accepted()).toBeUndefined();
  sweeps.complete(true);
  expect(asker.accepted()).toBe('100');
});
