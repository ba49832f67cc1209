// What the cases of releases stand on: a system in a namespace of its own for each, and a client that sees no other namespace.
import { afterEach, beforeAll, beforeEach } from 'vitest';
import { waterTankKind } from '../../src/controllers/water-tank.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { type ReleaseTarget, release } from '../../src/runtime/release.ts';
import { confine, install, type System, startSystem } from '../statements/harness.ts';

/** The system of the test that runs, and what cases do with it. */
export type ReleaseScene = ReturnType<typeof releaseScene>;

/** Starts a system for each test of a file; `system` and `client` are those of the test that runs. */
export function releaseScene(connect: () => Connection) {
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
    /** Makes tanks, and has them reconciled. */
    tanks: async (...names: readonly string[]) => {
      for (const name of names) await system.apply(waterTankKind, name, { targetLevel: 40, capacity: 100 });
      await system.reconcile(waterTankKind, ...names);
    },
    releaseOf: async (target: ReleaseTarget, through = client) =>
      await release(through, target, { dryRun: false, signal: new AbortController().signal }),
  };
}

/** The field managers of ours that an object has. */
export function managersOf({ metadata }: KubeObject): readonly string[] {
  return (metadata.managedFields ?? [])
    .map(({ manager = '' }) => manager)
    .filter((name) => name.startsWith('outrigger-'));
}
