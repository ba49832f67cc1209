// `outrigger pause` and `outrigger resume`: stop and restart a controller in all clusters, without a deployment. The
// event source mapping of its queue is disabled. Its messages wait in the queue, so no change is lost and no relist is
// needed afterwards.

import { LambdaClient, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import { Command } from 'commander';
import { UserError } from 'outrigger/internal/core/errors';
import { controllerQueue } from 'outrigger/internal/core/names';
import { callWithin } from 'outrigger/internal/sqs/call';
import { listControllers } from '../project/list-controllers.ts';
import { acting, disposable, printLines } from './command.ts';
import { type InstallationFlags, openInstallation, withInstallationOptions } from './installation.ts';
import { isPaused, readMappings } from './mappings.ts';
import { requireController } from './parse-key.ts';

const callSeconds = 20;

/** Makes the command `pause`. */
export function pauseCommand(): Command {
  const description = 'pause a controller in every cluster: its messages wait in its queue';
  return commandOf('pause', 'paused', description).addHelpText('after', pauseText);
}

/** Makes the command `resume`. */
export function resumeCommand(): Command {
  return commandOf('resume', 'resumed', 'resume a paused controller').addHelpText('after', resumeText);
}

function commandOf(command: string, wanted: 'paused' | 'resumed', description: string): Command {
  return withInstallationOptions(new Command(command))
    .description(description)
    .argument('<controller>', 'its name, such as water-tank')
    .action(acting((name: string, flags: InstallationFlags, signal: AbortSignal) => run(wanted, name, flags, signal)));
}

const pauseText = `
Examples:
  outrigger pause water-tank --stage prod
  outrigger pause water-tank                                      in the system that runs here, until it ends
  kubectl annotate watertank north outrigger.dev/paused=true      pauses one object only, without outrigger

It disables the event source mapping of the controller's queue; messages in flight are finished. Messages are kept for
at most 14 days, deleted objects wait for their finalizer, and the alarm on the age of the oldest message fires.
Give the printed PAUSED to the next deployments: one that changes the mapping would enable it again without it.
Exit status: 0 when the controller is paused, 1 when it is not.`;

const resumeText = `
Example:
  outrigger resume water-tank --stage prod

The waiting messages reconcile the current state of their objects.
Exit status: 0 when the controller is resumed, 1 when it is not.`;

/**
 * Pauses or resumes one of the controllers. Returns whether that changed something, and the names of those that are
 * paused after that. Throws UserError if its queue has no event source mapping.
 */
export async function setPaused(
  lambda: LambdaClient,
  {
    name,
    wanted,
    names,
    urlPrefix,
    at,
  }: {
    readonly name: string;
    readonly wanted: 'paused' | 'resumed';
    readonly names: readonly string[];
    readonly urlPrefix: string;
    /** The options of a printed command. */
    readonly at: string;
  },
  signal: AbortSignal,
): Promise<{ readonly changed: boolean; readonly paused: readonly string[] }> {
  const queue = controllerQueue(name);
  const mappings = await readMappings(lambda, { urlPrefix, queues: names.map(controllerQueue) }, { signal });
  const { mapping } = mappings.find((one) => one.name === queue) ?? {};
  if (mapping?.UUID === undefined)
    throw new UserError(`no function receives messages from ${queue}; outrigger doctor${at} prints how to restore it`);
  const { UUID } = mapping;
  const changed = isPaused(mapping) !== (wanted === 'paused');
  if (changed) {
    const change = new UpdateEventSourceMappingCommand({ UUID, Enabled: wanted === 'resumed' });
    await callWithin(callSeconds, signal, (abortSignal) => lambda.send(change, { abortSignal }));
  }
  const paused = names.filter((one, index) => {
    const before = mappings[index]?.mapping;
    return one === name ? wanted === 'paused' : before !== undefined && isPaused(before);
  });
  return { changed, paused };
}

async function run(
  wanted: 'paused' | 'resumed',
  name: string,
  flags: InstallationFlags,
  signal: AbortSignal,
): Promise<number> {
  const controllers = await listControllers(process.cwd());
  const queue = controllerQueue(requireController(name, controllers).name);
  using installation = await openInstallation(flags, signal);
  using lambda = disposable(new LambdaClient(installation.lambda));
  const { urlPrefix, at } = installation;
  const names = controllers.map((one) => one.name);
  const { changed, paused } = await setPaused(lambda, { name, wanted, names, urlPrefix, at }, signal);
  const parameter = paused.length === 0 ? 'no PAUSED' : `--param PAUSED=${paused.join(',')}`;
  printLines([
    wanted === 'paused'
      ? `${name} ${changed ? 'is' : 'was already'} paused: its messages wait in ${queue}`
      : `${name} ${changed ? 'is resumed' : 'was not paused'}`,
    ...(installation.on === 'AWS'
      ? [`the next deployments need ${parameter} (or in serverless.yml, under the stage)`]
      : []),
  ]);
  return 0;
}
