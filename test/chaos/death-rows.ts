// Death of functions: in the middle of an effect, and of whichever touches one object.
import * as z from 'zod';
import { createCrowd } from '../../tools/chaos/bulk-objects.ts';
import { functionPids, killAll } from '../../tools/chaos/kill-functions.ts';
import { ownersOfPort } from '../../tools/chaos/owner-of-port.ts';
import { createPlainApi } from '../../tools/chaos/plain-api.ts';
import { portionsPath } from '../../tools/chaos/portions.ts';
import { editUntil, type Row, type Stage } from './row.ts';

const goodSeconds = 300;
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
  // What SQS has buried meanwhile comes back with the change that mends it.
  system.world.onVisit(() => undefined);
  await editor.put(name, 'rice');
  if (late.length > 0) throw new Error(`beside a poison object: ${late.join('; ')}`);
  return fired;
}
