// The cursor in its ConfigMap on the embedded API server: what a start reads of it, and what becomes of it when the cluster is restored.
// When it is written is cursor-writing.test.ts; what the versions mean restart.test.ts; the text alone test/runtime/cursor-document.test.ts.
import { describe, expect, it } from 'vitest';
import { cursorName } from '../../src/core/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { readCursorObject } from '../../src/runtime/cursor-object.ts';
import { statusOf } from '../kube/wire-server.ts';
import { cursorStage } from './cursor-stage.ts';

const stage = cursorStage();

describe('a start', () => {
  it('goes on where another watcher stopped', async () => {
    const first = stage.cursor();
    first.accepted('tanks', '17');
    first.accepted('dinners', '19');
    first.accepted('tanks', '18');
    await first.flush();
    const second = stage.cursor();
    expect([await second.start('tanks'), await second.start('dinners'), await second.start('foos')]).toEqual([
      '18',
      '19',
      undefined,
    ]);
    expect(second.warnings()).toEqual([]);
  });

  it('knows nothing of a cursor as it is shipped, and finds that in order', async () => {
    const cursor = stage.cursor();
    expect(await cursor.start('tanks')).toBeUndefined();
    expect(cursor.warnings()).toEqual([]);
  });

  it.each<[string, () => Promise<string>, RegExp]>([
    ['not JSON', async () => 'garbage', /not JSON/],
    [
      'a number for a version',
      async () => (await stage.textOf({ tanks: '17' })).replace('"17"', '17'),
      /entries\.tanks\.version/,
    ],
    [
      'of another cluster',
      async () => await stage.textOf({ tanks: '17' }, { cluster: 'elsewhere' }),
      /another cluster/,
    ],
  ])('ignores a cursor that is %s, with a warning, and writes it anew', async (_, text, reason) => {
    await stage.plant(await text());
    const cursor = stage.cursor();
    expect(await cursor.start('tanks')).toBeUndefined();
    expect(cursor.warnings()).toMatchObject([
      { message: 'the cursor is ignored, everything is forwarded', reason: expect.stringMatching(reason) },
    ]);
    cursor.accepted('dinners', '5');
    await cursor.flush();
    expect(await stage.versions()).toEqual({ dinners: '5' });
  });

  it('goes without a ConfigMap, says so, and writes it when it is there', async () => {
    await stage.unship();
    const cursor = stage.cursor();
    expect(await cursor.start('tanks')).toBeUndefined();
    cursor.accepted('tanks', '17');
    await cursor.flush();
    await cursor.flush();
    expect(cursor.warnings()).toMatchObject([
      {
        message: 'the cursor is ignored, everything is forwarded',
        reason: expect.stringMatching(/infra\/kubernetes\/generated/),
      },
      { message: 'cursor not written, trying again' },
    ]);
    await stage.ship();
    await cursor.flush();
    expect(await stage.versions()).toEqual({ tanks: '17' });
  });

  it('goes without the right to read it, and waits for a server that does not answer', async () => {
    const answering = (status: number): KubeClient => ({
      ...stage.client,
      request: async ({ method, path }) => {
        throw new ApiError(`${method} ${path}`, status, statusOf(status, ''));
      },
    });
    const forbidden = stage.cursor({ through: answering(403) });
    expect(await forbidden.start('tanks')).toBeUndefined();
    expect(forbidden.warnings()).toHaveLength(1);
    await expect(stage.cursor({ through: answering(503) }).start('tanks')).rejects.toThrow('503');
  });

  it('reads once for all collections, and again only after nobody answered', async () => {
    const cursor = stage.cursor();
    await Promise.all(['a', 'b', 'c'].map(async (name) => await cursor.start(name)));
    const reads = stage.requests().filter(({ path }) => path.endsWith(`/${cursorName}`) && path.includes('configmaps'));
    expect(reads.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });
});

describe('a restored cluster', () => {
  it('loses the entry that was dropped, however new it was, and has what came since', async () => {
    await stage.plant(await stage.textOf({ tanks: '900', dinners: '900', foos: '7' }));
    const cursor = stage.cursor();
    await cursor.start('tanks');
    cursor.drop('tanks');
    cursor.drop('dinners');
    cursor.accepted('tanks', '9');
    await cursor.flush();
    expect(await stage.versions()).toEqual({ tanks: '9', foos: '7' });
  });

  it('is noticed by a cursor that has become older than it was, which then says nothing of before', async () => {
    for (let count = 0; count < 50; count += 1) await stage.plant(await stage.textOf({ foos: `${count + 1}` }));
    const cursor = stage.cursor();
    cursor.accepted('tanks', '900');
    await cursor.flush();
    await stage.replace();
    await cursor.flush();
    expect((await readCursorObject(stage.client))?.text).toBeUndefined();
    expect(cursor.warnings()).toMatchObject([{ message: expect.stringMatching(/restored from a backup/) }]);
    cursor.accepted('dinners', '120');
    await cursor.flush();
    expect(await stage.versions()).toEqual({ dinners: '120' });
  });
});
