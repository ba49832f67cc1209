// Only what others see of a watcher whose clock is wrong, or whose keys SQS refuses. When a watcher counts as down is
// checkpoint/watcher-status.test.ts.
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { createWatchCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { readWatcherStatus } from '../../src/checkpoint/watcher-status.ts';
import { checkpointName, systemNamespace } from '../../src/core/names.ts';
import { sleep } from '../../src/core/time.ts';
import { ConfigMap, Service } from '../../src/kubernetes.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { startApiServer } from '../../src/testing/api-server.ts';
import { startWatcher } from '../../src/watcher/start.ts';
import { createRecorder } from '../support/recorder.ts';

const { signal } = new AbortController();
const configMap = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });

/** Starts an API server with an empty watch checkpoint. */
async function startServer(now: () => Date) {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
  const checkpoint = configMap({ name: checkpointName, namespace: systemNamespace });
  const server = await startApiServer({ now, objects: [namespace, checkpoint] });
  onTestFinished(server.close);
  return server;
}

/** Runs a watcher of a kind until the test ends. */
async function run(
  { client }: Awaited<ReturnType<typeof startServer>>,
  send: Send,
  { group, version, plural, kind, namespaced }: Kind = ConfigMap,
  writeSeconds = 0.01,
  namespaces?: readonly string[],
) {
  const primary = { group, version, plural, kind, namespaced };
  const subscribers = [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' } as const];
  const { log } = createRecorder();
  const watcher = await startWatcher(
    {
      watchList: { version: 1, resources: [{ ...primary, subscribers }] },
      client,
      log,
      send,
      checkpoint: createWatchCheckpoint({ client, log, now: Date.now, wait: sleep }, { writeSeconds }),
    },
    { cluster: 'c', namespaces, lowPriorityPerSecond: 100, host: '127.0.0.1', port: 0 },
  );
  onTestFinished(async () => void (await watcher.stop({ drainSeconds: 0.01 })));
  return watcher;
}

it.each([-3, 3])('a watcher whose clock is %i hours off is not down', async (hours) => {
  const nowMs = Date.now();
  const server = await startServer(() => new Date(nowMs));
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs + hours * 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  await run(server, async () => []);
  const readStatus = async () => await readWatcherStatus(server.client, nowMs, { signal });
  await expect.poll(async () => (await readStatus()).entries?.size).toBe(1);
  expect((await readStatus()).down).toBeUndefined();
});

/** Waits until the checkpoint was written: the write in progress may be from before. */
async function written({ requests }: Awaited<ReturnType<typeof startServer>>) {
  const writes = () => requests().filter(({ query }) => query.fieldManager === 'outrigger-watcher').length;
  const before = writes();
  await expect.poll(writes).toBeGreaterThan(before + 1);
}

it('a watcher that receives no event is down after five minutes', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await startServer(() => new Date());
  // Not ConfigMaps: each write of the checkpoint would be an event.
  await run(server, async () => [], Service);
  const readStatus = async () => await readWatcherStatus(server.client, Date.now(), { signal });
  await expect.poll(async () => (await readStatus()).down).toBeUndefined();
  vi.advanceTimersByTime(360_000);
  await written(server);
  expect((await readStatus()).down).toMatchObject({ level: 'warn' });
});

it('a watcher whose watch is cut is reconnecting until its stream is open again', async () => {
  const server = await startServer(() => new Date());
  // The next write is due after a minute.
  await run(server, async () => [], Service, 30);
  const status = async () => await readWatcherStatus(server.client, Date.now(), { signal });
  await expect.poll(status, { timeout: 15_000 }).not.toHaveProperty('down');
  expect(await status()).not.toHaveProperty('reconnectingSeconds');
  const cut = server.inject({ does: 'reset', watch: true });
  server.breakStreams();
  await expect.poll(status, { timeout: 15_000 }).toMatchObject({ reconnectingSeconds: expect.any(Number) });
  expect(await status()).not.toHaveProperty('down');
  cut[Symbol.dispose]();
  // A bookmark would arrive after a minute.
  await expect.poll(status, { timeout: 25_000 }).not.toHaveProperty('reconnectingSeconds');
}, 60_000);

it('a watcher writes twice while its watches are cut and open again one after the other', async () => {
  const server = await startServer(() => new Date());
  const writes = () => server.requests().filter(({ query }) => query.fieldManager === 'outrigger-watcher').length;
  const namespaces = Array.from({ length: 12 }, (_, index) => `n${index}`);
  const { health } = await run(server, async () => [], Service, 30, namespaces);
  const status = async () => await readWatcherStatus(server.client, Date.now(), { signal });
  await expect.poll(status, { timeout: 15_000 }).not.toHaveProperty('down');
  const before = writes();
  const cut = server.inject({ does: 'reset', watch: true });
  server.breakStreams();
  await expect.poll(() => health.report().every(({ watchErrors }) => watchErrors > 2), { timeout: 15_000 }).toBe(true);
  cut[Symbol.dispose]();
  await expect.poll(health.failingMs, { timeout: 25_000 }).toBeUndefined();
  await expect.poll(status, { timeout: 15_000 }).not.toHaveProperty('reconnectingSeconds');
  expect(writes() - before).toBe(2);
}, 60_000);

it('a watcher that receives events is down when a queue has refused its keys for five minutes', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await startServer(() => new Date());
  let refused = 0;
  const { health } = await run(server, async (_, entries) => {
    refused += entries.length;
    return entries.map(() => ({ accepted: false, reason: 'AccessDenied' }));
  });
  const readStatus = async () => await readWatcherStatus(server.client, Date.now(), { signal });
  await server.apply(configMap({ name: 'one', namespace: 'default' }));
  await expect.poll(() => refused).toBeGreaterThan(0);
  await expect.poll(async () => (await readStatus()).down).toBeUndefined();
  vi.advanceTimersByTime(360_000);
  await server.apply(configMap({ name: 'two', namespace: 'default' }));
  await expect.poll(() => health.ready()).toBe(true);
  await written(server);
  expect((await readStatus()).down).toMatchObject({ level: 'warn', reason: expect.stringContaining('queues') });
});
