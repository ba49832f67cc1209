#!/usr/bin/env node
// The outrigger command. Only the requested subcommand is loaded; without one, all are loaded for the help.
import { type Command, program } from 'commander';
import { packageVersion } from '../project/package-version.ts';
import { commands, loadCommands } from './commands.ts';

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
endWithReader();
for (const command of await loadRequested(process.argv[2] ?? '')) program.addCommand(withHint(command, 'outrigger'));
await program.parseAsync();

async function loadRequested(argument: string): Promise<readonly Command[]> {
  if (argument === '--version') return [];
  const load = commands[argument === 'reconcile' ? 'replay' : argument];
  return load === undefined ? await loadCommands() : [await load()];
}

/** Adds the command that shows the arguments to the errors of wrong arguments, here and in the subcommands. */
function withHint(command: Command, parent: string): Command {
  const full = `${parent} ${command.name()}`;
  for (const one of command.commands) withHint(one, full);
  return command.showHelpAfterError(`(${full} --help shows its arguments and options)`);
}

/**
 * Ends the process without an error when the reader of its output has ended: `outrigger dev | head`. A command that
 * listens to SIGTERM, as dev does, stops as for Ctrl-C.
 */
function endWithReader(): void {
  let isEnding = false;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      if (isEnding) return;
      isEnding = true;
      if (process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM');
      else process.exit();
    });
  }
}
