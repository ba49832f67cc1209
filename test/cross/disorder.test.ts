// X2 and X4 as a property: the messages of an object's whole life, in any order, any number of times, before, between and after the edits of
// its user, also to two functions at a time, lead to the same end state as each of them once and in order. For two controllers that differ
// much; repeated.test.ts has one disorder for every controller.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { controllerQueue, timersQueue } from '../../src/core/names.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { inMemory as harness } from './in-memory.ts';

/** The next step; a message is named by its place in the history, modulo its length. */
type Step =
  | { readonly do: 'deliver'; readonly messages: readonly number[] }
  | { readonly do: 'at once'; readonly message: number }
  | { readonly do: 'pass'; readonly seconds: number };

const place = fc.nat(99);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('deliver'), messages: fc.array(place, { maxLength: 10 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('at once'), message: place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass'), seconds: fc.nat(120) }) },
);
const life = fc.record({
  before: fc.array(step, { maxLength: 2 }),
  created: fc.array(step, { maxLength: 4 }),
  changed: fc.array(step, { maxLength: 4 }),
});
/** Each run has a server of its own. */
const numRuns = 4;

/** The messages of a life without disorder, oldest first. */
async function historyOf(controller: ControllerDefinition): Promise<readonly string[]> {
  await using system = await harness.settled(controller);
  await harness.change(system);
  await system.settle();
  await system.tick();
  await system.deliver();
  const queues = [timersQueue, ...system.registry.map(({ name }) => controllerQueue(name))];
  return system.sent.filter(({ queue }) => queues.includes(queue)).map(({ body }) => body);
}

const chosen = harness.registry.filter(({ name }) => ['dinner', 'memcached-proxy'].includes(name));
it.each(
  chosen,
)('X2, X4: $name: its messages in any order and number lead to the same end state', async (controller) => {
  const history = await historyOf(controller);
  expect(history.length).toBeGreaterThan(5);
  const calm = await harness.calm(controller, 'changed');
  const at = (index: number) => history[index % history.length] ?? '';
  await fc.assert(
    fc.asyncProperty(life, async ({ before, created, changed }) => {
      await using system = await harness.open(controller);
      const play = async (steps: readonly Step[]) => {
        for (const one of steps) {
          if (one.do === 'pass') await system.pass(one.seconds);
          else if (one.do === 'at once')
            await system.atOnce(parseMessage(at(one.message)).controller, at(one.message), 2);
          else {
            await system.enqueue(...one.messages.map((index) => parseMessage(at(index))));
            await system.deliver();
          }
        }
      };
      await play(before);
      await system.create();
      await play(created);
      await harness.change(system);
      await play(changed);
      await system.settle();
      expect(await system.endState()).toEqual(calm);
      for (const { name } of system.registry) expect(await system.deadLetters(name)).toEqual([]);
    }),
    { numRuns },
  );
});
