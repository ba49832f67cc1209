// The health of a watch loop whose watches end or have no events. The API server is scripted, the clock is advanced by
// hand.
import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { noCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { createHealth } from '../../src/forwarding/health.ts';
import { createWatchLoop } from '../../src/forwarding/watch-loop.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createRestoreDetection } from '../../src/kube/watch/restore-detection.ts';
import { createTime, eventLine, listOf, openWatch, startScript, tank } from '../kube/watch/watch-script.ts';
import { sendJson } from '../kube/wire-server.ts';
import { createRecorder } from '../support/recorder.ts';

const kind = { group: 'plant.example.com', version: 'v1', plural: 'watertanks', kind: 'WaterTank', namespaced: true };
const tanks: WatchedResource = {
  ...kind,
  subscribers: [{ controller: 'water-tank', as: 'primary', primary: kind, predicate: 'generation' }],
};

/** Starts a loop on a clock that the test advances. */
function follow(client: KubeClient) {
  const time = createTime();
  const clock = { ms: 0 };
  const health = createHealth(() => clock.ms);
  const loopHealth = health.loop('tanks');
  const counts = { opened: 0, errors: 0, received: 0, idle: 0 };
  const added: string[] = [];
  const checks = new Set<() => void>();
  const count = (event: keyof typeof counts) => {
    counts[event] += 1;
    for (const check of checks) check();
  };
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const loop = createWatchLoop(
    {
      client,
      checkpoint: noCheckpoint,
      log: createRecorder().log,
      now: () => clock.ms,
      random: () => 0,
      nonce: () => 'n',
      restoreDetection: createRestoreDetection(),
      requeueOwners: () => undefined,
      forwarder: { add: ({ target }) => void added.push(target.name), addLowPriority: () => undefined },
      health: {
        ...loopHealth,
        opened: () => {
          loopHealth.opened();
          count('opened');
        },
        received: () => {
          loopHealth.received();
          count('received');
        },
        recordError: (error) => {
          loopHealth.recordError(error);
          count('errors');
        },
      },
      wait: (seconds, until) => {
        const waited = time.wait(seconds, until);
        if (seconds > 60) count('idle');
        return waited;
      },
    },
    { resource: tanks, cluster: 'c' },
  );
  void loop.run(controller.signal);
  return {
    clock,
    health,
    added,
    expireIdleTimeout: time.expireIdleTimeout,
    /** Resolves when an event has happened this many times. */
    until: (event: keyof typeof counts, times: number) =>
      new Promise<void>((resolve) => {
        const check = () => counts[event] >= times && resolve();
        checks.add(check);
        check();
      }),
  };
}
const bookmark = (resourceVersion: string) => eventLine('BOOKMARK', { metadata: { resourceVersion } });

it('a watch that the server ends between two bookmarks stays ready and alive', async () => {
  const ends: (() => void)[] = [];
  const { server } = await startScript({
    watch: (_, response, count) => {
      openWatch(response, ...(count === 1 ? [bookmark('110')] : []));
      ends.push(() => response.end());
    },
  });
  const { clock, health, until } = follow(server.client());
  // A page, the end of the list, a bookmark.
  await until('received', 3);
  clock.ms = 59_000;
  ends[0]?.();
  await until('opened', 2);
  // The new watch's first bookmark comes a minute after it was opened.
  clock.ms += 65_000;
  expect([health.ready(), health.alive()]).toEqual([true, true]);
});

it.each([
  ['are idle', 70_000],
  ['a proxy closes after 50 s', 50_000],
])('a kind whose watches open without events and %s is ready while the read before each of them succeeds', async (_, ms) => {
  const watches: ServerResponse[] = [];
  const { server } = await startScript({
    watch: (_request, response) => {
      openWatch(response);
      watches.push(response);
    },
  });
  const { clock, health, until, expireIdleTimeout } = follow(server.client());
  const passed = vi.spyOn(performance, 'now').mockImplementation(() => clock.ms);
  onTestFinished(() => passed.mockRestore());
  for (let times = 1; times <= 3; times += 1) {
    await until('idle', times);
    clock.ms += ms;
    if (ms < 60_000) watches.at(-1)?.end();
    else expireIdleTimeout();
    await until('errors', times);
  }
  await until('idle', 4);
  expect([health.ready(), health.alive()]).toEqual([true, true]);
});

it('a change that a proxy holds back is found by a list after three silent watches', async () => {
  const items = [tank('a', '90')];
  const { server, sequence } = await startScript({
    list: (_, response) => sendJson(response, 200, listOf('100', ...items)),
  });
  const { clock, until, expireIdleTimeout, added } = follow(server.client());
  const passed = vi.spyOn(performance, 'now').mockImplementation(() => clock.ms);
  onTestFinished(() => passed.mockRestore());
  await until('idle', 1);
  items.push(tank('b', '95'));
  for (let times = 1; times <= 3; times += 1) {
    await until('idle', times);
    clock.ms += 70_000;
    expireIdleTimeout();
    await until('errors', times);
  }
  await until('idle', 4);
  expect(added).toEqual(['b']);
  expect(sequence()).toEqual([...['list', 'watch'], ...['probe', 'watch', 'probe', 'watch', 'probe', 'list', 'watch']]);
});
