// One watch loop on the embedded API server: which keys it sends after lists and broken streams, and how it handles its
// own failure. Checkpoints are watch-loop-checkpoint.test.ts, kinds that do not exist watch-loop-definitions.test.ts, the
// process is test/watcher/main.test.ts.
import { expect, it } from 'vitest';
import { childOf, parts, pots, watchLoopFixture } from './watch-loop-harness.ts';

const { expireWindow, follow, put, remove, versionNow } = watchLoopFixture();

it('a watch loop without a checkpoint sends listed objects at low priority, in one run', async () => {
  await put('one');
  await put('two');
  const at = follow(pots);
  await at.until(() => at.on('timers').length === 2);
  expect(new Set(at.on('timers'))).toEqual(new Set(['one', 'two']));
  expect(new Set(at.sent.map(({ message: { cause } }) => (cause.type === 'resync' ? cause.run : cause.type)))).toEqual(
    new Set(['watcher-1']),
  );
  await put('two', '2');
  await at.until(() => at.on('pot.fifo').length === 1);
  expect(at.sent.at(-1)?.message).toMatchObject({ cause: { type: 'change' }, name: 'two' });
  expect(at.loop.objects()).toBe(2);
  await remove('two');
  await at.until(() => at.loop.objects() === 1);
});

it('a watch loop forwards the changes since its stream broke once, and nothing else', async () => {
  await put('still');
  const at = follow(pots);
  await at.until(() => at.lists().length === 1);
  at.block();
  await put('fresh');
  at.unblock();
  await at.until(() => at.on('pot.fifo').length > 0);
  expect(at.on('pot.fifo')).toEqual(['fresh']);
  expect(at.lists()).toHaveLength(1);
});

it('a watch loop forwards the created, changed and deleted objects of a repeated list', async () => {
  for (const name of ['still', 'changed', 'gone']) await put(name);
  const at = follow(pots);
  await at.until(() => at.lists().length === 1);
  at.block();
  await put('new');
  await put('changed', '2');
  await remove('gone');
  expireWindow();
  at.unblock();
  await at.until(() => at.on('pot.fifo').length === 3);
  expect(new Set(at.on('pot.fifo'))).toEqual(new Set(['new', 'changed', 'gone']));
  expect(at.lists().at(-1)).toMatchObject({ mode: 'relist', objects: 3, gone: 1 });
  await at.caughtUpWith(await versionNow());
});

it('a repeated list forwards the owner of a deleted child and both owners of a moved one', async () => {
  await put('gone', '1', childOf('soup'));
  await put('moved', '1', childOf('stew'));
  await put('still', '1', childOf('bread'));
  const at = follow(parts);
  await at.until(() => at.lists().length === 1);
  at.block();
  await remove('gone');
  await put('moved', '1', childOf('roast'));
  expireWindow();
  at.unblock();
  await at.until(() => at.on('dish.fifo').length === 3);
  expect(new Set(at.on('dish.fifo'))).toEqual(new Set(['soup', 'stew', 'roast']));
});

it('a watch loop that fails restarts from its checkpoint, and the restart is counted', async () => {
  await put('one');
  const at = follow(pots, { start: await versionNow(), breakOnce: true });
  await at.until(() => at.waits.length === 1);
  expect(at.waits[0]?.seconds).toBe(5);
  expect(at.health.report()).toMatchObject([{ restarts: 1 }]);
  at.endWaits();
  await at.until(() => at.lists().length === 1);
  expect(at.lists()).toMatchObject([{ mode: 'exact', objects: 1 }]);
});
