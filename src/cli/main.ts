#!/usr/bin/env node
// The outrigger command: a thin list, one file a command. Only the command that was asked for is loaded; without one, all
// are, for the help.
import { type Command, program } from 'commander';

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./dev.ts')).devCommand(),
  dlq: async () => (await import('./dlq.ts')).dlqCommand(),
  replay: async () => (await import('./replay.ts')).replayCommand(),
  clusters: async () => (await import('./clusters.ts')).clustersCommand(),
  generate: async () => (await import('./generate.ts')).generateCommand(),
  build: async () => (await import('./build.ts')).buildCommand(),
};

program.name('outrigger').description('Kubernetes controllers outside the cluster');
const asked = commands[process.argv[2] ?? ''];
for (const load of asked === undefined ? Object.values(commands) : [asked]) program.addCommand(await load());
await program.parseAsync();
