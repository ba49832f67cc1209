// Without a watcher (X3): the resync alone brings every change of a parent and of a child to its controller within one period. The messages
// on the queues are lost as well, so that no requeue finds the change.
import { expect, it } from 'vitest';
import { observedGenerationOf } from '../../src/api/status-slice.ts';
import { fieldManagerOf } from '../../src/core/names.ts';
import { ownedFields } from '../../src/kube/apply/managed-fields.ts';
import { isInvalid } from '../../src/kube/client/errors.ts';
import { type Child, childrenOf } from './children.ts';
import { alike } from './end-state.ts';
import { inMemory as harness } from './in-memory.ts';
import { withoutReferences } from './ownership-cases.ts';
import type { Fixture } from './system.ts';
import { edgesOf } from './variants.ts';

/** Each level of children needs a period of its own, on the way down and on the way up. */
const mostPeriods = 8;

it.each(
  harness.registry,
)('X3, B25, I12, W10: $name: the resync finds a missed create, update and delete, and the drift and deletion of children, within one period each, with the same end state', async (controller) => {
  await using system = await harness.open(controller);
  await system.create();
  await system.period();
  expect(await isObserved(system)).toBe(true);
  await finishUnobserved(system);
  expect(await system.endState()).toEqual(await harness.calm(controller, 'created'));

  system.lose();
  await harness.change(system);
  expect(await isObserved(system)).toBe(false);
  await system.period();
  expect(await isObserved(system)).toBe(true);
  await finishUnobserved(system);
  expect(await system.endState()).toEqual(await harness.calm(controller, 'changed'));
  await repairUnobserved(system);

  system.lose();
  await system.delete(system.kind, system.name);
  await system.period();
  expect(await system.get(system.kind, system.name)).toBeUndefined();
  await finishUnobserved(system);
  expect(await system.endState()).toEqual({});
  expect(await system.deadLetters(controller.name)).toEqual([]);
});

/** Changes, and then deletes, children that no watcher sees. */
async function repairUnobserved(system: Fixture): Promise<void> {
  const { name: controller } = system.controller;
  const before = await system.endState();
  const children = await childrenOf(system);
  if (children.length === 0) return;
  system.lose();
  for (const child of children) await spoil(system, child);
  await system.period();
  for (const { kind, name, owned } of children) {
    expect(ownedFields(await system.read(kind, name), fieldManagerOf(controller))).toEqual(owned);
  }
  await finishUnobserved(system);

  system.lose();
  for (const { kind, name } of children) await system.delete(kind, name);
  // A child with a finalizer exists until its own controller has finalized it.
  if (children.some(({ live }) => live.metadata.finalizers !== undefined)) await system.period();
  await system.period();
  expect(pathsOf(await childrenOf(system))).toEqual(pathsOf(children));
  await finishUnobserved(system);
  expect(alike(await system.endState())).toEqual(alike(before));
}

/** Returns whether the controller has reported on the subject's current generation. */
async function isObserved({ subject, controller: { declaration } }: Fixture): Promise<boolean> {
  const { metadata, status } = await subject();
  return observedGenerationOf(status, declaration.statusSlice) === metadata.generation;
}

/** Advances periods until everything has converged. */
async function finishUnobserved(system: Fixture): Promise<void> {
  for (let period = 0; period < mostPeriods && !(await system.isSettled()); period += 1) await system.period();
  expect(await system.isSettled(), `after ${mostPeriods} periods`).toBe(true);
}

/** Changes a field of a child that its controller applies: of its content, or of its labels where the content is immutable. */
async function spoil(system: Fixture, { kind, name, live, owned }: Child): Promise<void> {
  const { metadata, ...content } = withoutReferences(owned);
  for (const edited of [...edgesOf(content), ...edgesOf({ metadata })]) {
    const spoilt = await system.patch(kind, name, Object(edited)).catch((error: unknown) => {
      if (isInvalid(error)) return live;
      throw error;
    });
    if (spoilt.metadata.resourceVersion !== live.metadata.resourceVersion) return;
  }
  throw new Error(`${kind.kind} ${name}: nothing in it can be changed`);
}

function pathsOf(children: readonly Child[]): readonly string[] {
  return children.map(({ path }) => path).sort();
}
