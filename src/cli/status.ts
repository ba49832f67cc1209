// `outrigger status`: whether all is well, on one screen: the clusters, the queues, and each controller in each cluster.
import { Command } from 'commander';
import type { Registered } from '../core/controller.ts';
import {
  controllerDeadLetters,
  controllerQueue,
  resyncDeadLetters,
  resyncQueue,
  timersDeadLetters,
  timersQueue,
} from '../core/names.ts';
import { createDepth, type QueueDepth } from '../sqs/depth.ts';
import { controllerNamed } from './parse-key.ts';
import { clusterClient, theTable } from './cluster-client.ts';
import { type ClusterStanding, readCluster } from './status/cluster-status.ts';
import { lineOf, operate } from './operate.ts';
import { type Output, outputOption, printJson, printLines } from './output.ts';
import { openPlace, type Place, type PlaceFlags, withPlace } from './place.ts';
import { loadProject } from './project.ts';
import { type NamedCluster, type NamedQueue, statusLines } from './status-lines.ts';

type Flags = PlaceFlags & { readonly cluster?: string; readonly controller?: string; readonly output: Output };

/** Makes the command. */
export function statusCommand(): Command {
  return withPlace(new Command('status'))
    .description('show whether all is well: clusters, watchers, queues, and how far each controller has got')
    .option('--cluster <name>', 'only this cluster')
    .option('--controller <name>', 'only this controller')
    .addOption(outputOption())
    .addHelpText('after', helpText)
    .action(async (flags: Flags) => await operate('status', async (signal) => await run(flags, signal)));
}

const helpText = `
Examples:
  outrigger status                                  what runs here (outrigger dev)
  outrigger status --stage prod --cluster berlin
  outrigger status --stage prod --output json | jq '.clusters[] | select(.silent)'

What it shows:
  WATCHERS      how long ago the cluster's watchers heard of every kind; more than 300 s is silence
  QUEUED        messages that wait for a function; DELAYED those that wait for their time; IN HAND those a function has
  DEAD LETTERS  what was given up: outrigger dlq list
  UNOBSERVED    objects whose present spec (or deletion) the controller has not seen yet
  LAG           how long the oldest of these changes has waited. It is of this moment: percentiles, and the age of the oldest
                message (which SQS does not tell), are on the dashboard
Exit status: 0 when everything could be asked, 1 when a cluster or a queue could not; the last lines name it.`;

async function run({ cluster, controller, output, ...flags }: Flags, signal: AbortSignal): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  const controllers = controller === undefined ? registry : [controllerNamed(controller, registry)];
  const place = await openPlace(flags, signal);
  try {
    const names = cluster === undefined ? await theTable(place.table).list() : [cluster];
    const [queues, clusters] = await Promise.all([
      Promise.all(queuesOf(controllers, controller === undefined).map((one) => readQueue(place, one, signal))),
      Promise.all(names.map((name) => readNamed(place, name, controllers, signal))),
    ]);
    if (output === 'json') printJson({ clusters, queues });
    else printLines(statusLines(clusters, queues));
    const problems = [...clusters, ...queues].flatMap(problemsOf);
    for (const problem of problems) process.stderr.write(`${problem}\n`);
    return problems.length === 0 ? 0 : 1;
  } finally {
    place.close();
  }
}

function problemsOf(one: NamedCluster | NamedQueue): readonly string[] {
  const inside = 'controllers' in one ? (one.controllers ?? []) : [];
  return [
    ...(one.problem === undefined ? [] : [`${one.name}: ${one.problem}`]),
    ...inside.flatMap(({ controller, problem }) =>
      problem === undefined ? [] : [`${one.name}: ${controller}: ${problem}`],
    ),
  ];
}

async function readNamed(
  place: Place,
  name: string,
  controllers: readonly Registered[],
  signal: AbortSignal,
): Promise<NamedCluster> {
  try {
    const found = await theTable(place.clusters).find(name);
    if (found.type === 'leaving') return { name, leaving: true };
    const client = await clusterClient(place, name);
    const standing: ClusterStanding = await readCluster(client, controllers, { nowMs: Date.now(), signal });
    return { name, ...standing };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { name, problem: lineOf(error) };
  }
}

type Queues = { readonly name: string; readonly queue: string; readonly letters: string };

function queuesOf(controllers: readonly Registered[], withMachinery: boolean): readonly Queues[] {
  return [
    ...controllers.map(({ name }) => ({ name, queue: controllerQueue(name), letters: controllerDeadLetters(name) })),
    ...(withMachinery
      ? [
          { name: timersQueue, queue: timersQueue, letters: timersDeadLetters },
          { name: resyncQueue, queue: resyncQueue, letters: resyncDeadLetters },
        ]
      : []),
  ];
}

async function readQueue(place: Place, { name, queue, letters }: Queues, signal: AbortSignal): Promise<NamedQueue> {
  const depth = createDepth(place.sqs, place.urlPrefix);
  const whole = ({ visible, inFlight, delayed }: QueueDepth) => visible + inFlight + delayed;
  try {
    const [now, dead] = await Promise.all([depth(queue, { signal }), depth(letters, { signal })]);
    return { name, queued: now.visible, inHand: now.inFlight, delayed: now.delayed, deadLetters: whole(dead) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { name, problem: `its queues cannot be asked: ${lineOf(error)}` };
  }
}
