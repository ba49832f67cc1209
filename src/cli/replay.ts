// `outrigger replay`: has one object reconciled again. With --dry-run it prints what the reconcile would change.

import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import type { ControllerDefinition } from '../api/definition.ts';
import { withFileSecrets } from '../clusters/auth/file-secrets.ts';
import { createSecretReader } from '../clusters/auth/secret-reader.ts';
import { UserError } from '../core/errors.ts';
import { formatReconcileKey } from '../core/key.ts';
import type { Log } from '../core/log.ts';
import { maskSecrets, redact } from '../core/redact.ts';
import type { ChangedField } from '../kube/dry-run/changed-fields.ts';
import type { PlannedChange } from '../kube/dry-run/dry-run-client.ts';
import { replayEntry } from '../operations/replay.ts';
import { createDryRun } from '../reconciling/dry-run.ts';
import type { Outcome } from '../reconciling/outcome.ts';
import { keyOfMessage, parseMessage } from '../sqs/message.ts';
import { createSend } from '../sqs/send.ts';
import { printError, printLines, runCommand } from './command.ts';
import {
  clusterClient,
  type Installation,
  type InstallationFlags,
  openInstallation,
  withInstallationOptions,
} from './installation.ts';
import { clusterOfKey, completeKey, parseKey, requireController } from './parse-key.ts';
import { loadProject } from './project.ts';

type Flags = InstallationFlags & { readonly cluster?: string; readonly dryRun?: true };

/** The same time as a function has. */
const dryRunSeconds = 30;

/** Makes the command. */
export function replayCommand(): Command {
  return withInstallationOptions(new Command('replay'))
    .description('reconcile one object again, or show what that would change')
    .argument('<key>', 'CONTROLLER:NAMESPACE/NAME, CONTROLLER:NAME, or a whole key as logs and dlq list print it')
    .option('--cluster <name>', 'which cluster; on one machine there is only one')
    .option('--dry-run', 'send nothing; run the reconcile here with reads only, and print what it would write')
    .addHelpText('after', helpText)
    .action(
      async (key: string, flags: Flags) => await runCommand('replay', async (signal) => await run(key, flags, signal)),
    );
}

const helpText = `
Examples:
  outrigger replay water-tank:default/north
  outrigger replay dinner:default/friday --cluster berlin --stage dev --dry-run

A dry run runs the controller's code in this process, with your permissions for the clusters table and the controller's
settings (PLANT_URL, ...) from your environment. It prints writes to the cluster and commands that change something, and
does not execute them. It ends at the first fetch call that would change something outside the cluster: the rest depends
on the response.
Exit status of a dry run: 0 when the reconcile would succeed, 1 when it would fail or its end is unknown.`;

async function run(text: string, { cluster, dryRun, ...flags }: Flags, signal: AbortSignal): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  const requested = parseKey(text, registry);
  const controller = requireController(requested.controller, registry);
  const installation = await openInstallation(flags, signal);
  try {
    const key = completeKey(requested, controller, clusterOfKey(requested, cluster, installation));
    const { queue, entry } = replayEntry(key, { source: randomUUID(), nowMs: Date.now() });
    if (dryRun === true) return await printDryRun(controller, installation, entry.body, signal);
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
  stop: AbortSignal,
): Promise<number> {
  const message = parseMessage(body);
  const client = await clusterClient(installation, message.cluster);
  const signal = AbortSignal.any([stop, AbortSignal.timeout(dryRunSeconds * 1000)]);
  const now = () => new Date();
  const instance = controller.start(installation.environment, withFileSecrets(createSecretReader({ now })));
  const simulated = createDryRun({ controller, project: installation.project, instance, client, log: warnings, now });
  let outside: { readonly call: string; readonly after: number } | undefined;
  using _ = blockFetch((call) => {
    outside ??= { call, after: simulated.changes().length };
  });
  const { outcome, changes, keys } = await simulated.run(message, { signal });
  const print = (line: string) => void printLines([line]);
  print(`dry run of ${redact(formatReconcileKey(keyOfMessage(message)))}: nothing is written`);
  for (const change of changes.slice(0, outside?.after)) changeLines(change).forEach(print);
  for (const key of keys) print(`send ${redact(formatReconcileKey(keyOfMessage(key)))}`);
  if (outside !== undefined) {
    print(`it would call ${redact(outside.call)}, which a dry run does not do; the rest depends on the response`);
    return 1;
  }
  if (changes.length + keys.length === 0) print('no change');
  print(outcomeLine(outcome));
  return outcome.type === 'done' || outcome.type === 'nothing' ? 0 : 1;
}

/** Prints warnings and errors. The other log entries of a function repeat what the diff shows. */
const warnings: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message) => void printError(`warning: ${redact(message)}`),
  error: (message) => void printError(`error: ${redact(message)}`),
};

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

/** A call that a dry run does not make. */
class BlockedFetchError extends Error {
  override readonly name = 'BlockedFetchError';
}

const readMethods = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Replaces the global `fetch` until it is disposed, so that only reads are sent. `onBlocked` receives each other call.
 */
export function blockFetch(onBlocked: (call: string) => void): Disposable {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (readMethods.includes(request.method)) return await real(input, init);
    const { origin, pathname } = new URL(request.url);
    const call = `${request.method} ${origin}${pathname}`;
    onBlocked(call);
    throw new BlockedFetchError(`${call} is not done in a dry run`);
  };
  return {
    [Symbol.dispose]: () => {
      globalThis.fetch = real;
    },
  };
}
