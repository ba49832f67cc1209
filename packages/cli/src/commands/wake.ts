// `outrigger wake`: sends the keys that an event of EventBridge maps to, as the wake function does on AWS.

import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import type { OutsideEvent } from 'outrigger/internal/api/wake';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { parseJson } from 'outrigger/internal/core/json';
import { silentLog } from 'outrigger/internal/core/log';
import { sleep } from 'outrigger/internal/core/time';
import { createSend } from 'outrigger/internal/sqs/send';
import type { Send } from 'outrigger/internal/sqs/sender';
import { createWake, parseEvent, wakeLimits } from 'outrigger/internal/waking/wake';
import { loadProject } from '../project/project.ts';
import { acting, printLines } from './command.ts';
import { type InstallationFlags, openInstallation, withInstallationOptions } from './installation.ts';

/** Makes the command. */
export function wakeCommand(): Command {
  return withInstallationOptions(new Command('wake'))
    .description('reconcile the objects that an event outside of the cluster names')
    .argument('<file>', 'the event of EventBridge, as JSON')
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Example:
  outrigger wake event.json
  event.json: {"id": "1", "source": "plant", "detail-type": "LevelChanged", "detail": {"tank": "default/north"}}

It maps the event by the wakes of every controller and sends the keys to the controllers' queues, above 1,000 of one
controller 100 a second. The same id is sent only once in five minutes.
Exit status: 0 when SQS accepted every key, 1 when no wake matches the event or a key was not accepted.`;

async function run(file: string, flags: InstallationFlags, signal: AbortSignal): Promise<number> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UserError(`${file}: cannot be read; give a JSON file with the event`, { cause: error });
  });
  const event = eventOf(file, text);
  const { registry } = await loadProject(process.cwd());
  using installation = await openInstallation(flags, signal);
  const { sqs, urlPrefix, registry: table } = installation;
  const wake = createWake({
    registry,
    listClusters: async () => {
      if (table === undefined) throw new UserError('the clusters table is not known; set CLUSTERS or --stage');
      return await table.list();
    },
    send: paced(createSend(sqs, urlPrefix)),
    atOnce: Number.POSITIVE_INFINITY,
    log: silentLog,
    nowMs: () => Date.now(),
  });
  const keys = await wake(event, { signal }).catch((error: unknown) => {
    throw new UserError(`${file}: ${toError(error).message}`, { cause: error });
  });
  if (keys === 0) throw new UserError(`${file}: no wake of a controller maps this event to a key`);
  printLines([keys === 1 ? 'sent 1 key' : `sent ${keys} keys`]);
  return 0;
}

/** Sends to controllers' queues what the wake function leaves to timers, at the same rate. */
function paced(send: Send): Send {
  const { atOnce, perSecond } = wakeLimits;
  return async (queue, entries, { signal }) => {
    const results = [...(await send(queue, entries.slice(0, atOnce), { signal }))];
    for (let sent = atOnce; sent < entries.length; sent += perSecond) {
      await sleep(1, signal);
      results.push(...(await send(queue, entries.slice(sent, sent + perSecond), { signal })));
    }
    return results;
  };
}

/** Reads the event of a file. Throws a UserError with the field that is missing or wrong. */
function eventOf(file: string, text: string): OutsideEvent {
  const value = parseJson(text);
  if (value === undefined) throw new UserError(`${file}: not JSON; outrigger wake --help has an example`);
  try {
    return parseEvent(value);
  } catch (error) {
    throw new UserError(`${file}: ${toError(error).message}; outrigger wake --help has an example`, { cause: error });
  }
}
