// Duplicate, late and concurrent messages, for every controller (X4): their result is that of one message.
import { expect, it } from 'vitest';
import type { Message } from '../../src/sqs/message.ts';
import { asChange, asRequeue, asResync, asRetry } from '../sqs/messages.ts';
import type { Harness } from './harness.ts';
import type { Fixture } from './system.ts';

const duplicates = 10;

/** Declares X4. */
export function repeatedCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);

  everyOne(
    'X4, B26, M26: $name: ten copies of each message, out of order and in two functions, lead to the same end state as one',
    async (controller) => {
      await using system = await harness.open(controller);
      await system.create();
      await disorder(system);
      await system.settle();
      await harness.change(system);
      await disorder(system);
      await system.settle();
      expect(await system.endState()).toEqual(await harness.calm(controller, 'changed'));
      expect(await system.deadLetters(controller.name)).toEqual([]);
    },
  );
}

/** Duplicates, delays and reorders the subject's messages. */
async function disorder(system: Fixture): Promise<void> {
  await system.reconcileOnce(2);
  await system.enqueue(...Array.from({ length: duplicates }, () => system.message()));
  await Promise.all([system.reconcileOnce(2), system.deliver()]);
  await system.enqueue(...lateMessages(system));
  await Promise.all([system.deliver(), system.reconcileOnce(2)]);
}

/** Old messages of the subject: one for each delayed cause, unordered. */
export function lateMessages(system: Fixture): readonly Message[] {
  const now = Math.floor(system.clock.ms / 1000);
  const late: readonly Partial<Message>[] = [
    asRetry({ attempt: 3, dueAt: now - 60, slot: '60/1' }),
    asResync({ run: '2025-12-31T23:50:00Z' }),
    asRequeue({ dueAt: now - 3600, slot: '30/7' }),
    asChange({ observedAt: system.clock.ms - 3_600_000 }),
    asRetry({ postponements: 4, dueAt: now - 900, slot: '900/2' }),
  ];
  return late.map((fields) => system.message(fields));
}
