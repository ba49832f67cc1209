// Who wakes a BitcoinNetwork (B17, B18), and what the resync finds where no watcher saw it (B25), as cases for any API server
// where the test alone says how a StatefulSet fares.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serviceKind as services, statefulSetKind as sets } from '../../src/controllers/bitcoin-network/children.ts';
import { bitcoinNetworkKind as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { createBitcoin } from './bitcoin.ts';
import { install, type System, startSystem } from './harness.ts';
import { startWatch, type Watch } from './watch.ts';

const name = 'my-network';
const service = 'my-network-svc';
const set = 'my-network-sts';

/** Declares the statements. */
export function bitcoinNetworkWakeCases(connect: () => Connection): void {
  let system: System;
  let bitcoin: ReturnType<typeof createBitcoin>;
  let watch: Watch | undefined;
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    system = await startSystem(connect());
    bitcoin = createBitcoin(system);
    watch = undefined;
  });
  afterEach(async ({ task }) => {
    await watch?.stop();
    await system.end({ failed: task.result?.state === 'fail' });
  });

  /** Lets the system run, from one forwarded key to the next, until it is so. */
  async function until(isSo: () => Promise<boolean>): Promise<void> {
    watch ??= startWatch(system.client, system.namespace, system.send);
    for (;;) {
      system.clock.ms = Math.max(system.clock.ms, Date.now());
      await system.deliver();
      if (await isSo()) return;
      await watch.next();
    }
  }
  /** One whole period of polling the world: every object has been visited once. */
  async function resync(): Promise<void> {
    await system.tick();
    await system.pass(600);
  }
  const replicas = async () => (await bitcoin.set(name)).spec?.replicas;

  describe('the watcher and BitcoinNetwork', () => {
    it.each([
      ['B17', 'StatefulSet', sets, set],
      ['B18', 'Service', services, service],
    ])('%s: a %s that is deleted is made again by that event alone', async (_, __, kind, child) => {
      await bitcoin.network(name);
      await until(async () => (await system.get(kind, child)) !== undefined);
      const { uid } = (await system.read(kind, child)).metadata;
      await system.delete(kind, child);
      await until(async () => ((await system.get(kind, child))?.metadata.uid ?? uid) !== uid);
    });

    it('B16: a StatefulSet that is scaled by hand wakes its network, which scales it back', async () => {
      await bitcoin.network(name);
      await until(async () => (await system.get(sets, set)) !== undefined);
      await system.patch(sets, set, { spec: { replicas: 5 } });
      await until(async () => (await bitcoin.events('Scaled')).length > 0);
      expect(await replicas()).toBe(3);
    });
  });

  describe('the resync and BitcoinNetwork', () => {
    it('B25: a network that was made while no watcher ran has its workloads', async () => {
      await bitcoin.network(name);
      await resync();
      expect(await replicas()).toBe(3);
      expect(await system.get(services, service)).toBeDefined();
    });

    it('B25: a network that was scaled, or whose StatefulSet was deleted, while no watcher ran is put right', async () => {
      await bitcoin.network(name);
      await system.reconcile(networks, name);
      await bitcoin.network(name, { nodes: 4 });
      await resync();
      expect(await replicas()).toBe(4);
      await system.delete(sets, set);
      await expect.poll(async () => await system.get(sets, set)).toBeUndefined();
      await resync();
      expect(await replicas()).toBe(4);
    });
  });
}
