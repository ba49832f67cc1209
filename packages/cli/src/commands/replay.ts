// `outrigger replay`: reconciles one object again. With --dry-run it prints what the reconcile would change.

import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { formatReconcileKey, type ReconcileKey } from 'outrigger/internal/core/key';
import { redact } from 'outrigger/internal/core/redact';
import { sleep } from 'outrigger/internal/core/time';
import { getObject } from 'outrigger/internal/kube/client/read';
import { createSend } from 'outrigger/internal/sqs/send';
import { replayEntry } from '../operations/replay.ts';
import { loadProject } from '../project/project.ts';
import { acting, formatError, printError, printLines } from './command.ts';
import { printDryRun, printPlan } from './dry-run/plan.ts';
import { readHidden } from './function-log.ts';
import {
  clusterClient,
  type Installation,
  type InstallationFlags,
  openInstallation,
  requireClusterName,
  withInstallationOptions,
} from './installation.ts';
import { logLine } from './key-commands.ts';
import { type KeyLogEntry, readKeyLog } from './key-log.ts';
import { clusterOfKey, completeKey, parseKey, requireController, withKinds } from './parse-key.ts';

type Flags = InstallationFlags & {
  readonly cluster?: string;
  readonly dryRun?: true;
  readonly all?: true;
  readonly exitCode?: true;
  readonly wait?: true;
};

/** Makes the command. */
export function replayCommand(): Command {
  return withInstallationOptions(new Command('replay'))
    .alias('reconcile')
    .description('reconcile one object again, or show what that would change')
    .argument('[key]', 'CONTROLLER:NAMESPACE/NAME, CONTROLLER:NAME, or a whole key as logs and dlq list print it')
    .option('--cluster <name>', 'which cluster; on one machine there is only one')
    .option('--dry-run', 'send nothing; run the reconcile here with reads only, and print what it would write')
    .option('--all', 'with --dry-run: every object of the controller that is named instead of a key, or of every one')
    .option('--wait', 'wait until it has run, print its line, and exit with 1 if it did not succeed')
    .option('--exit-code', 'with --dry-run: exit with 2 when it would change something in the cluster')
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Examples:
  outrigger replay water-tank:default/north
  outrigger replay dinner:default/friday --cluster berlin --stage dev --dry-run
  outrigger replay water-tank --all --dry-run --exit-code

A dry run runs the controller's code in a process of its own, with the controller's settings (PLANT_URL, ...) from your
environment and nothing else of it. Against the system that runs here it also reads them from the file .env, and has the
addresses of the simulators, as outrigger dev. It prints writes to the cluster and commands that change something, and
does not execute them. Nothing is written to the cluster; no connection is opened by the controller's process, except
reads that this command makes for it: GET to the API server, GET and HEAD by fetch to other systems, and secrets. Any
other call ends what is known: it is printed, and the rest depends on the response.
It is a seat belt for your own code, not a jail for hostile code: Node's permission model says the same of itself.
Known: the process can read your files.
With --all, one process reconciles all objects in turn, so what a module keeps in memory stays, as in a warm function.
Exit status of a dry run: 0 when the reconcile would succeed, 1 when it would fail or its end is unknown; with
--exit-code 2 when it would succeed and change something in the cluster.`;

async function run(
  text: string | undefined,
  { cluster, dryRun, all, exitCode, wait, ...flags }: Flags,
  signal: AbortSignal,
): Promise<number> {
  if (exitCode === true && dryRun !== true) throw new UserError('--exit-code is for --dry-run; add it');
  if (all === true && dryRun !== true) throw new UserError('--all is for --dry-run; add it');
  const { registry } = await loadProject(process.cwd());
  if (all === true) {
    const controllers = text === undefined ? registry : [requireController(text, registry)];
    using installation = await openInstallation(flags, signal);
    const on = await requireClusterName(cluster, installation);
    return await printPlan(controllers, installation, on, { signal, exitCode: exitCode === true });
  }
  if (text === undefined) throw new UserError('no key is named; name one, or with --dry-run every object with --all');
  const requested = parseKey(text, registry);
  const controller = requireController(requested.controller, registry);
  using installation = await openInstallation(flags, signal);
  const on = await clusterOfKey(requested, cluster, installation);
  const key = completeKey(requested, withKinds(controller), on);
  const { queue, entry } = replayEntry(key, { source: randomUUID(), nowMs: Date.now() });
  if (dryRun === true)
    return await printDryRun(controller, installation, entry.body, { signal, exitCode: exitCode === true });
  const hidden = wait === true ? await readHidden(installation, signal) : undefined;
  if (hidden !== undefined) throw new UserError(`not sent: ${hidden}; leave out --wait`);
  await requireObject(controller, key, installation, signal);
  const [sent] = await createSend(installation.sqs, installation.urlPrefix)(queue, [entry], { signal });
  if (sent?.accepted !== true)
    throw new UserError(`not sent: ${sent?.reason ?? 'no response'}`, { cause: sent?.error });
  printLines([`sent ${redact(formatReconcileKey(key))} (${sent.messageId})`]);
  if (wait !== true) return 0;
  return await waitForRun(installation, key, { messageId: `${sent.messageId}`, folder: flags.folder, signal });
}

/**
 * Throws UserError for an object that is not there: its message would reconcile nothing. Where it cannot be read, a
 * line says so, and the message is sent.
 */
async function requireObject(
  { declaration: { resource, watches } }: ControllerDefinition,
  key: ReconcileKey,
  installation: Installation,
  signal: AbortSignal,
): Promise<void> {
  const kinds = [resource, ...watches.map(({ kind }) => kind)];
  const kind = kinds.find(({ group, plural }) => group === key.group && plural === key.resource);
  if (kind === undefined) return;
  const found = await clusterClient(installation, key.cluster)
    .then((client) => getObject(client, kind, key, { signal }))
    .catch((error: unknown) => {
      signal.throwIfAborted();
      printError(`whether the object is there is not known: ${formatError(error)}`);
      return 'unknown';
    });
  if (found !== undefined) return;
  const name = `${kind.kind} ${key.namespace === undefined ? '' : `${key.namespace}/`}${key.name}`;
  throw new UserError(`not sent: ${key.cluster} has no ${name}; check its namespace and name, and --cluster`);
}

const waitSeconds = 300;
const pollSeconds = 1;

/** Waits for the run of a message, as the log of its function has it. Throws UserError after five minutes. */
async function waitForRun(
  installation: Installation,
  key: ReconcileKey,
  { messageId, folder, signal }: { readonly messageId: string; readonly folder: string; readonly signal: AbortSignal },
): Promise<number> {
  const sentMs = Date.now();
  while (Date.now() - sentMs < waitSeconds * 1000) {
    const { lines } = await readKeyLog(installation, key, { folder, sinceMs: sentMs - 60_000, signal });
    const ran = lines.find((one) => one.outcome !== undefined && isRunOf(one, messageId, sentMs));
    if (ran !== undefined) {
      printLines([logLine(ran)]);
      return ran.outcome === 'done' || ran.outcome === 'nothing' ? 0 : 1;
    }
    await sleep(pollSeconds, signal);
  }
  throw new UserError(`it has not run within ${waitSeconds} s; outrigger explain${installation.at} says why`);
}

/** A run may have merged the message with another one of its key, whose id it logs. */
function isRunOf(
  { messageId: id, mergedCauses, timestamp = '' }: KeyLogEntry,
  messageId: string,
  sentMs: number,
): boolean {
  const isMerged = Array.isArray(mergedCauses) && mergedCauses.includes('command');
  return id === messageId || (isMerged && Date.parse(timestamp) >= sentMs);
}
