// Only the time that a watcher reports to others after the system clock was set. What they make of it is
// checkpoint/watcher-status.test.ts.
import { expect, it, onTestFinished, vi } from 'vitest';
import { noCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { startApiServer } from '../../src/testing/api-server.ts';
import { startWatcher } from '../../src/watcher/start.ts';
import { createRecorder } from '../support/recorder.ts';

it('the time of the last event follows the system clock that was set since the start of the watcher', async () => {
  const server = await startApiServer();
  onTestFinished(server.close);
  const { group, version, plural, kind, namespaced } = ConfigMap;
  const primary = { group, version, plural, kind, namespaced };
  const subscribers = [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' } as const];
  let lastSeenAt: () => number | undefined = () => undefined;
  const watcher = await startWatcher(
    {
      watchList: { version: 1, resources: [{ ...primary, subscribers }] },
      client: server.client,
      send: async () => [],
      checkpoint: {
        ...noCheckpoint,
        run: async (options) => {
          lastSeenAt = options.lastSeenAt;
        },
      },
      log: createRecorder().log,
    },
    { cluster: 'c', lowPriorityPerSecond: 100, host: '127.0.0.1', port: 0 },
  );
  onTestFinished(async () => void (await watcher.stop({ drainSeconds: 1 })));
  await expect.poll(() => lastSeenAt()).toBeDefined();
  const setAt = Date.now() + 3_600_000;
  vi.useFakeTimers({ toFake: ['Date'], now: setAt });
  onTestFinished(() => void vi.useRealTimers());
  expect(lastSeenAt()).toBeGreaterThan(setAt - 1_800_000);
});
