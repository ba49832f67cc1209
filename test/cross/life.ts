// One whole life of a controller's sample, created, changed and deleted, for the cases that look at its requests and messages.
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import type { QueueRunner } from '../statements/drain.ts';
import type { Harness } from './harness.ts';
import type { Call } from './wire.ts';

/** What a life leaves. */
type Life = {
  readonly namespace: string;
  /** The path of the sample. */
  readonly path: string;
  /** The requests of all controllers. */
  readonly calls: readonly Call[];
  readonly sent: QueueRunner['sent'];
  /** The versions of the objects in another namespace, before and after it. */
  readonly beside: readonly [object, object];
};

const lives = new WeakMap<Harness, Map<ControllerDefinition, Promise<Life>>>();

/** Returns the life of a controller's sample, which is run once. */
export async function lifeOf(harness: Harness, controller: ControllerDefinition): Promise<Life> {
  const known = lives.get(harness) ?? new Map<ControllerDefinition, Promise<Life>>();
  lives.set(harness, known);
  const life = known.get(controller) ?? live(harness, controller);
  known.set(controller, life);
  return await life;
}

async function live(harness: Harness, controller: ControllerDefinition): Promise<Life> {
  await using system = await harness.open(controller);
  await using beside = await harness.open(controller, { platform: await system.platform.elsewhere() });
  await beside.create();
  await beside.settle();
  const before = await beside.versions();
  await system.create();
  await system.settle();
  await harness.change(system);
  await system.settle();
  await system.delete(system.kind, system.name);
  await system.rest();
  const { calls, kind, name, namespace, sent } = system;
  return {
    ...{ namespace, calls, sent, path: objectPath(kind, { name, namespace }) },
    beside: [before, await beside.versions()],
  };
}
