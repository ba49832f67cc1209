// When the cursor is written, and what two writers leave in its ConfigMap, on the embedded API server. What a start reads of it is
// cursor.test.ts.
import { describe, expect, it } from 'vitest';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { statusOf } from '../kube/wire-server.ts';
import { cursorStage, nowMs } from './cursor-stage.ts';

const stage = cursorStage();

describe('writing', () => {
  it('happens after accepted messages at every look, and without them at every other one', async () => {
    const cursor = stage.cursor();
    cursor.run();
    await cursor.rest();
    expect(stage.writes()).toHaveLength(1);
    await cursor.rest();
    expect(stage.writes()).toHaveLength(1);
    await cursor.rest();
    expect(stage.writes()).toHaveLength(2);
    cursor.sent();
    cursor.accepted('tanks', '17');
    await cursor.rest();
    expect(stage.writes()).toHaveLength(3);
    cursor.accepted('tanks', '18');
    await cursor.rest();
    expect(stage.writes()).toHaveLength(3);
    expect(await stage.versions()).toEqual({ tanks: '17' });
    await cursor.rest();
    expect(await stage.versions()).toEqual({ tanks: '18' });
    expect(cursor.rests.map(({ seconds }) => seconds)).toEqual([30]);
  });

  it('happens first as soon as every kind was heard, and does not wait for that for ever', async () => {
    const cursor = stage.cursor();
    let heard: number | undefined;
    cursor.run(() => heard);
    for (let looks = 0; looks < 10; looks += 1) await cursor.rest();
    expect(cursor.rests.map(({ seconds }) => seconds)).toEqual([1]);
    expect(stage.writes()).toHaveLength(0);
    heard = nowMs;
    await cursor.rest();
    expect(stage.writes()).toHaveLength(1);
    const deaf = stage.cursor();
    deaf.run(() => undefined);
    for (let looks = 0; looks < 60; looks += 1) await deaf.rest();
    expect(stage.writes()).toHaveLength(2);
  });

  it('says up to when frames came', async () => {
    const cursor = stage.cursor();
    let heard = nowMs - 9_000;
    cursor.run(() => heard);
    await cursor.rest();
    expect((await stage.stored()).framesAtMs).toBe(heard);
    heard += 5_000;
    for (let looks = 0; looks < 2; looks += 1) await cursor.rest();
    expect((await stage.stored()).framesAtMs).toBe(heard);
  });

  it('of two replicas leaves the newest of each, whoever is the last', async () => {
    const [one, other] = [stage.cursor(), stage.cursor()];
    await Promise.all([one.start('tanks'), other.start('tanks')]);
    one.accepted('tanks', '20');
    one.accepted('dinners', '5');
    other.accepted('tanks', '18');
    other.accepted('foos', '7');
    await Promise.all([one.flush(), other.flush()]);
    expect(await stage.versions()).toEqual({ tanks: '20', dinners: '5', foos: '7' });
  });

  it('meets a conflict by reading again', async () => {
    let interfere = true;
    const between: KubeClient = {
      ...stage.client,
      request: async (request) => {
        if (request.method === 'PATCH' && interfere) {
          interfere = false;
          await stage.plant(await stage.textOf({ tanks: '30', foos: '7' }));
        }
        return await stage.client.request(request);
      },
    };
    const cursor = stage.cursor({ through: between });
    cursor.accepted('tanks', '20');
    cursor.accepted('dinners', '5');
    await cursor.flush();
    expect(await stage.versions()).toEqual({ tanks: '30', dinners: '5', foos: '7' });
    expect(cursor.warnings()).toEqual([]);
  });

  it('is said once to have failed, and repeated with all that is known', async () => {
    let away = true;
    const flaky: KubeClient = {
      ...stage.client,
      request: async (request) => {
        if (away) throw new ApiError('PATCH', 503, statusOf(503, ''));
        return await stage.client.request(request);
      },
    };
    const cursor = stage.cursor({ through: flaky });
    cursor.run();
    cursor.sent();
    cursor.accepted('tanks', '17');
    for (let looks = 0; looks < 3; looks += 1) await cursor.rest();
    expect(cursor.warnings()).toMatchObject([{ message: 'cursor not written, trying again' }]);
    away = false;
    await cursor.rest();
    expect(await stage.versions()).toEqual({ tanks: '17' });
  });

  it('knows nothing of versions that cannot be compared', async () => {
    const cursor = stage.cursor();
    cursor.accepted('metrics', 'opaque');
    await cursor.flush();
    expect(await stage.versions()).toEqual({});
  });
});
