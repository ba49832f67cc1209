// Only what others see of a watcher whose clock is wrong. When a watcher counts as down is
// checkpoint/watcher-status.test.ts.
import { expect, it, onTestFinished, vi } from 'vitest';
import { createWatchCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { readWatcherStatus } from '../../src/checkpoint/watcher-status.ts';
import { checkpointName, systemNamespace } from '../../src/core/names.ts';
import { sleep } from '../../src/core/time.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { startApiServer } from '../../src/testing/api-server.ts';
import { startWatcher } from '../../src/watcher/start.ts';
import { createRecorder } from '../support/recorder.ts';

const { signal } = new AbortController();

it.each([-3, 3])('a watcher whose clock is %i hours off is not down', async (hours) => {
  const nowMs = Date.now();
  const metadata = { name: checkpointName, namespace: systemNamespace };
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata },
  ];
  const server = await startApiServer({ objects, now: () => new Date(nowMs) });
  onTestFinished(server.close);
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs + hours * 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { group, version, plural, kind, namespaced } = ConfigMap;
  const primary = { group, version, plural, kind, namespaced };
  const subscribers = [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' } as const];
  const { log } = createRecorder();
  const { client } = server;
  const watcher = await startWatcher(
    {
      watchList: { version: 1, resources: [{ ...primary, subscribers }] },
      ...{ client, log, send: async () => [] },
      checkpoint: createWatchCheckpoint({ client, log, now: Date.now, wait: sleep }, { writeSeconds: 0.01 }),
    },
    { cluster: 'c', lowPriorityPerSecond: 100, host: '127.0.0.1', port: 0 },
  );
  const readStatus = async () => await readWatcherStatus(client, nowMs, { signal });
  await expect.poll(async () => (await readStatus()).entries?.size).toBe(1);
  await watcher.stop({ drainSeconds: 1 });
  expect((await readStatus()).down).toBeUndefined();
});
