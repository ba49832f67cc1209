// When the watch checkpoint is written, and what two writers leave in its ConfigMap, on the embedded API server. What a
// start reads from it is checkpoint.test.ts.
import { expect, it, vi } from 'vitest';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { statusOf } from '../kube/wire-server.ts';
import { interceptRequests } from '../support/intercept-requests.ts';
import { checkpointFixture, nowMs } from './checkpoint-harness.ts';

const fixture = checkpointFixture();

it('the checkpoint is written at every interval after accepted messages, otherwise at every second one', async () => {
  const checkpoint = fixture.createCheckpoint();
  checkpoint.run();
  await checkpoint.endWait();
  expect(fixture.writes()).toHaveLength(1);
  await checkpoint.endWait();
  expect(fixture.writes()).toHaveLength(1);
  await checkpoint.endWait();
  expect(fixture.writes()).toHaveLength(2);
  checkpoint.sent();
  checkpoint.accepted('tanks', '17');
  await checkpoint.endWait();
  expect(fixture.writes()).toHaveLength(3);
  checkpoint.accepted('tanks', '18');
  await checkpoint.endWait();
  expect(fixture.writes()).toHaveLength(3);
  expect(await fixture.versions()).toEqual({ tanks: '17' });
  await checkpoint.endWait();
  expect(await fixture.versions()).toEqual({ tanks: '18' });
  expect(checkpoint.waits.map(({ seconds }) => seconds)).toEqual([30]);
});

it('the first write waits until every kind had an event, but not for ever', async () => {
  const checkpoint = fixture.createCheckpoint();
  let ageMs: number | undefined;
  checkpoint.run(() => ageMs);
  for (let waits = 0; waits < 10; waits += 1) await checkpoint.endWait();
  expect(checkpoint.waits.map(({ seconds }) => seconds)).toEqual([1]);
  expect(fixture.writes()).toHaveLength(0);
  ageMs = 0;
  await checkpoint.endWait();
  expect(fixture.writes()).toHaveLength(1);
  const idle = fixture.createCheckpoint();
  idle.run(() => undefined);
  for (let waits = 0; waits < 60; waits += 1) await idle.endWait();
  expect(fixture.writes()).toHaveLength(2);
});

it('the checkpoint stores the time up to which every kind had an event', async () => {
  const checkpoint = fixture.createCheckpoint();
  let ageMs = 9_000;
  checkpoint.run(() => ageMs);
  await checkpoint.endWait();
  expect((await fixture.stored()).lastSeenAtMs).toBe(nowMs - 9_000);
  ageMs = 4_000;
  for (let waits = 0; waits < 2; waits += 1) await checkpoint.endWait();
  expect((await fixture.stored()).lastSeenAtMs).toBe(nowMs - 4_000);
});

it.each([
  ['by the clock of the API server, not by the watcher’s', 'Sat, 21 Nov 2026 12:00:00 GMT', nowMs],
  ['by the watcher’s clock if the API server’s response has no time', undefined, nowMs + 7_200_000],
])('the times in the checkpoint are %s', async (_, date, expected) => {
  const { client } = fixture;
  let ageMs = 0;
  const through: KubeClient = {
    ...client,
    request: async (request) => {
      const response = await client.request(request);
      // The watcher was suspended since its request.
      ageMs = 4_000;
      return { ...response, headers: { ...response.headers, date } };
    },
  };
  const checkpoint = fixture.createCheckpoint({ through, now: () => nowMs + 7_200_000 });
  checkpoint.accepted('tanks', '17');
  checkpoint.run(() => ageMs);
  await checkpoint.endWait();
  const { lastSeenAtMs, entries } = await fixture.stored();
  expect([lastSeenAtMs, entries.get('tanks')?.confirmedAtMs]).toEqual([expected - 4_000, expected]);
});

it('a conflicting write is repeated after another read', async () => {
  let conflicts = true;
  const through = interceptRequests(fixture.client, async ({ method }) => {
    if (method !== 'PATCH' || !conflicts) return;
    conflicts = false;
    await fixture.writeText(await fixture.textOf({ tanks: '30', foos: '7' }));
  });
  const checkpoint = fixture.createCheckpoint({ through });
  checkpoint.accepted('tanks', '20');
  checkpoint.accepted('dinners', '5');
  await checkpoint.flush();
  expect(await fixture.versions()).toEqual({ tanks: '30', dinners: '5', foos: '7' });
  expect(checkpoint.warnings()).toEqual([]);
});

it('a failed write is logged once in an outage, and repeated with all versions and without the dropped entries', async () => {
  await fixture.writeText(await fixture.textOf({ foos: '7' }));
  let unavailable = true;
  const through = interceptRequests(fixture.client, () => {
    if (unavailable) throw new ApiError('PATCH', 503, statusOf(503, ''));
  });
  const checkpoint = fixture.createCheckpoint({ through });
  checkpoint.run();
  checkpoint.sent();
  checkpoint.accepted('tanks', '17');
  checkpoint.drop('foos');
  for (let waits = 0; waits < 3; waits += 1) await checkpoint.endWait();
  expect(checkpoint.warnings()).toMatchObject([{ message: 'watch checkpoint not written, retrying' }]);
  unavailable = false;
  await checkpoint.endWait();
  expect(await fixture.versions()).toEqual({ tanks: '17' });
  unavailable = true;
  await checkpoint.flush();
  expect(checkpoint.warnings()).toHaveLength(2);
});

it('a last write that does not end within its deadline is logged', async () => {
  const through = interceptRequests(fixture.client, async ({ signal }) => {
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  });
  const checkpoint = fixture.createCheckpoint({ through });
  checkpoint.accepted('tanks', '17');
  vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.timeout(10));
  await checkpoint.flush();
  expect(checkpoint.warnings()).toMatchObject([{ message: 'watch checkpoint not written, retrying' }]);
});

it('versions that cannot be compared are not written', async () => {
  const checkpoint = fixture.createCheckpoint();
  checkpoint.accepted('metrics', 'opaque');
  await checkpoint.flush();
  expect(await fixture.versions()).toEqual({});
});
