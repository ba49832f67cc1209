// When the watchers of a cluster count as down, according to their watch checkpoint. The API server is scripted.
import { expect, it } from 'vitest';
import { formatCheckpoint } from '../../src/checkpoint/document.ts';
import { recordWatcherDown } from '../../src/checkpoint/watcher-status.ts';
import { checkpointName, systemNamespace } from '../../src/core/names.ts';
import { notFoundAt, sendJson, startWireServer, statusOf } from '../kube/wire-server.ts';
import { createRecorder } from '../support/recorder.ts';

const nowMs = Date.parse('2026-11-21T12:00:00Z');
const metadata = { name: checkpointName, namespace: systemNamespace, uid: 'c', resourceVersion: '7' };
/** The ConfigMap with a checkpoint, created this long ago. */
const configMapWith = (checkpoint: string | undefined, ageSeconds = 86_400) => ({
  kind: 'ConfigMap',
  metadata: { ...metadata, creationTimestamp: new Date(nowMs - ageSeconds * 1000).toISOString() },
  ...(checkpoint === undefined ? {} : { data: { checkpoint } }),
});
const lastSeen = (lastSeenAtMs: number | undefined) =>
  formatCheckpoint({ cluster: 'uid', lastSeenAtMs, entries: new Map() });

/**
 * Records the watcher status from a server with this response. Returns the counted metrics, the log lines and the
 * requests.
 */
async function record(status: number, body: object, localMs = nowMs) {
  const server = await startWireServer((_, response) => {
    response.setHeader('date', new Date(nowMs).toUTCString());
    sendJson(response, status, body);
  });
  const { log, metrics, counts, lines } = createRecorder();
  const { signal } = new AbortController();
  await recordWatcherDown('alpha', server.client(), { log, metrics, now: () => localMs }, { signal });
  return { counts: Object.fromEntries(counts), lines, requested: server.arrived.map(({ path }) => path) };
}

const trouble = { 'ClusterTrouble alpha watcher-down': 1 };

it.each<[string, number, object, number]>([
  ['events arrived a moment ago', 200, configMapWith(lastSeen(nowMs - 1_000)), 0],
  ['events arrived five minutes ago, at most', 200, configMapWith(lastSeen(nowMs - 300_000)), 0],
  ['the last events arrived longer ago', 200, configMapWith(lastSeen(nowMs - 301_000)), 1],
  ['the last event is two minutes in the future, at most', 200, configMapWith(lastSeen(nowMs + 120_000)), 0],
  ['the last event is later, by a wrong clock', 200, configMapWith(lastSeen(nowMs + 121_000)), 1],
  ['no event has arrived yet', 200, configMapWith(lastSeen(undefined)), 1],
  ['the checkpoint was installed yesterday and never written', 200, configMapWith(undefined), 1],
  ['the checkpoint was never written and its age is unknown', 200, { kind: 'ConfigMap', metadata }, 1],
  ['the checkpoint is not JSON', 200, configMapWith('garbage'), 1],
  ['there is no checkpoint', 404, notFoundAt('/api/v1/namespaces/s/configmaps/outrigger-watch-checkpoint'), 1],
  ['there is no permission to read the checkpoint', 403, statusOf(403, 'Forbidden'), 1],
])('when %s, WatcherDown is counted accordingly, with a log line if it is 1', async (_, status, body, down) => {
  const { counts, lines, requested } = await record(status, body);
  expect(counts).toEqual({ WatcherDown: down, ...(down === 1 ? trouble : {}) });
  expect(lines.map(({ message }) => message)).toEqual(down === 1 ? ['watcher down'] : []);
  expect(requested).toEqual(['/api/v1/namespaces/outrigger-system/configmaps/outrigger-watch-checkpoint']);
});

it('WatcherDown is 0 within 30 min after the installation without a watcher, and 1 afterwards', async () => {
  const early = await record(200, configMapWith(undefined, 1_800));
  expect(early.counts).toEqual({ WatcherDown: 0 });
  expect(early.lines).toMatchObject([{ level: 'info', message: 'watcher down' }]);
  const late = await record(200, configMapWith(undefined, 1_801));
  expect(late.counts).toEqual({ WatcherDown: 1, ...trouble });
  expect(late.lines).toMatchObject([{ level: 'warn' }]);
  expect((await record(200, configMapWith(lastSeen(undefined), 60))).counts).toEqual({ WatcherDown: 1, ...trouble });
});

it.each([-3, 3])('watchers that work are not down for a reader whose clock is %i hours off', async (hours) => {
  for (const configMap of [configMapWith(lastSeen(nowMs - 1_000)), configMapWith(undefined, 60)]) {
    const { counts } = await record(200, configMap, nowMs + hours * 3_600_000);
    expect(counts).toEqual({ WatcherDown: 0 });
  }
});

it('WatcherDown is not counted, and nothing is thrown, if the server fails', async () => {
  const { counts, lines } = await record(500, statusOf(500, 'InternalError'));
  expect(counts).toEqual({});
  expect(lines).toMatchObject([{ level: 'warn', message: 'watcher status unknown' }]);
});
