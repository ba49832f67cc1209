// BitcoinNetwork with running Pods and a node in each (B7, B10 to B15a, B16, B19): for any implementation of StatefulSets and Pods,
// kube-controller-manager and a kubelet with real nodes, or the simulators. The watcher runs; the test enqueues nothing.

import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bitcoinCli } from '../../src/controllers/bitcoin-network/children.ts';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { exec } from '../../src/kube/client/exec.ts';
import type { ObjectKey } from '../../src/kube/client/object.ts';
import { Pod, Service, StatefulSet } from '../../src/kubernetes.ts';
import { createBitcoin } from './bitcoin.ts';
import { install, type System, startSystem } from './harness.ts';
import { startWatch, type Watch } from './watch.ts';

/** Where Pod run. */
export type BitcoinFixture = {
  connect(): Connection;
  /** The identity of each controller, where it has one of its own. */
  readonly controllers?: (name: string) => Connection;
  /** Told of each namespace before anything is in it. */
  open?(namespace: string): void;
  setReady(pod: ObjectKey, ready: boolean): Promise<void>;
  /** Lets a pod's node die and come back at the same address, with an empty list. */
  forget(pod: ObjectKey): Promise<void>;
};

const name = 'my-network';
/** Real nodes need their seconds, and the machine may have other things to do. */
const pollOptions = { timeout: 90_000, interval: 100 };

/** Declares the statements. */
export function bitcoinNetworkWorkloadCases(stage: BitcoinFixture): void {
  let system: System;
  let bitcoin: ReturnType<typeof createBitcoin>;
  let watch: Watch;
  beforeAll(() => install(stage.connect()));
  beforeEach(async () => {
    const { controllers } = stage;
    system = await startSystem(stage.connect(), controllers === undefined ? {} : { controllers });
    stage.open?.(system.namespace);
    bitcoin = createBitcoin(system);
    watch = startWatch(system.client, system.namespace, system.send);
  });
  afterEach(async ({ task }) => {
    await system.delete(networks, name).catch(() => undefined);
    await watch.stop();
    await system.end({ failed: task.result?.state === 'fail' });
    // B30: the permissions of the controllers suffice.
    expect(system.lines.filter((line) => /returned 403|forbidden/i.test(line))).toEqual([]);
  });

  const pod = (ordinal: number) => ({ namespace: system.namespace, name: `${name}-sts-${ordinal}` });
  /** Waits while the system runs. */
  async function until<T>(look: () => Promise<T>, wanted: unknown): Promise<void> {
    const run = async () => {
      system.clock.ms = Math.max(system.clock.ms, Date.now());
      await system.deliver();
      return await look();
    };
    await expect.poll(run, pollOptions).toEqual(wanted);
  }
  /** What a node lists, by its own word. */
  async function added(ordinal: number): Promise<readonly string[]> {
    const command = [...bitcoinCli, 'getaddednodeinfo'];
    const { exitCode, stdout } = await exec(system.client, pod(ordinal), { container: `${name}-sts-ctr`, command });
    if (exitCode !== 0) return [`exit status ${exitCode}`];
    const listed: readonly { readonly addednode: string }[] = JSON.parse(stdout);
    return listed.map(({ addednode }) => addednode).sort();
  }
  const nodes = async () => (await bitcoin.nodes(name)) ?? [];
  const addresses = async () => (await nodes()).map(({ ip }) => ip);
  /** Waits until so many nodes are ready, and each lists exactly the others. Returns their addresses. */
  async function meshed(count: number): Promise<readonly string[]> {
    const look = async () => {
      const there = await nodes();
      const lists = await Promise.all(there.map(({ ordinal }) => added(ordinal)));
      return {
        ready: (await bitcoin.condition(name, 'Ready'))?.status,
        connected: (await bitcoin.condition(name, 'PeersConnected'))?.status,
        nodes: there.map(({ ready, ip }, index) => {
          const others = there.filter((_, at) => at !== index).map((node) => node.ip);
          return ready && ip !== '' && JSON.stringify(lists[index]) === JSON.stringify(others.sort());
        }),
      };
    };
    await until(look, { ready: 'True', connected: 'True', nodes: Array.from({ length: count }, () => true) });
    return await addresses();
  }

  describe('BitcoinNetwork among Pod that run', { timeout: 240_000 }, () => {
    it('B7, B10, B12, B14, B15, B15a: nodes come up and know each other; they follow a pod that comes back elsewhere, and every scale', async () => {
      await bitcoin.network(name);
      const ips = await meshed(3);
      expect(await nodes()).toEqual(
        ips.map((ip, ordinal) => ({
          ordinal,
          ready: true,
          ip,
          nodeName: `${name}-sts-${ordinal}`,
          dnsName: `${name}-sts-${ordinal}.${name}-svc`,
        })),
      );
      expect((await system.read(networks, name)).status).toMatchObject({ replicas: 3, readyNodes: 3 });
      expect(await bitcoin.condition(name, 'PeersConnected')).toMatchObject({ reason: 'AllAdded' });

      await system.delete(Pod, pod(1).name);
      await until(async () => new Set([...ips, ...(await addresses()), '']).size, 5);
      const after = await meshed(3);
      expect(after.map((ip, ordinal) => ip === ips[ordinal])).toEqual([true, false, true]);

      await bitcoin.network(name, { nodes: 4 });
      await meshed(4);
      await bitcoin.network(name, { nodes: 3 });
      await meshed(3);
      // A reconcile records its Events after its status.
      await until(async () => (await system.events('Scaled')).length, 2);
      await bitcoin.network(name, { nodes: 0 });
      await until(async () => [...(await nodes()), ...(await system.list(Pod))], []);
      await until(async () => (await bitcoin.condition(name, 'Ready'))?.status, 'True');
    });

    it('B13a: a node that dies comes back with an empty list, and gets it again', async () => {
      await bitcoin.network(name, { nodes: 2 });
      const before = await meshed(2);
      await stage.forget(pod(0));
      // Should nothing have told of it, the next poll of the world does.
      await system.tick();
      await system.pass(600);
      expect(await meshed(2)).toEqual(before);
    });

    it('B11, B16, B19: a node that turns unready is dropped until it is ready again, a scaled StatefulSet is scaled back, and all go with their network', async () => {
      await bitcoin.network(name, { nodes: 2 });
      const [first = '', second = ''] = await meshed(2);
      await stage.setReady(pod(1), false);
      await until(async () => await added(0), []);
      expect(await nodes()).toMatchObject([{ ready: true }, { ready: false }]);
      expect(await added(1)).toEqual([first]);
      await stage.setReady(pod(1), true);
      await until(async () => await added(0), [second]);
      await system.patch(StatefulSet, `${name}-sts`, { spec: { replicas: 1 } });
      await until(async () => (await bitcoin.set(name)).spec?.replicas, 2);
      await meshed(2);
      await system.delete(networks, name);
      const left = async () => [
        ...(await system.list(StatefulSet)),
        ...(await system.list(Service)),
        ...(await system.list(Pod)),
      ];
      await until(left, []);
      expect(await system.deadLetters('bitcoin-peers')).toEqual([]);
      expect(await system.deadLetters('bitcoin-network')).toEqual([]);
    });
  });
}
