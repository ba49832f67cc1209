// One loop over the embedded API server: what cursors and restored clusters mean for keys, and how far the cursor may move.
import { describe, expect, it } from 'vitest';
import { watchId } from '../../src/queue/deduplication.ts';
import type { Progress } from '../../src/runtime/progress.ts';
import { childOf, parts, pots, watchLoopAround } from './watch-loop-harness.ts';

const { expireWindow, follow, loseServer, put, remove, versionNow } = watchLoopAround();

describe('from a cursor', () => {
  it('only what happened since is forwarded', async () => {
    for (const name of ['still', 'changed', 'gone']) await put(name);
    const start = await versionNow();
    await put('changed', '2');
    await remove('gone');
    const at = follow(pots, { start });
    await at.until(() => at.on('pot.fifo').length === 2);
    expect(new Set(at.on('pot.fifo'))).toEqual(new Set(['changed', 'gone']));
    expect(at.on('timers')).toEqual([]);
    expect(at.lists()).toMatchObject([{ mode: 'exact', objects: 3 }]);
  });

  it('too old a one forwards what is newer, and asks for the primaries whose children may be gone', async () => {
    await put('still', '1', childOf('bread'));
    const start = await versionNow();
    await put('newer', '1', childOf('soup'));
    expireWindow();
    const at = follow(parts, { start });
    await at.until(() => at.lists().length === 1);
    await at.until(() => at.on('dish.fifo').length === 1);
    expect(at.on('dish.fifo')).toEqual(['soup']);
    expect(at.swept).toEqual(['dish']);
  });

  it('one that cannot be read is asked for again, and nothing is forwarded without it', async () => {
    await put('still');
    const version = await versionNow();
    let reads = 0;
    const start = async () => {
      reads += 1;
      if (reads === 1) throw new Error('away');
      return version;
    };
    const at = follow(pots, { start });
    await at.until(() => at.waits.length === 1);
    at.endWaits();
    await at.until(() => at.lists().length === 1);
    expect(at.lists()).toMatchObject([{ mode: 'exact' }]);
    expect(at.sent).toEqual([]);
  });

  it('a cluster that was restored from a backup is begun anew, and its old version forgotten', async () => {
    await put('one');
    const at = follow(pots, { start: '999999999' });
    await at.until(() => at.on('timers').length === 1);
    expect(at.dropped).toHaveLength(1);
    await at.caughtUpWith(await versionNow());
    expect(at.accepted.every((version) => Number(version) < 999_999_999)).toBe(true);
  });

  it('a cluster that is restored while it is watched is begun anew too, whatever was known of it', async () => {
    for (let value = 0; value < 20; value += 1) await put('one', `${value}`);
    const at = follow(pots);
    await at.until(() => at.on('timers').length === 1);
    await at.caughtUpWith(await versionNow());
    const { comeBack } = await loseServer();
    await at.until(() => at.waits.length > 0);
    await comeBack();
    await put('one');
    expect(Number(await versionNow())).toBeLessThan(Number(at.loop.accepted()));
    at.refuse(true);
    at.endWaits();
    await at.until(() => at.lists().length === 2);
    expect(at.loop.accepted()).toBeUndefined();
    at.refuse(false);
    await at.until(() => at.waits.length > 0);
    at.endWaits();
    await at.caughtUpWith(await versionNow());
    expect([at.on('timers'), at.on('pot.fifo')]).toEqual([['one', 'one'], []]);
  });

  it('a version of a restored cluster is not taken for the same version before', async () => {
    await put('one');
    const restored = follow(pots, { start: '999999999' });
    const calm = follow(pots);
    for (const at of [restored, calm]) await at.until(() => at.lists().length === 1);
    const { metadata } = await put('one', '2');
    const source = { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' };
    const target = { controller: 'pot', cluster: 'c', group: '', resource: 'configmaps', namespace: 'default' };
    const id = watchId({ ...target, name: 'one' }, [source]);
    for (const at of [restored, calm]) await at.until(() => at.on('pot.fifo').length === 1);
    expect(calm.ids('pot.fifo')).toEqual([id]);
    expect(restored.ids('pot.fifo')).not.toEqual([id]);
  });
});

it('a kind of an aggregated API has no cursor, and its versions are never compared', async () => {
  await put('one');
  const at = follow({ ...pots, aggregated: true }, { start: '999999999' });
  await at.until(() => at.on('timers').length === 1 && at.lists().length === 1);
  expect(at.lists()).toMatchObject([{ mode: 'initial' }]);
  await at.caughtUpWith(await versionNow());
  expect([at.accepted, at.dropped]).toEqual([[], []]);
});

describe('how far everything is accepted', () => {
  it('a key that SQS refuses holds its version back, and bookmarks of later ones with it', async () => {
    const at = follow(pots);
    await at.until(() => at.lists().length === 1);
    const before = at.loop.accepted();
    at.refuse(true);
    await put('one');
    await at.until(() => at.waits.length > 0);
    await put('two');
    expect(at.loop.accepted()).toBe(before);
    at.refuse(false);
    at.endWaits();
    await at.caughtUpWith(await versionNow());
  });

  it('a sweep that waits for the first list holds back the version of whoever asked for it', async () => {
    await put('one');
    const at = follow(pots);
    at.goAway();
    const opened: unknown[] = [];
    const closed: unknown[] = [];
    const progress: Progress = {
      open: () => {
        const ticket = { before: undefined };
        opened.push(ticket);
        return ticket;
      },
      close: (ticket) => void closed.push(ticket),
      heard: () => undefined,
      accepted: () => undefined,
      reset: () => undefined,
    };
    at.loop.sweep('pot', progress);
    expect(opened).toHaveLength(1);
    at.comeBack();
    // Where it was asked, and until SQS has the key that was found later.
    await at.until(() => closed.length === 1);
    expect(closed).toEqual(opened);
    expect(new Set(at.on('timers'))).toEqual(new Set(['one']));
  });
});
