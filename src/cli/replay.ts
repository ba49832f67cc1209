// `outrigger replay`: has one object reconciled again. With --dry-run it prints what the reconcile would change.

import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import type { ControllerDefinition } from '../api/definition.ts';
import { withFileSecrets } from '../clusters/auth/file-secrets.ts';
import { createSecretReader } from '../clusters/auth/secret-reader.ts';
import { UserError } from '../core/errors.ts';
import { formatReconcileKey } from '../core/key.ts';
import { maskSecrets, redact } from '../core/redact.ts';
import type { ChangedField } from '../kube/dry-run/changed-fields.ts';
import type { PlannedChange } from '../kube/dry-run/dry-run-client.ts';
import { replayEntry } from '../operations/replay.ts';
import type { Outcome } from '../reconciling/outcome.ts';
import { keyOfMessage, parseMessage } from '../sqs/message.ts';
import { createSend } from '../sqs/send.ts';
import { printError, printLines, runCommand } from './command.ts';
import { controllerSettings, createDryRunProcess, type DryRunEnd } from './dry-run/process.ts';
import {
  clusterClient,
  type Installation,
  type InstallationFlags,
  openInstallation,
  withInstallationOptions,
} from './installation.ts';
import { clusterOfKey, completeKey, parseKey, requireController } from './parse-key.ts';
import { loadProject } from './project.ts';

type Flags = InstallationFlags & { readonly cluster?: string; readonly dryRun?: true; readonly exitCode?: true };

/** The same time as a function has. */
const dryRunSeconds = 30;

/** Makes the command. */
export function replayCommand(): Command {
  return withInstallationOptions(new Command('replay'))
    .description('reconcile one object again, or show what that would change')
    .argument('<key>', 'CONTROLLER:NAMESPACE/NAME, CONTROLLER:NAME, or a whole key as logs and dlq list print it')
    .option('--cluster <name>', 'which cluster; on one machine there is only one')
    .option('--dry-run', 'send nothing; run the reconcile here with reads only, and print what it would write')
    .option('--exit-code', 'with --dry-run: exit with 2 when it would change something in the cluster')
    .addHelpText('after', helpText)
    .action(
      async (key: string, flags: Flags) => await runCommand('replay', async (signal) => await run(key, flags, signal)),
    );
}

const helpText = `
Examples:
  outrigger replay water-tank:default/north
  outrigger replay dinner:default/friday --cluster berlin --stage dev --dry-run

A dry run runs the controller's code in a process of its own, with the controller's settings (PLANT_URL, ...) from your
environment and nothing else of it. It prints writes to the cluster and commands that change something, and does not
execute them. Nothing is written to the cluster; no connection is opened by the controller's process, except reads that
this command makes for it: GET to the API server, GET and HEAD by fetch to other systems, and secrets. Any other call
ends what is known: it is printed, and the rest depends on the response.
It is a seat belt for your own code, not a jail for hostile code: Node's permission model says the same of itself.
Known: the process can read your files, send signals, and below Node 25 ask a DNS server directly (node:dns resolve).
Exit status of a dry run: 0 when the reconcile would succeed, 1 when it would fail or its end is unknown; with
--exit-code 2 when it would succeed and change something in the cluster.`;

async function run(text: string, { cluster, dryRun, exitCode, ...flags }: Flags, signal: AbortSignal): Promise<number> {
  if (exitCode === true && dryRun !== true) throw new UserError('--exit-code is for --dry-run; add it');
  const { registry } = await loadProject(process.cwd());
  const requested = parseKey(text, registry);
  const controller = requireController(requested.controller, registry);
  const installation = await openInstallation(flags, signal);
  try {
    const key = completeKey(requested, controller, clusterOfKey(requested, cluster, installation));
    const { queue, entry } = replayEntry(key, { source: randomUUID(), nowMs: Date.now() });
    if (dryRun === true)
      return await printDryRun(controller, installation, entry.body, { signal, exitCode: exitCode === true });
    const [sent] = await createSend(installation.sqs, installation.urlPrefix)(queue, [entry], { signal });
    if (sent?.accepted !== true) throw new UserError(`not sent: ${sent?.reason ?? 'no response'}`);
    printLines([`sent ${redact(formatReconcileKey(key))} (${sent.messageId})`]);
    return 0;
  } finally {
    installation.close();
  }
}

async function printDryRun(
  controller: ControllerDefinition,
  installation: Installation,
  body: string,
  { signal, exitCode }: { readonly signal: AbortSignal; readonly exitCode: boolean },
): Promise<number> {
  const message = parseMessage(body);
  const client = await clusterClient(installation, message.cluster);
  const secrets = withFileSecrets(createSecretReader({ now: () => new Date() }));
  const dryRun = createDryRunProcess({
    root: process.cwd(),
    project: installation.project,
    environment: controllerSettings([controller], installation.environment),
    onLine: (line) => printError(redact(line)),
  });
  try {
    const end = await dryRun.run(message, { controller, client, secrets }, { seconds: dryRunSeconds, signal });
    printLines([
      `dry run of ${redact(formatReconcileKey(keyOfMessage(message)))}: nothing is written`,
      ...endLines(end),
    ]);
    return exitStatus(end, exitCode);
  } finally {
    dryRun.end();
  }
}

/** Formats the end of a dry run: the changes up to the first call that was refused, and the outcome. */
function endLines(end: DryRunEnd): readonly string[] {
  const [call] = end.refused;
  const refusal =
    call === undefined
      ? []
      : [`it would call ${redact(call)}, which a dry run does not do; the rest depends on the response`];
  if (end.type === 'unknown') return [...refusal, `its end is not known: ${redact(end.reason)}`];
  const { outcome, changes, keys, changesBeforeRefused } = end;
  const sent = keys.map((key) => `send ${redact(formatReconcileKey(keyOfMessage(key)))}`);
  const lines = [...changes.slice(0, changesBeforeRefused).flatMap(changeLines), ...sent];
  if (refusal.length > 0) return [...lines, ...refusal];
  return [...lines, ...(changes.length + keys.length === 0 ? ['no change'] : []), outcomeLine(outcome)];
}

/** 1 if the reconcile would fail or its end is not known; with --exit-code 2 if it would change something; else 0. */
function exitStatus(end: DryRunEnd, exitCode: boolean): number {
  if (end.type === 'unknown' || end.refused.length > 0) return 1;
  if (end.outcome.type !== 'done' && end.outcome.type !== 'nothing') return 1;
  return exitCode && end.changes.some(isPending) ? 2 : 0;
}

/** Whether a change is one of the cluster. An Event, and an apply that alters no field, are none. */
function isPending(change: PlannedChange): boolean {
  return change.type === 'change' ? change.fields.length > 0 : change.type !== 'event';
}

/** Formats one change: `change Dinner default/one (status)` and its fields, `+` added, `-` removed, `~` changed. */
export function changeLines(change: PlannedChange): readonly string[] {
  switch (change.type) {
    case 'event':
      return [`event ${redact(change.text)}`];
    case 'command':
      return [`run in pod ${redact(change.pod)}, container ${change.container}: ${redact(change.command.join(' '))}`];
    case 'delete':
      return [`delete ${redact(change.object)}`];
    default:
      return [`${change.type} ${redact(change.object)}`, ...change.fields.map(fieldLine)];
  }
}

/** Formats the outcome: what the function would do with its message. */
export function outcomeLine(outcome: Outcome): string {
  switch (outcome.type) {
    case 'done':
      return outcome.requeueAfterSeconds === undefined
        ? 'the reconcile succeeds'
        : `the reconcile succeeds, and is requeued after about ${outcome.requeueAfterSeconds} s`;
    case 'nothing':
      return `nothing to reconcile: ${nothingReasons[outcome.reason]}`;
    case 'postponed':
      return `the reconcile is postponed (${outcome.reason}): ${redact(outcome.error.message)}`;
    case 'failed':
      return `the reconcile fails, and is retried: ${redact(outcome.error.message)}`;
    case 'terminal':
      return `the reconcile fails, and is not retried until the object changes: ${redact(outcome.error.message)}`;
    case 'refused':
      return `the message is refused: ${redact(outcome.error.message)}`;
  }
}

const nothingReasons = {
  gone: 'the object does not exist',
  'namespace-terminating': 'its namespace is being deleted',
  paused: 'the object is paused (annotation outrigger.dev/paused)',
  'not-selected': 'the selector of the controller does not match it',
  'no-finalizer': 'the object is being deleted, and has no finalizer of this controller',
} as const;

function fieldLine({ path, before, after }: ChangedField): string {
  if (before === undefined) return `  + ${path}: ${formatValue(after)}`;
  if (after === undefined) return `  - ${path}: ${formatValue(before)}`;
  return `  ~ ${path}: ${formatValue(before)} → ${formatValue(after)}`;
}

/** Formats a value as JSON, which is also YAML, and which escapes control sequences of a terminal. */
function formatValue(value: unknown): string {
  return maskSecrets(JSON.stringify(value) ?? '');
}
