// The probes of the Deployment's pods while the API server says nothing, is gone, and is back. The time is the probes' own: minutes in
// which nothing is done but asking. Excluded: how old a frame may be (test/watcher/health.test.ts).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMessage } from '../../src/queue/message.ts';
import { openWatcherCluster, type WatcherCluster } from './watcher-cluster.ts';

/** A loop without frame or attempt for 120 s is dead; three probes, 20 s apart, would have said so by then, and restarted it. */
const probesUntilDead = 10;
const timeout = 480_000;
let at: WatcherCluster;

beforeAll(async () => {
  at = await openWatcherCluster();
  await at.apply();
  await at.run();
}, timeout);
afterAll(async () => await at.close(), 60_000);

describe('the probes', { timeout }, () => {
  it('in an outage of the API server say not ready, and restart nothing; then ready again, and no change is lost', async () => {
    const before = at.running();
    const pids = before.map(({ pid }) => pid);
    expect(pids.length).toBe(2);
    const readiness = (wanted: boolean) =>
      Promise.all(
        before.map(({ pod }) =>
          at.probed((outcome) => outcome.pod === pod && outcome.probe === 'readiness' && outcome.ok === wanted),
        ),
      );
    const liveness = () => at.outcomes.filter(({ probe, pod }) => probe === 'liveness' && pod === before[0]?.pod);

    const { length } = liveness();
    const notReady = readiness(false);
    at.plane.pauseApiServer();
    await notReady;
    await at.plane.kill9ApiServer();
    while (liveness().length < length + probesUntilDead) await at.probed(({ probe }) => probe === 'liveness');
    expect(at.running().map(({ pid }) => pid)).toEqual(pids);

    const ready = readiness(true);
    await at.plane.restartApiServer();
    await at.applyTank('after');
    await ready;
    const names: string[] = [];
    for (let tries = 0; tries < 30 && !names.includes('after'); tries += 1) {
      const messages = await at.queues.drain('water-tank.fifo', { waitSeconds: 2 });
      names.push(...messages.map(({ Body = '' }) => parseMessage(Body).name));
    }
    expect(names).toContain('after');
    expect(at.running().map(({ pid }) => pid)).toEqual(pids);
  });
});
