// Ends the processes of Ingredient's function, as a machine that loses its power does: at once, and without a word.
import type { ChaosSystem } from './system.ts';

/** The processes that are there now, idle ones included. */
export function functionPids({ functions }: Pick<ChaosSystem, 'functions'>): readonly number[] {
  return functions.filter(({ name }) => name.endsWith('ingredient')).flatMap((one) => one.pids());
}

/** Kills them and tells how many there were. */
export function killAll(pids: readonly number[]): number {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return pids.length;
}
