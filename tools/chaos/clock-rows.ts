// Clocks that are hours off, of one part after the other: the watcher, Ingredient's function, the timers, and the resync.
import { setTimeout as wait } from 'node:timers/promises';
import { runWithWrongClocks } from './function-rows.ts';
import type { ChaosFixture, Row } from './row.ts';

const minutes = 180;
const how = (more: string) => `${minutes / 60} h ahead, then ${minutes / 60} h behind, ${more}`;

/** The age at which a change counts as missed in this system; see shortResync. */
const missedAfterSeconds = 20;
const convergeSeconds = 30;
const maxRuns = 8;

/** The rows of clocks. */
export const clockRows: readonly Row[] = [
  {
    fault: 'watcher’s clock hours off',
    how: how('during changes'),
    noDeadLetters: true,
    run: async ({ system, editor, changes }) => {
      for (const clockMinutes of [minutes, -minutes]) {
        await system.watchers.scale({ count: 1, clockMinutes });
        await system.watchersReady();
        await editor.edit(Math.ceil(changes / 2));
      }
      return 2;
    },
  },
  {
    fault: 'function’s clock hours off',
    how: how('while 4 of 10 status writes get 500'),
    slow: true,
    noDeadLetters: true,
    run: async (fixture) => {
      const ahead = await runWithWrongClocks(fixture, minutes, 'ingredient');
      const behind = await runWithWrongClocks(fixture, -minutes, 'ingredient');
      return ahead.wrongStatuses + behind.wrongStatuses;
    },
  },
  {
    fault: 'timers’ clock hours off',
    how: how('while 4 of 10 status writes get 500'),
    slow: true,
    noDeadLetters: true,
    run: async (fixture) => {
      const ahead = await runWithWrongClocks(fixture, minutes, 'timers');
      const behind = await runWithWrongClocks(fixture, -minutes, 'timers');
      return ahead.rejected + behind.rejected;
    },
  },
  {
    fault: 'resync’s clock hours off',
    how: how('no watcher: only the resync finds the changes; fired: its runs'),
    slow: true,
    noDeadLetters: true,
    run: async (fixture) => (await findMissed(fixture, minutes)) + (await findMissed(fixture, -minutes)),
  },
];

/** Makes changes without a watcher; resolves with the number of resync runs until all of them were reconciled. */
async function findMissed({ system, editor, checker, changes, addNote }: ChaosFixture, shift: number): Promise<number> {
  const resync = system.functions.find(({ name }) => name.endsWith('resync'));
  if (resync === undefined) throw new Error('no function of the resync');
  await system.shiftFunctionClocks(shift, 'resync');
  await system.watchers.scale({ count: 0 });
  await editor.edit(Math.ceil(changes / 2));
  let unconverged: readonly string[] = ['no run'];
  let runs = 0;
  while (unconverged.length > 0 && runs < maxRuns) {
    await wait(missedAfterSeconds * 1000);
    runs += 1;
    await resync.invoke({ time: new Date().toISOString() });
    unconverged = await checker.untilConverged(convergeSeconds);
  }
  addNote(`resync ${shift} min wrong: ${runs} runs`);
  await system.shiftFunctionClocks(0);
  await system.watchers.scale({ count: 1 });
  await system.watchersReady();
  if (unconverged.length > 0) throw new Error(`not found by ${runs} resync runs: ${unconverged.join('; ')}`);
  return runs;
}
