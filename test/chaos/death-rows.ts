// Death of functions: in the middle of an effect, and of whichever touches one object.
import * as z from 'zod';
import { createCrowd } from './crowd.ts';
import { ownersOfPort } from './owner-of-port.ts';
import { createPlainApi } from './plain-api.ts';
import { portionsPath } from './portions.ts';
import { editUntil, type Row, type Stage } from './row.ts';
import type { ChaosSystem } from './system.ts';

const goodSeconds = 120;
const secondsForOne = 0.5;
const identified = z.looseObject({ metadata: z.looseObject({ uid: z.string() }) });

/** The rows of functions' processes. */
export const deathRows: readonly Row[] = [
  {
    fault: 'function killed in the middle',
    how: 'kill -9 between an effect outside and its answer, 3 times',
    run: async (stage) => {
      const { system, editor, changes } = stage;
      let fired = 0;
      let left = 3;
      system.world.onVisit((_, port) => {
        if (left === 0) return;
        const dead = killAll(ownersOfPort(port, functionPids(system)));
        fired += dead;
        left -= Math.min(left, dead);
      });
      await editor.edit(changes);
      await editUntil(stage, () => left === 0);
      return fired;
    },
  },
  {
    fault: 'poison among good ones',
    how: 'one object whose every reconcile kills its function, beside a crowd, until all others are as they should be',
    slow: true,
    run: poison,
  },
];

async function poison({ system, editor, judge, changes, crowd }: Stage): Promise<number> {
  const name = 'poison';
  const api = createPlainApi(system.direct.api);
  let fired = 0;
  await editor.put(name, 'rotten');
  const { metadata } = identified.parse((await api.call('GET', `${portionsPath}/${name}`)).body);
  api.close();
  system.world.onVisit((holder, port) => {
    if (holder === metadata.uid) fired += killAll(ownersOfPort(port, functionPids(system)));
  });
  // The first reconcile may have been faster than we were.
  await editor.put(name, 'rotten');
  const { remove } = await createCrowd({ system, editor }, crowd);
  await editor.edit(changes);
  // Each function that dies leaves the innocent of its batch to the visibility time-out.
  const late = await judge.untilConverged(goodSeconds + crowd * secondsForOne, { except: name });
  await remove();
  if (late.length > 0) throw new Error(`beside a poison object: ${late.join('; ')}`);
  return fired;
}

function functionPids({ functions }: ChaosSystem): readonly number[] {
  return functions.filter(({ name }) => name.endsWith('ingredient')).flatMap((one) => one.pids());
}

/** Kills them and tells how many there were. */
function killAll(pids: readonly number[]): number {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return pids.length;
}
