#!/usr/bin/env node
// The outrigger command: a thin list, one file a command. Only the command that was asked for is loaded; without one, all
// are, for the help.
import { type Command, program } from 'commander';

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./dev.ts')).devCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  dlq: async () => (await import('./dlq.ts')).dlqCommand(),
  replay: async () => (await import('./replay.ts')).replayCommand(),
  pause: async () => (await import('./pause.ts')).pauseCommand(),
  resume: async () => (await import('./pause.ts')).resumeCommand(),
  clusters: async () => (await import('./clusters/clusters.ts')).clustersCommand(),
  release: async () => (await import('./release.ts')).releaseCommand(),
  new: async () => (await import('./new/new-controller.ts')).newCommand(),
  generate: async () => (await import('./generate.ts')).generateCommand(),
  build: async () => (await import('./build.ts')).buildCommand(),
};

const helpText = `
A day with it:
  outrigger dev --apply infra/kubernetes/samples    the whole system on this machine
  outrigger status                                  is all well? here, or on AWS with --stage prod
  outrigger dlq list                                what was given up, and why
  outrigger replay water-tank:default/north --dry-run
  outrigger pause water-tank --stage prod           its messages wait until outrigger resume
Every command explains itself with examples: outrigger COMMAND --help
Exit status: 0 when it is so; 1 when it is not, or could not be done: the last line on stderr says what, and what to do.`;

program.name('outrigger').description('Kubernetes controllers outside the cluster').addHelpText('after', helpText);
program.showSuggestionAfterError().showHelpAfterError('(outrigger --help shows every command)');
const asked = commands[process.argv[2] ?? ''];
for (const load of asked === undefined ? Object.values(commands) : [asked]) program.addCommand(await load());
await program.parseAsync();
