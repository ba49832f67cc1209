// Faults of etcd: compaction and a restored backup. Only a real etcd has them.

import { setTimeout as wait } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { isWatch, type ProxiedRequest } from './chaos-proxy.ts';
import type { ChaosFixture, Row } from './row.ts';
import { until } from './until.ts';

/** The watchers write their checkpoint this often. */
const checkpointSeconds = 1;
/** A watcher's longest wait between two connects is shorter. */
const goneSeconds = 60;
const isList = ({ method, url }: ProxiedRequest) =>
  method === 'GET' && new URL(url, 'http://a').searchParams.has('limit');

/** The rows of etcd. */
export const etcdRows: readonly Row[] = [
  {
    fault: 'etcd compacted during watches',
    how: 'watches cut, changes, etcd compacted, API server restarted: no watch can be resumed',
    real: true,
    run: async (fixture) => {
      const { system, editor, changes } = fixture;
      system.api.goneCount();
      system.api.rule((request) => (isWatch(request) ? { type: 'reset' } : undefined));
      system.api.breakStreams({ type: 'reset' });
      await editor.edit(Math.ceil(changes / 2));
      await compactAndRestart(fixture);
      system.api.rule();
      await editor.edit(Math.floor(changes / 2));
      await system.watchersReady();
      return await untilGone(system);
    },
  },
  {
    fault: 'etcd compacted without watchers',
    how: "no watcher, changes, etcd compacted, API server and watchers restarted: the checkpoint's version is too old",
    real: true,
    run: async (fixture) => {
      const { system, editor, changes } = fixture;
      await system.watchers.scale({ count: 0 });
      system.api.goneCount();
      await editor.edit(Math.ceil(changes / 2));
      await compactAndRestart(fixture);
      await system.watchers.scale({ count: 1 });
      await editor.edit(Math.floor(changes / 2));
      await system.watchersReady();
      return await untilGone(system);
    },
  },
  {
    fault: 'etcd restored from a backup',
    how: 'backup, half of the changes, restore, the other half; watchers and functions keep running',
    real: true,
    run: async ({ system: { plane, ...system }, editor, checker, changes }) => {
      if (plane === undefined) throw new Error('only a real etcd has a backup');
      const quarter = Math.ceil(changes / 4);
      await editor.edit(quarter);
      await plane.backUp();
      await system.watchersReady();
      await editor.edit(Math.ceil(changes / 2));
      await plane.restore();
      await checker.recordRestore();
      await editor.edit(quarter);
      return 1;
    },
  },
  {
    fault: 'etcd restored, and versions passed',
    how: 'backup, a quarter of the changes, watchers cut off, restore, the rest of the changes, watchers connected',
    real: true,
    run: async (fixture) => await passVersions(fixture),
  },
  {
    fault: 'another cluster at the same address',
    how: 'backup, a quarter of the changes, watchers cut off, restore, another uid of kube-system, the rest of the changes, watchers connected',
    real: true,
    run: async (fixture) => await passVersions(fixture, async (plane) => await plane.renewIdentity()),
  },
];

/**
 * Replaces the cluster by its backup, or by another cluster, while the watchers are cut off, and makes changes until its
 * versions have passed those that the watchers know.
 */
async function passVersions(
  { system: { plane, ...system }, editor, checker, changes }: ChaosFixture,
  afterRestore: (plane: ControlPlane) => Promise<void> = async () => undefined,
): Promise<number> {
  if (plane === undefined) throw new Error('only a real etcd has a backup');
  const quarter = Math.ceil(changes / 4);
  await plane.backUp();
  await system.watchersReady();
  await editor.edit(quarter);
  // The watchers' last write of the checkpoint is later than the backup.
  await wait(checkpointSeconds * 2 * 1000);
  system.api.rule((request) => (isWatch(request) || isList(request) ? { type: 'reset' } : undefined));
  system.api.breakStreams({ type: 'reset' });
  await plane.restore();
  await afterRestore(plane);
  await checker.recordRestore();
  await editor.edit(changes - quarter);
  system.api.rule();
  await system.watchersReady();
  return 1;
}

/** Compacts etcd, and restarts the API server so that its watch cache is empty. */
async function compactAndRestart({ system: { plane } }: ChaosFixture): Promise<void> {
  if (plane === undefined) throw new Error('only a real etcd is compacted');
  await plane.compact();
  await plane.restartApiServer();
}

/**
 * Waits for the 410, without which no watcher had to list again. A watch is open before its first event, which may be
 * the 410.
 */
async function untilGone({ api }: ChaosFixture['system']): Promise<number> {
  let count = 0;
  await until(
    () => {
      count += api.goneCount();
      return count > 0;
    },
    goneSeconds,
    'no watch received a 410',
  );
  return count;
}
