// Duplicate, late, concurrent and old messages, for every controller (X2, X4): their result is that of one message.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { controllerQueue, timersQueue } from '../../src/core/names.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import { asChange, asRequeue, asResync, asRetry } from '../sqs/messages.ts';
import { inMemory as harness } from './in-memory.ts';
import type { Fixture } from './system.ts';

const duplicates = 10;

it.each(
  harness.registry,
)('X2, X4, B26, M26: $name: ten copies of each message, out of order and in two functions, lead to the same end state as one, and old messages, in any order, change no version', async (controller) => {
  await using system = await harness.open(controller);
  await system.create();
  await disorder(system);
  await system.settle();
  await harness.change(system);
  await disorder(system);
  await system.settle();
  expect(await system.endState()).toEqual(await harness.calm(controller, 'changed'));
  expect(await system.deadLetters(controller.name)).toEqual([]);

  const yesterday = await oldMessages(system);
  expect(yesterday.length).toBeGreaterThan(2);
  const before = await system.versions();
  const shuffled = fc.shuffledSubarray([...yesterday], { minLength: yesterday.length });
  await fc.assert(
    fc.asyncProperty(shuffled, async (messages) => {
      await system.enqueue(...messages);
      await system.deliver();
      expect(await system.versions()).toEqual(before);
    }),
    { numRuns: 2 },
  );
});

/** Duplicates, delays and reorders the subject's messages. */
async function disorder(system: Fixture): Promise<void> {
  await system.reconcileOnce(2);
  await system.enqueue(...Array.from({ length: duplicates }, () => system.message()));
  await Promise.all([system.reconcileOnce(2), system.deliver()]);
  await system.enqueue(...lateMessages(system));
  await Promise.all([system.deliver(), system.reconcileOnce(2)]);
}

/** Every message so far, messages of mapped kinds, and one for each delayed cause. */
async function oldMessages(system: Fixture): Promise<readonly Message[]> {
  const queues = [timersQueue, ...harness.registry.map(({ name }) => controllerQueue(name))];
  const bodies = new Set(system.sent.filter(({ queue }) => queues.includes(queue)).map(({ body }) => body));
  const changed = system.controller.declaration.watches.filter(({ label }) => label === undefined);
  const mapped = changed.map(async ({ kind }) =>
    (await system.list(kind)).map(({ metadata: { name } }) =>
      system.message({ group: kind.group, resource: kind.plural, name }),
    ),
  );
  return [...[...bodies].map(parseMessage), ...(await Promise.all(mapped)).flat(), ...lateMessages(system)];
}

/** Old messages of the subject: one for each delayed cause, unordered. */
function lateMessages(system: Fixture): readonly Message[] {
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
