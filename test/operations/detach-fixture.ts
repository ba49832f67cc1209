// The fixture of the detach cases: a system in its own namespace for each case, and a client that reads no other
// namespace.
import { afterEach, beforeAll, beforeEach } from 'vitest';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { type DetachTarget, detach } from '../../src/operations/detach.ts';
import { confine, install, type System, startSystem } from '../statements/harness.ts';

/** Starts a system for each test of a file. `system` and `client` are those of the current test. */
export function detachFixture(connect: () => Connection) {
  let system: System;
  let client: KubeClient;
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    system = await startSystem(connect());
    client = confine(system.client, system.namespace);
  });
  afterEach(async ({ task }) => await system.end({ failed: task.result?.state === 'fail' }));
  return {
    get system() {
      return system;
    },
    get client() {
      return client;
    },
    /** Creates tanks and reconciles them. */
    tanks: async (...names: readonly string[]) => {
      for (const name of names) await system.apply(WaterTank, name, { targetLevel: 40, capacity: 100 });
      await system.reconcile(WaterTank, ...names);
    },
    detachFrom: async (target: DetachTarget, through = client) =>
      await detach(through, target, { dryRun: false, signal: new AbortController().signal }),
  };
}

/** Returns the field managers of Outrigger controllers on an object. */
export function managersOf({ metadata }: KubeObject): readonly string[] {
  return (metadata.managedFields ?? [])
    .map(({ manager = '' }) => manager)
    .filter((name) => name.startsWith('outrigger-'));
}
