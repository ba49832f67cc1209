// The probes of the Deployment's pods while the API server says nothing, is gone, and is back, of a watcher that goes on trying and of one
// whose loop hangs. The time is the probes' own: minutes in which nothing is done but asking. Excluded: how old a frame may be (test/watcher/health.test.ts).
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
  it('in an outage of the API server say not ready, and restart none but one whose loop hangs; then ready again, and no change is lost', async () => {
    const before = at.running();
    const [patient, hanging] = before;
    if (patient === undefined || hanging === undefined) throw new Error('there are not two watchers');
    const readiness = (wanted: boolean) =>
      Promise.all(
        before.map(({ pod }) =>
          at.probed((outcome) => outcome.pod === pod && outcome.probe === 'readiness' && outcome.ok === wanted),
        ),
      );
    const liveness = () => at.outcomes.filter(({ probe, pod }) => probe === 'liveness' && pod === patient.pod);

    // The loop of the tanks hears once more, and waits for the next frame without a timer from then on.
    process.kill(hanging.pid, 'SIGUSR2');
    await at.applyTank('before');
    const forwarded = async () => await (await fetch(`http://${hanging.ip}:8080/metrics`)).text();
    await expect
      .poll(forwarded, { timeout: 30_000 })
      .toMatch(/forwarded_total\{controller="water-tank",lane="watch"\} 1/);

    const { length } = liveness();
    const notReady = readiness(false);
    const dead = at.probed(({ pod, probe, ok }) => pod === hanging.pod && probe === 'liveness' && !ok);
    at.plane.pauseApiServer();
    await Promise.all([notReady, dead]);
    await expect.poll(() => hanging.ended(), { timeout: 120_000 }).toBeDefined();
    await at.plane.kill9ApiServer();
    while (liveness().length < length + probesUntilDead) await at.probed(({ probe }) => probe === 'liveness');
    expect(liveness().every(({ ok }) => ok)).toBe(true);
    expect(patient.ended()).toBeUndefined();

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
    expect(patient.ended()).toBeUndefined();
    expect(at.running().map(({ pod }) => pod)).toEqual([patient.pod, hanging.pod]);
  });
});
