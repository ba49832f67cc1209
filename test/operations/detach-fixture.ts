// The fixture of the detach cases: a system in its own namespace for each case, and a client that reads no other
// namespace.
import { WaterTank } from '../../src/controllers/water-tank.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { type DetachTarget, detach } from '../../src/operations/detach.ts';
import { confine, useSystem } from '../statements/harness.ts';

/** Starts a system for each test of a file. `system` and `client` are those of the current test. */
export function detachFixture(connect: () => Connection) {
  const system = useSystem(connect);
  return {
    system,
    get client() {
      return confine(system.client, system.namespace);
    },
    /** Creates tanks and reconciles them. */
    tanks: async (...names: readonly string[]) => {
      for (const name of names) await system.apply(WaterTank, name, { targetLevel: 40, capacity: 100 });
      await system.reconcile(WaterTank, ...names);
    },
    detachFrom: async (target: DetachTarget, through = confine(system.client, system.namespace)) =>
      await detach(through, target, { dryRun: false, signal: new AbortController().signal }),
  };
}

/** Returns the field managers of Outrigger controllers on an object. */
export function managersOf({ metadata }: KubeObject): readonly string[] {
  return (metadata.managedFields ?? [])
    .map(({ manager = '' }) => manager)
    .filter((name) => name.startsWith('outrigger-'));
}
