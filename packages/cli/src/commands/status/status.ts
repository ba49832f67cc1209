// `outrigger status`: shows the clusters, the queues, and each controller in each cluster, on one screen.
import { Command } from 'commander';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { moveOf } from 'outrigger/internal/clusters/registry/entry';
import { type QueuePair, queuesOf, resyncQueue } from 'outrigger/internal/core/names';
import { sleep } from 'outrigger/internal/core/time';
import { createDepth, type QueueDepth } from 'outrigger/internal/sqs/depth';
import { timesText } from '../../console/run-times.ts';
import { loadOrList } from '../../project/list-controllers.ts';
import {
  acting,
  formatError,
  jsonOption,
  type Output,
  outputOption,
  printError,
  printJson,
  printLines,
} from '../command.ts';
import {
  clusterClient,
  type Installation,
  type InstallationFlags,
  openInstallation,
  requireClusterName,
  requireRegistry,
  withInstallationOptions,
} from '../installation.ts';
import { readTroubles, watchedFunctions } from '../key-log.ts';
import { pausedControllers } from '../mappings.ts';
import { requireController } from '../parse-key.ts';
import { placeOptions } from '../place.ts';
import type { Deployed } from '../stage-table.ts';
import { colourOf } from '../terminal.ts';
import { type ClusterStatus, readClusterStatus } from './cluster-status.ts';
import { type NamedCluster, type NamedQueue, statusLines } from './status-lines.ts';
import { judge, type Read, type Verdict } from './verdict.ts';

type Flags = InstallationFlags & {
  readonly cluster?: string;
  readonly controller?: string;
  readonly output: Output;
  readonly watch?: true;
};

/** Makes the command. */
export function statusCommand(): Command {
  return withInstallationOptions(new Command('status'))
    .description('show clusters, watchers, queues, and the objects of each controller')
    .option('--cluster <name>', 'only this cluster')
    .option('--controller <name>', 'only this controller')
    .addOption(outputOption())
    .addOption(jsonOption())
    .option('--watch', 'show it again every few seconds, until Ctrl-C')
    .addHelpText('after', helpText)
    .action(acting((flags: Flags, signal: AbortSignal) => (flags.watch ? watch(flags, signal) : run(flags, signal))));
}

const helpText = `
Examples:
  outrigger status                                  the system that runs here (outrigger dev)
  outrigger status --stage prod --cluster berlin
  outrigger status --stage prod --output json | jq '.clusters[] | select(.watcherDown)'

What it shows:
  behind        on a terminal: keys that wait, and since when a change is not observed
  missed        changes that no event had brought, and that the last resync found
  slowest       the controller with the longest way from a change to its status in 15 minutes, and where its time goes
  WATCHERS      when the cluster's watchers last received an event of every kind, with no queue that refused their
                keys; after 300 s they count as down.
                not known: you have no permission to read the watch checkpoint
  QUEUED        messages that wait for a function; IN FLIGHT: received by a function; DELAYED: not due yet
  DEAD LETTERS  outrigger dlq list shows them
  FAILING       objects whose last reconcile failed; the last lines have the last error of each controller
  UNOBSERVED    objects whose current spec (or deletion) the controller has not observed yet
                (-: a kind that is not yours shows neither this nor READY)
  OLDEST        the age of the oldest of these changes. Percentiles, and the age of the oldest message (SQS has no API
                for it), are on the dashboard
Exit status: 0, or 1 when an object is failing, a change waits for more than half an hour, watchers are down, or a
cluster or a queue could not be read; the last lines name it.`;

const watchSeconds = 2;

/** Shows the status until the signal aborts, once it could be read. Returns the last exit status. */
async function watch(flags: Flags, signal: AbortSignal): Promise<number> {
  const clear = process.stdout.isTTY === true ? '\u001b[2J\u001b[H' : '';
  let code: number | undefined;
  while (!signal.aborted) {
    process.stdout.write(clear);
    const before = code;
    code = await run(flags, signal).catch((error: unknown) => {
      if (signal.aborted) return before ?? 0;
      // Of a system that is restarted the status is shown again.
      if (before === undefined) throw error;
      printError(formatError(error, placeOptions(flags)), () => 'red');
      return 1;
    });
    await sleep(watchSeconds, signal).catch(() => undefined);
  }
  return code ?? 0;
}

async function run({ output, ...flags }: Flags, signal: AbortSignal): Promise<number> {
  const { verdict, at, others: _, ...system } = await readSystem(flags, signal);
  const { clusters, queues, functions, paused, senderCheck, version } = system;
  const { line, lag, slowest, problems, unknown } = verdict;
  if (output === 'json') printJson({ ...system, slowest });
  else {
    const off = senderCheck === 'off' ? [`sender check: off (outrigger doctor${at} has the reason)`] : [];
    const deployed = version === undefined ? [] : [`deployed version: ${version}`];
    const resume = pausedLines(paused, at);
    const tables = statusLines(clusters, queues, functions);
    const slow = slowest === undefined ? [] : [`slowest: ${slowest.controller}: ${timesText(slowest)}`];
    // In a pipe the last lines are the tables alone.
    const first = process.stdout.isTTY === true ? [line, lag, ...slow] : [];
    const head = [...first, ...resume, ...off, ...deployed];
    printLines([...head, ...(head.length === 0 ? [] : ['']), ...tables], colourOf);
  }
  for (const one of unknown) printError(one, () => 'yellow');
  for (const one of problems) printError(one, () => 'red');
  return problems.length === 0 ? 0 : 1;
}

function pausedLines(paused: readonly string[] | undefined, at: string): readonly string[] {
  return (paused ?? []).map((one) => `${one}: PAUSED, its messages wait until outrigger resume ${one}${at}`);
}

/** Says of one controller what the status says of all: its problems, what waits and was missed, and its times. */
export async function explainController(
  controller: string,
  { output, ...flags }: Omit<Flags, 'controller' | 'watch'>,
  signal: AbortSignal,
): Promise<number> {
  const { verdict, at, others: _, ...system } = await readSystem({ ...flags, controller }, signal);
  const { problems, unknown, line, lag, slowest } = verdict;
  if (output === 'json') printJson({ ...system, ...verdict });
  else {
    const none = system.hidden === undefined ? 'no run in the last 15 minutes' : 'how long its runs take is not known';
    const times = slowest === undefined ? none : timesText(slowest);
    const more = [...problems, ...unknown, ...pausedLines(system.paused, at), lag, times];
    printLines([`${controller}: ${line}`, ...more.map((one) => `  ${one}`)], colourOf);
  }
  return problems.length === 0 ? 0 : 1;
}

/** Reads a system, or one controller of it, and judges it. */
async function readSystem(
  { cluster, controller, ...flags }: Omit<Flags, 'output' | 'watch'>,
  signal: AbortSignal,
): Promise<
  Read & {
    readonly senderCheck: Deployed['senderCheck'] | undefined;
    /** Of a stage. */
    readonly version: string | undefined;
    readonly verdict: Verdict;
    /** The options of a printed command. */
    readonly at: string;
  }
> {
  const { folder } = flags;
  const { registry, names: known, problem: notLoaded } = await loadOrList(process.cwd());
  const wanted = controller === undefined ? known : [requireController(controller, known)];
  const controllers = registry.filter(({ name }) => wanted.some((one) => one.name === name));
  using installation = await openInstallation(flags, signal);
  const one = cluster === undefined ? undefined : [await requireClusterName(cluster, installation)];
  const names = one ?? (await requireRegistry(installation.registry).list());
  const controllerNames = wanted.map((one) => one.name);
  const shown = queuesOf(wanted).filter(({ name }) => controller === undefined || name === controller);
  const functionNames = controller === undefined ? watchedFunctions(installation, wanted) : controllerNames;
  const [paused, troubles, queues, clusters] = await Promise.all([
    pausedControllers(installation, controllerNames, signal),
    // The resync says what the watchers of a controller have missed.
    readTroubles(installation, [...new Set([...functionNames, resyncQueue])], { folder, signal }),
    Promise.all(shown.map((one) => readQueue(installation, one, signal))),
    Promise.all(names.map((name) => readNamed(installation, name, controllers, signal))),
  ]);
  const functions = functionNames.map((name) => {
    return { name, ...troubles.healthOf(name, paused?.includes(name)), times: troubles.timesOf(name) };
  });
  const misnamed = cluster === undefined ? await requireRegistry(installation.registry).misnamed() : [];
  const others = [
    ...(notLoaded === undefined ? [] : [`the objects of controllers are unknown: ${notLoaded}`]),
    ...misnamed,
  ];
  const { hidden } = troubles;
  const system = { clusters, queues, functions, paused, others, resync: troubles.resync(controller), hidden };
  // A deployment whose functions cannot be read still has a status.
  const { senderCheck, version } = (await installation.deployed().catch(() => undefined)) ?? {};
  const deployed = { senderCheck, version: installation.on === 'AWS' ? (version ?? 'not known') : undefined };
  return { ...system, ...deployed, verdict: judge(system, installation.at), at: installation.at };
}

async function readNamed(
  installation: Installation,
  name: string,
  controllers: readonly ControllerDefinition[],
  signal: AbortSignal,
): Promise<NamedCluster> {
  let state: Pick<NamedCluster, 'paused' | 'moving'> = {};
  try {
    const entry = await requireRegistry(installation.registry).get(name);
    const moving = entry === undefined ? undefined : moveOf(entry);
    const found = await requireRegistry(installation.clusters).find(name);
    if (found.type === 'decommissioning') return { name, decommissioning: true };
    if (found.type === 'paused') state = { paused: true };
    if (moving !== undefined) state = { moving };
    const client = await clusterClient(installation, name);
    const { project, namespaces } = installation;
    const status: ClusterStatus = await readClusterStatus(client, controllers, {
      project,
      namespaces,
      nowMs: Date.now(),
      signal,
    });
    return { name, ...state, ...status };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { name, ...state, problem: formatError(error) };
  }
}

async function readQueue(
  installation: Installation,
  { name, queue, deadLetterQueue }: QueuePair,
  signal: AbortSignal,
): Promise<NamedQueue> {
  const depth = createDepth(installation.sqs, installation.urlPrefix);
  const total = ({ visible, inFlight, delayed }: QueueDepth) => visible + inFlight + delayed;
  try {
    const [now, dead] = await Promise.all([depth(queue, { signal }), depth(deadLetterQueue, { signal })]);
    return { name, queued: now.visible, inFlight: now.inFlight, delayed: now.delayed, deadLetters: total(dead) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { name, problem: `its queues cannot be read: ${formatError(error, installation.at)}` };
  }
}
