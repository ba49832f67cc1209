// Kills the processes of Ingredient's function with SIGKILL, as a machine that loses power does.
import type { ChaosSystem } from './system.ts';

/** The present processes, including idle ones. */
export function functionPids({ functions }: Pick<ChaosSystem, 'functions'>): readonly number[] {
  return functions.filter(({ name }) => name.endsWith('ingredient')).flatMap((one) => one.pids());
}

/** Kills the processes and returns their number. */
export function killAll(pids: readonly number[]): number {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return pids.length;
}
