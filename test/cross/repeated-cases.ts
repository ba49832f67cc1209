// Messages that come too often, too late and at the same time, for every controller (X4): what comes of them is what comes of one.
import { expect, it } from 'vitest';
import type { Message } from '../../src/queue/message.ts';
import type { Stage } from './system.ts';
import type { Theatre } from './theatre.ts';

const duplicates = 10;

/** Declares X4. */
export function repeatedCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne(
    'X4: $name: ten of each message, out of order, and two functions at one key end as one message does',
    async (controller) => {
      await using stage = await theatre.open(controller);
      await stage.create();
      await disorder(stage);
      await stage.settle();
      await theatre.change(stage);
      await disorder(stage);
      await stage.settle();
      expect(await stage.endState()).toEqual(await theatre.calm(controller, 'changed'));
      expect(await stage.deadLetters(controller.name)).toEqual([]);
    },
  );
}

/** Does with the subject's messages what no queue should. */
async function disorder(stage: Stage): Promise<void> {
  await stage.visit(2);
  await stage.enqueue(...Array.from({ length: duplicates }, () => stage.message()));
  await Promise.all([stage.visit(2), stage.deliver()]);
  await stage.enqueue(...lateMessages(stage));
  await Promise.all([stage.deliver(), stage.visit(2)]);
}

/** Messages of the subject from before now: of every lane that waits, in no order. */
export function lateMessages(stage: Stage): readonly Message[] {
  const now = Math.floor(stage.clock.ms / 1000);
  const late: readonly Partial<Message>[] = [
    { lane: 'retry', attempt: 3, dueAt: now - 60, slot: '60/1' },
    { lane: 'resync', run: '2025-12-31T23:50:00Z' },
    { lane: 'requeue', dueAt: now - 3600, slot: '30/7' },
    { lane: 'watch', seenAt: stage.clock.ms - 3_600_000 },
    { lane: 'retry', deferrals: 4, dueAt: now - 900, slot: '900/2' },
  ];
  return late.map((fields) => stage.message(fields));
}
