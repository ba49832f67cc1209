// The probes of the Deployment's pods while the API server is paused, down, and up again, for a watcher that keeps
// retrying and for one whose watch loop hangs. During the outage the clocks of the watchers and of the kubelet are fast.
// Excluded: the maximum age of an event (test/forwarding/health.test.ts).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fastClock } from '../../tools/kubelet/adjustable-clock.ts';
import { openWatcherCluster, type WatcherCluster } from './watcher-cluster.ts';

/**
 * A watch loop without an event or attempt for 120 s is dead. Within this number of probes, 20 s apart, three would
 * have failed and restarted it.
 */
const probesUntilDead = 10;
const timeout = 400_000;
let cluster: WatcherCluster;

beforeAll(async () => {
  cluster = await openWatcherCluster();
  await cluster.apply();
  await cluster.run();
}, timeout);
afterAll(async () => await cluster.close(), 60_000);

describe('probes of the watcher in an outage', { timeout }, () => {
  it('during an outage of the API server the probes report not ready and restart only a watcher whose loop hangs; afterwards both are ready, and no change is lost', async () => {
    const before = cluster.running();
    const [retrying, hanging] = before;
    if (retrying === undefined || hanging === undefined) throw new Error('expected two watchers');
    const readiness = (wanted: boolean) =>
      Promise.all(
        before.map(({ pod }) =>
          cluster.probed((outcome) => outcome.pod === pod && outcome.probe === 'readiness' && outcome.ok === wanted),
        ),
      );
    const setSpeed = (speed: number) => {
      cluster.setProbeSpeed(speed);
      for (const { pid, ended } of before) if (ended() === undefined) process.kill(pid, 'SIGALRM');
    };
    const liveness = () => cluster.outcomes.filter(({ probe, pod }) => probe === 'liveness' && pod === retrying.pod);

    const forwarded = async () => await (await fetch(`http://${hanging.ip}:8080/metrics`)).text();
    // The watch loop of the tanks receives one more event, and then waits for the next one without a timer. The watcher
    // has taken the signal when it responds: it could take it after an event that came at once.
    process.kill(hanging.pid, 'SIGUSR2');
    await forwarded();
    await cluster.applyTank('before');
    await expect
      .poll(forwarded, { timeout: 30_000 })
      .toMatch(/forwarded_total\{cluster="test",controller="water-tank",cause="change"\} 1/);

    const { length } = liveness();
    const notReady = readiness(false);
    const dead = cluster.probed(({ pod, probe, ok }) => pod === hanging.pod && probe === 'liveness' && !ok);
    cluster.plane.pauseApiServer();
    setSpeed(fastClock);
    await Promise.all([notReady, dead]);
    await expect.poll(() => hanging.ended(), { timeout: 120_000 }).toBeDefined();
    await cluster.plane.kill9ApiServer();
    while (liveness().length < length + probesUntilDead) await cluster.probed(({ probe }) => probe === 'liveness');
    expect(liveness().every(({ ok }) => ok)).toBe(true);
    expect(retrying.ended()).toBeUndefined();

    setSpeed(1);
    const ready = readiness(true);
    await cluster.plane.restartApiServer();
    await cluster.applyTank('after');
    await ready;
    expect(await cluster.tanksSeen(['after'])).toEqual(['after']);
    expect(retrying.ended()).toBeUndefined();
    expect(cluster.running().map(({ pod }) => pod)).toEqual([retrying.pod, hanging.pod]);
    const restarts = before.map(({ pod }) =>
      cluster.kubectl.output(['get', 'pod', pod, '-o', 'jsonpath={.status.containerStatuses[0].restartCount}']),
    );
    expect(await Promise.all(restarts)).toEqual(['0', '1']);
  });
});
