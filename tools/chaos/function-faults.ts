// The faults of the functions in the chaos system. Their bundles are those that would be deployed;
// function-fault-preload.ts is loaded into each process before the bundle, and reads the item that an Ingredient
// requests.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Items that make the requesting function fail. function-fault-preload.ts injects the fault. */
export const faultItems = {
  /** Blocks the whole process, so that only the timeout ends it. */
  blocks: 'chaos-blocks',
  /** Allocates memory until there is none left. */
  exhaustsMemory: 'chaos-exhausts-memory',
  /** Waits longer than any deadline, ignores the abort signal, and then continues. */
  ignoresAbort: 'chaos-ignores-abort',
} as const;

/** The memory of a small function, so that it is soon exhausted. */
const heapMegabytes = 128;

/** Control of the functions' faults. */
export type FunctionFaults = {
  /** Arguments for every process of a function. */
  readonly nodeArguments: readonly string[];
  /**
   * Shifts the clocks of processes that start from now on by this number of minutes, of all functions or of those whose
   * name ends with this text.
   */
  shiftClocks(minutes: number, only?: string): Promise<void>;
};

/** Creates the control; the processes read the clock shift from a file in the folder at their start. */
export async function createFunctionFaults(folder: string): Promise<FunctionFaults> {
  const file = path.join(folder, 'clock-shift.json');
  const shiftClocks = async (minutes: number, only = '') => await writeFile(file, JSON.stringify({ minutes, only }));
  await shiftClocks(0);
  const preload = pathToFileURL(path.join(import.meta.dirname, 'function-fault-preload.ts'));
  preload.searchParams.set('shift', file);
  return { nodeArguments: ['--import', preload.href, `--max-old-space-size=${heapMegabytes}`], shiftClocks };
}
