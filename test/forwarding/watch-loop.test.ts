// One loop over the embedded API server: what lists and lost streams mean for keys and for the store, and what a loop does that
// breaks, or has nothing to watch. Cursors are watch-loop-cursor.test.ts, the process is main.test.ts.
import { describe, expect, it } from 'vitest';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { childOf, dish, parts, pots, primary, watchLoopAround } from './watch-loop-harness.ts';

const { expireWindow, follow, put, remove, versionNow } = watchLoopAround();

describe('without a cursor', () => {
  it('everything goes through timers, each key with the same run, and changes do not', async () => {
    await put('one');
    await put('two');
    const at = follow(pots);
    await at.until(() => at.on('timers').length === 2);
    expect(new Set(at.on('timers'))).toEqual(new Set(['one', 'two']));
    expect(new Set(at.sent.map(({ message }) => `${message.lane} ${message.run}`))).toEqual(
      new Set(['resync watcher-1']),
    );
    await put('two', '2');
    await at.until(() => at.on('pot.fifo').length === 1);
    expect(at.sent.at(-1)?.message).toMatchObject({ lane: 'watch', name: 'two' });
    expect(at.loop.objects()).toBe(2);
    await remove('two');
    await at.until(() => at.loop.objects() === 1);
  });

  it('nothing counts as accepted before the whole list is', async () => {
    await put('one');
    const at = follow(pots);
    at.refuse(true);
    await at.until(() => at.lists().length === 1);
    expect(at.loop.accepted()).toBeUndefined();
    at.refuse(false);
    await at.until(() => at.waits.length > 0);
    at.endWaits();
    await at.caughtUpWith(await versionNow());
    expect(at.accepted).toHaveLength(1);
  });
});

describe('after a stream was lost', () => {
  it('what happened meanwhile is forwarded once, and nothing else', async () => {
    await put('still');
    const at = follow(pots);
    await at.until(() => at.lists().length === 1);
    at.goAway();
    await put('fresh');
    at.comeBack();
    await at.until(() => at.on('pot.fifo').length > 0);
    expect(at.on('pot.fifo')).toEqual(['fresh']);
    expect(at.lists()).toHaveLength(1);
  });

  it('a list that has to be made again forwards what differs: new, changed and gone', async () => {
    for (const name of ['still', 'changed', 'gone']) await put(name);
    const at = follow(pots);
    await at.until(() => at.lists().length === 1);
    at.goAway();
    await put('new');
    await put('changed', '2');
    await remove('gone');
    expireWindow();
    at.comeBack();
    await at.until(() => at.on('pot.fifo').length === 3);
    expect(new Set(at.on('pot.fifo'))).toEqual(new Set(['new', 'changed', 'gone']));
    expect(at.lists().at(-1)).toMatchObject({ mode: 'relist', objects: 3, gone: 1 });
    await at.caughtUpWith(await versionNow());
  });

  it('the owner of a child that went meanwhile is woken, and so are both owners of one that changed hands', async () => {
    await put('gone', '1', childOf('soup'));
    await put('moved', '1', childOf('stew'));
    await put('still', '1', childOf('bread'));
    const at = follow(parts);
    await at.until(() => at.lists().length === 1);
    at.goAway();
    await remove('gone');
    await put('moved', '1', childOf('roast'));
    expireWindow();
    at.comeBack();
    await at.until(() => at.on('dish.fifo').length === 3);
    expect(new Set(at.on('dish.fifo'))).toEqual(new Set(['soup', 'stew', 'roast']));
  });
});

it('a loop that breaks begins anew from its cursor, and is counted', async () => {
  await put('one');
  const at = follow(pots, { start: await versionNow(), breakOnce: true });
  await at.until(() => at.waits.length === 1);
  expect(at.waits[0]?.seconds).toBe(5);
  expect(at.health.report()).toMatchObject([{ restarts: 1 }]);
  at.endWaits();
  await at.until(() => at.lists().length === 1);
  expect(at.lists()).toMatchObject([{ mode: 'exact', objects: 1 }]);
});

describe('a kind that is not there', () => {
  it('is reported and tried again until it is', async () => {
    const absent: WatchedResource = { ...dish, subscribers: [{ ...primary, primary: dish }] };
    const at = follow(absent);
    await at.until(() => at.waits.length > 0);
    expect(at.health.report()).toMatchObject([{ served: false }]);
    expect(at.health.ready()).toBe(false);
    expect(at.health.alive()).toBe(true);
    const [{ seconds = 0 } = {}] = at.waits;
    expect(seconds).toBeGreaterThan(0.7);
    at.endWaits();
    await at.until(() => at.waits.length > 0);
    expect(at.on('timers')).toEqual([]);
  });
});
