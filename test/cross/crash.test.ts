// A crash after every write, for every controller (X6): the write has reached the API server, its response is lost, and the function does
// nothing more. SQS delivers the message again.
import { expect, it } from 'vitest';
import { inMemory as harness } from './in-memory.ts';
import type { Fixture } from './system.ts';
import { isWrite } from './wire.ts';

it.each(
  harness.registry,
)('X6, M28: $name: after a crash at any write, the next reconcile reaches the same end state', async (controller) => {
  const created = await harness.calm(controller, 'created');
  const changed = await harness.calm(controller, 'changed');
  let after = 1;
  for (; ; after += 1) {
    const life = await lifeOf(controller, after);
    expect(life.states, `dead after write ${after}`).toEqual([created, changed, {}]);
    if (life.deaths === 0) break;
  }
  // At least one status write.
  expect(after).toBeGreaterThan(1);
});

/** Creates, changes and deletes the sample; the first function of each step crashes after this many writes. */
async function lifeOf(controller: Fixture['controller'], after: number) {
  await using system = await harness.open(controller);
  const states: object[] = [];
  let deaths = 0;
  async function meet(): Promise<void> {
    const { clock } = system.platform;
    let writes = 0;
    let dead = false;
    let diedAt = 0;
    system.disturb(async (call, proceed) => {
      if (call.controller !== controller.name) return await proceed();
      if (dead) throw new Error('killed');
      if (!isWrite(call)) return await proceed();
      writes += 1;
      const answer = await proceed();
      if (writes !== after) return answer;
      dead = true;
      diedAt = clock.ms;
      throw new Error('killed');
    });
    await system.reconcileOnce();
    if (dead) deaths += 1;
    // A process that is dead waits for nothing.
    if (dead) clock.ms = diedAt;
    system.disturb();
  }
  await system.create();
  await meet();
  await system.settle();
  states.push(await system.endState());
  await harness.change(system);
  await meet();
  await system.settle();
  states.push(await system.endState());
  await system.delete(system.kind, system.name);
  await meet();
  await system.settle();
  states.push(await system.endState());
  expect(await system.deadLetters(controller.name)).toEqual([]);
  return { states, deaths };
}
