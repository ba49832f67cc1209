// Duplicate, late and concurrent messages, for every controller (X4): their result is that of one message.
import { expect, it } from 'vitest';
import { inMemory as harness } from './in-memory.ts';
import { lateMessages } from './steady-cases.ts';
import type { Fixture } from './system.ts';

const duplicates = 10;

it.each(
  harness.registry,
)('X4, B26, M26: $name: ten copies of each message, out of order and in two functions, lead to the same end state as one', async (controller) => {
  await using system = await harness.open(controller);
  await system.create();
  await disorder(system);
  await system.settle();
  await harness.change(system);
  await disorder(system);
  await system.settle();
  expect(await system.endState()).toEqual(await harness.calm(controller, 'changed'));
  expect(await system.deadLetters(controller.name)).toEqual([]);
});

/** Duplicates, delays and reorders the subject's messages. */
async function disorder(system: Fixture): Promise<void> {
  await system.reconcileOnce(2);
  await system.enqueue(...Array.from({ length: duplicates }, () => system.message()));
  await Promise.all([system.reconcileOnce(2), system.deliver()]);
  await system.enqueue(...lateMessages(system));
  await Promise.all([system.deliver(), system.reconcileOnce(2)]);
}
