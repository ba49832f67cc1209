// A crash after every write, for every controller (X6): the write has reached the API server, its response is lost, and the function does
// nothing more. SQS delivers the message again.
import { expect, it } from 'vitest';
import { inMemory as harness } from './in-memory.ts';
import type { Fixture } from './system.ts';
import { isWrite } from './wire.ts';

it.each(
  harness.registry,
)('X6, M28: $name: after a crash at any write, the next reconcile reaches the same end state', async (controller) => {
  const wanted = [await harness.calm(controller, 'created'), await harness.calm(controller, 'changed'), {}];
  let after = 0;
  // A step without so many writes has no later write either.
  for (let steps = wanted.length; steps > 0; ) {
    after += 1;
    steps = await lifeOf(controller, after, wanted.slice(0, steps));
  }
  // At least one status write.
  expect(after).toBeGreaterThan(1);
});

/**
 * Creates, changes and deletes the sample, as many of these steps as have an end state; the first function of each step crashes after
 * this many writes. Returns the number of the last step with a crash.
 */
async function lifeOf(controller: Fixture['controller'], after: number, wanted: readonly object[]): Promise<number> {
  await using system = await harness.open(controller);
  const steps = [
    async () => void (await system.create()),
    async () => await harness.change(system),
    async () => await system.delete(system.kind, system.name),
  ];
  let last = 0;
  for (const [step, state] of wanted.entries()) {
    await steps[step]?.();
    if (await crash(system, after)) last = step + 1;
    // Without a crash in any step, this would be a life without faults.
    if (last === 0 && step + 1 === wanted.length) break;
    await system.settle();
    expect(await system.endState(), `dead after write ${after} of step ${step + 1}`).toEqual(state);
  }
  expect(await system.deadLetters(controller.name)).toEqual([]);
  return last;
}

/** Reconciles once, in a function that crashes after this many writes. Returns whether it has. */
async function crash(system: Fixture, after: number): Promise<boolean> {
  const { clock } = system.platform;
  let writes = 0;
  let diedAt: number | undefined;
  system.disturb(async (call, proceed) => {
    if (call.controller !== system.controller.name) return await proceed();
    if (diedAt !== undefined) throw new Error('killed');
    if (!isWrite(call)) return await proceed();
    writes += 1;
    const answer = await proceed();
    if (writes !== after) return answer;
    diedAt = clock.ms;
    throw new Error('killed');
  });
  await system.reconcileOnce();
  system.disturb();
  // A process that is dead waits for nothing.
  clock.ms = diedAt ?? clock.ms;
  return diedAt !== undefined;
}
