#!/usr/bin/env node
// The outrigger command: a list of subcommands, one file each. Only the requested subcommand is loaded; without one,
// all are loaded for the help.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Command, program } from 'commander';
import { isRecord } from '../core/json.ts';

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./dev.ts')).devCommand(),
  status: async () => (await import('./status/status.ts')).statusCommand(),
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand(),
  dlq: async () => (await import('./dlq.ts')).dlqCommand(),
  explain: async () => (await import('./key-commands.ts')).explainCommand(),
  history: async () => (await import('./key-commands.ts')).historyCommand(),
  logs: async () => (await import('./key-commands.ts')).logsCommand(),
  replay: async () => (await import('./replay.ts')).replayCommand(),
  wake: async () => (await import('./wake.ts')).wakeCommand(),
  pause: async () => (await import('./pause.ts')).pauseCommand(),
  resume: async () => (await import('./pause.ts')).resumeCommand(),
  clusters: async () => (await import('./clusters/clusters.ts')).clustersCommand(),
  detach: async () => (await import('./detach.ts')).detachCommand(),
  new: async () => (await import('./new/new-controller.ts')).newCommand(),
  generate: async () => (await import('./generate.ts')).generateCommand(),
  build: async () => (await import('./build.ts')).buildCommand(),
  completion: async () => (await import('./completion.ts')).completionCommand(loadAll),
};

async function loadAll(): Promise<readonly Command[]> {
  return await Promise.all(Object.values(commands).map(async (load) => await load()));
}

const helpText = `
Examples:
  outrigger dev --apply infra/kubernetes/samples    runs the whole system on this machine
  outrigger status                                  shows clusters, queues and objects, here or on AWS with --stage prod
  outrigger dlq list                                lists messages that are not retried any more, with the reasons
  outrigger explain water-tank:default/north        shows why an object is in its state
  outrigger replay water-tank:default/north --dry-run
  outrigger pause water-tank --stage prod           keeps its messages in the queue until outrigger resume
Help and examples of a command: outrigger COMMAND --help
Exit status: 0 on success; 1 on a problem or an error: the last line on stderr names it and the next step.`;

program.name('outrigger').description('Kubernetes controllers outside the cluster').addHelpText('after', helpText);
program.version(packageVersion(), '--version', 'print the version');
program.showSuggestionAfterError().showHelpAfterError('(outrigger --help shows every command)');
const requested = commands[process.argv[2] === 'reconcile' ? 'replay' : (process.argv[2] ?? '')];
for (const load of requested === undefined ? Object.values(commands) : [requested]) program.addCommand(await load());
await program.parseAsync();

/** Reads the version from the package's manifest, in the sources as well as in the built package. */
function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8'));
  return isRecord(manifest) ? String(manifest.version) : '';
}
