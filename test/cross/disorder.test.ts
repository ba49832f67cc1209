// X2 and X4 as a property: the messages of an object's whole life, delivered in any order, any number of times, before, between and
// after what its user does, two functions at a time as well: it ends as when each had come once and in its time. Two
// controllers that differ much; every controller in one disorder is repeated.test.ts.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Registered } from '../../src/core/controller.ts';
import { controllerQueue, timersQueue } from '../../src/core/names.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { inMemory as theatre } from './in-memory.ts';

/** What happens next; messages are named by their place in the history, modulo its length. */
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
/** Each is a life on a server of its own. */
const numRuns = 4;

/** The messages that a life without disorder causes, oldest first. */
async function historyOf(controller: Registered): Promise<readonly string[]> {
  await using stage = await theatre.settled(controller);
  await theatre.change(stage);
  await stage.settle();
  await stage.tick();
  await stage.deliver();
  const queues = [timersQueue, ...stage.registry.map(({ name }) => controllerQueue(name))];
  return stage.sent.filter(({ queue }) => queues.includes(queue)).map(({ body }) => body);
}

const chosen = theatre.registry.filter(({ name }) => ['dinner', 'memcached-proxy'].includes(name));
it.each(chosen)('X2, X4: $name: its history in any order and any number ends as it ended', async (controller) => {
  const history = await historyOf(controller);
  expect(history.length).toBeGreaterThan(5);
  const calm = await theatre.calm(controller, 'changed');
  const at = (index: number) => history[index % history.length] ?? '';
  await fc.assert(
    fc.asyncProperty(life, async ({ before, created, changed }) => {
      await using stage = await theatre.open(controller);
      const play = async (steps: readonly Step[]) => {
        for (const one of steps) {
          if (one.do === 'pass') await stage.pass(one.seconds);
          else if (one.do === 'at once')
            await stage.atOnce(parseMessage(at(one.message)).controller, at(one.message), 2);
          else {
            await stage.enqueue(...one.messages.map((index) => parseMessage(at(index))));
            await stage.deliver();
          }
        }
      };
      await play(before);
      await stage.create();
      await play(created);
      await theatre.change(stage);
      await play(changed);
      await stage.settle();
      expect(await stage.endState()).toEqual(calm);
      for (const { name } of stage.registry) expect(await stage.deadLetters(name)).toEqual([]);
    }),
    { numRuns },
  );
});
