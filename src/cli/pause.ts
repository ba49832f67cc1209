// `outrigger pause` and `outrigger resume`: a whole controller, in all clusters, without a deployment. Its function is given no more
// messages: they wait in its queue, so nothing that happens meanwhile is lost, and nothing has to be found again afterwards.
import { LambdaClient, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import { Command } from 'commander';
import { controllerQueue } from '../core/names.ts';
import { callWithin } from '../queue/call-within.ts';
import { controllerNamed } from './parse-key.ts';
import { isPaused, readMappings } from './mappings.ts';
import { OperatorProblem, operate } from './operate.ts';
import { printLines } from './output.ts';
import { openPlace, type PlaceFlags, withPlace } from './place.ts';
import { loadProject } from './project.ts';

const callSeconds = 20;

/** Makes the command that pauses. */
export function pauseCommand(): Command {
  return withPlace(new Command('pause'))
    .description('let a controller rest, in every cluster: its messages wait in its queue')
    .argument('<controller>', 'its name, such as water-tank')
    .addHelpText('after', pauseText)
    .action(
      async (name: string, flags: PlaceFlags) =>
        await operate('pause', async (signal) => await run(name, 'paused', flags, signal)),
    );
}

/** Makes the command that resumes. */
export function resumeCommand(): Command {
  return withPlace(new Command('resume'))
    .description('let a controller go on that was paused')
    .argument('<controller>', 'its name, such as water-tank')
    .addHelpText('after', resumeText)
    .action(
      async (name: string, flags: PlaceFlags) =>
        await operate('resume', async (signal) => await run(name, 'resumed', flags, signal)),
    );
}

const pauseText = `
Examples:
  outrigger pause water-tank --stage prod
  kubectl annotate watertank north outrigger.dev/paused=true      one object only; no command of ours is needed

It switches the event source mapping of the controller's queue off; what is in hand is finished. Messages wait for at most 14 days,
objects that are deleted wait for their finalizer, and the alarm on the age of the oldest message rings.
A deployment leaves it as it is, unless it changes the mapping. Exit status: 0 when it is paused, 1 when it is not.`;

const resumeText = `
Example:
  outrigger resume water-tank --stage prod

What waits is reconciled as objects are by then. Exit status: 0 when it goes on, 1 when it does not.`;

async function run(
  name: string,
  wanted: 'paused' | 'resumed',
  flags: PlaceFlags,
  signal: AbortSignal,
): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  const queue = controllerQueue(controllerNamed(name, registry).name);
  const place = await openPlace(flags, signal);
  const lambda = new LambdaClient({ maxAttempts: 2, ...(place.region === undefined ? {} : { region: place.region }) });
  try {
    if (place.on !== 'AWS') {
      throw new OperatorProblem(
        'a controller is paused where Lambda runs it: name a deployment with --stage; here, pause objects: kubectl annotate KIND NAME outrigger.dev/paused=true',
      );
    }
    const [found] = await readMappings(lambda, { urlPrefix: place.urlPrefix, queues: [queue] }, { signal });
    const { mapping } = found ?? {};
    if (mapping?.UUID === undefined) {
      throw new OperatorProblem(
        `no function takes messages from ${queue}; outrigger doctor says how to have one again`,
      );
    }
    const { UUID } = mapping;
    if (isPaused(mapping) !== (wanted === 'paused')) {
      const change = new UpdateEventSourceMappingCommand({ UUID, Enabled: wanted === 'resumed' });
      await callWithin(callSeconds, signal, (abortSignal) => lambda.send(change, { abortSignal }));
    }
    printLines([wanted === 'paused' ? `${name} is paused: its messages wait in ${queue}` : `${name} goes on`]);
    return 0;
  } finally {
    lambda.destroy();
    place.close();
  }
}
