// Death at every point where something was just written, for every controller (X6): the write has reached the API server, its
// answer is lost, and the function does nothing more. The message comes again, as SQS brings it.
import { expect, it } from 'vitest';
import type { Stage } from './system.ts';
import type { Theatre } from './theatre.ts';
import { isWrite } from './wire.ts';

/** Declares X6. */
export function crashCases(theatre: Theatre): void {
  it.each(
    theatre.registry,
  )('X6: $name: whichever write it dies after, the next run ends where none would have died', async (controller) => {
    const created = await theatre.calm(controller, 'created');
    const changed = await theatre.calm(controller, 'changed');
    let after = 1;
    for (; ; after += 1) {
      const life = await lifeOf(theatre, controller, after);
      expect(life.states, `dead after write ${after}`).toEqual([created, changed, {}]);
      if (life.deaths === 0) break;
    }
    // A status at the least.
    expect(after).toBeGreaterThan(1);
  });
}

/** Creates, changes and deletes the sample; the first function that meets each of these dies after so many writes. */
async function lifeOf(theatre: Theatre, controller: Stage['controller'], after: number) {
  await using stage = await theatre.open(controller);
  const states: object[] = [];
  let deaths = 0;
  async function meet(): Promise<void> {
    let writes = 0;
    let dead = false;
    stage.disturb(async (call, proceed) => {
      if (call.controller !== controller.name) return await proceed();
      if (dead) throw new Error('killed');
      if (!isWrite(call)) return await proceed();
      writes += 1;
      const answer = await proceed();
      if (writes !== after) return answer;
      dead = true;
      throw new Error('killed');
    });
    await stage.visit();
    if (dead) deaths += 1;
    stage.disturb();
  }
  await stage.create();
  await meet();
  await stage.settle();
  states.push(await stage.endState());
  await theatre.change(stage);
  await meet();
  await stage.settle();
  states.push(await stage.endState());
  await stage.delete(stage.kind, stage.name);
  await meet();
  await stage.settle();
  states.push(await stage.endState());
  expect(await stage.deadLetters(controller.name)).toEqual([]);
  return { states, deaths };
}
