// The subcommands of outrigger, one file each.
import type { Command } from 'commander';

/** How each subcommand is loaded. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import('./dev.ts')).devCommand(),
  console: async () => (await import('./console/console.ts')).consoleCommand(),
  status: async () => (await import('./status/status.ts')).statusCommand(),
  get: async () => (await import('./get.ts')).getCommand(),
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand(),
  verify: async () => (await import('./verify/verify.ts')).verifyCommand(),
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
  versions: async () => (await import('./versions.ts')).versionsCommand(),
  new: async () => (await import('./new/new-controller.ts')).newCommand(),
  import: async () => (await import('./import-crd.ts')).importCommand(),
  build: async () => (await import('./build.ts')).buildCommand(),
  cost: async () => (await import('./cost/cost.ts')).costCommand(),
  manifests: async () => (await import('./manifests.ts')).manifestsCommand(),
  'deployer-policy': async () => (await import('./deployer-policy.ts')).deployerPolicyCommand(),
  completion: async () => (await import('./completion.ts')).completionCommand(loadCommands),
};

/** The headings of the help, each with its subcommands. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'Look:': ['status', 'get', 'doctor', 'explain', 'history', 'logs', 'console', 'dlq'],
  'Act:': ['replay', 'wake', 'pause', 'resume', 'clusters', 'detach'],
};

/** Every subcommand, in the order of the help. */
export async function loadCommands(): Promise<readonly Command[]> {
  return await Promise.all(
    Object.entries(commands).map(async ([name, load]) => {
      const [heading = 'Develop:'] = Object.keys(groups).filter((one) => groups[one]?.includes(name));
      return (await load()).helpGroup(heading);
    }),
  );
}
