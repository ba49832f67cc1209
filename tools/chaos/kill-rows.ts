// Kills of functions: during an external effect, and during every reconcile of one object.
import * as z from 'zod';
import { createBulkObjects } from './bulk-objects.ts';
import { functionPids, killAll } from './kill-functions.ts';
import { ownersOfPort } from './owner-of-port.ts';
import { createPlainApi } from './plain-api.ts';
import { portionsPath } from './portions.ts';
import { type ChaosFixture, editUntil, type Row } from './row.ts';

const convergeSeconds = 300;
const secondsPerObject = 0.5;
const identified = z.looseObject({ metadata: z.looseObject({ uid: z.string() }) });

/** The rows that kill processes of functions. */
export const killRows: readonly Row[] = [
  {
    fault: 'function killed after an external effect',
    how: 'kill -9 between an external effect and its response, 3 times',
    run: async (fixture) => {
      const { system, editor, changes } = fixture;
      let fired = 0;
      let remaining = 3;
      system.pantry.onRequest((_, port) => {
        if (remaining === 0) return;
        const killed = killAll(ownersOfPort(port, functionPids(system)));
        fired += killed;
        remaining -= Math.min(remaining, killed);
      });
      await editor.edit(changes);
      await editUntil(fixture, () => remaining === 0);
      return fired;
    },
  },
  {
    fault: 'poison object',
    how: 'every reconcile of one object kills its function, among many other objects, until all others have converged',
    slow: true,
    run: runPoisonObject,
  },
];

async function runPoisonObject({ system, editor, checker, changes, bulkObjects }: ChaosFixture): Promise<number> {
  const name = 'poison';
  const api = createPlainApi(system.direct.api);
  let fired = 0;
  await editor.put(name, 'rotten');
  const { metadata } = identified.parse((await api.call('GET', `${portionsPath}/${name}`)).body);
  api.close();
  system.pantry.onRequest((holder, port) => {
    if (holder === metadata.uid) fired += killAll(ownersOfPort(port, functionPids(system)));
  });
  // The first reconcile may have run before the listener was set.
  await editor.put(name, 'rotten');
  const { remove } = await createBulkObjects({ system, editor }, bulkObjects);
  await editor.edit(changes);
  // Each killed function delays the other messages of its batch until their visibility timeout.
  const unconverged = await checker.untilConverged(convergeSeconds + bulkObjects * secondsPerObject, { except: name });
  await remove();
  // If SQS has moved the message to the dead-letter queue meanwhile, this change sends a new one.
  system.pantry.onRequest(() => undefined);
  await editor.put(name, 'rice');
  if (unconverged.length > 0) throw new Error(`not converged, besides the poison object: ${unconverged.join('; ')}`);
  return fired;
}
