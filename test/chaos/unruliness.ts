// What the functions of the chaos system are told to do wrong. Their bundles are those that would be deployed; unruly-preload.ts is
// loaded into each of their processes before its bundle, and looks at the item that an Ingredient asks for.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Items whose reservation never ends well: what the function that asks for one does. unruly-preload.ts does it. */
export const unrulyItems = {
  /** Stops, and lets nothing else in its process go on, so that only the time-out ends it. */
  blocks: 'chaos-blocks',
  /** Takes memory until there is none. */
  devours: 'chaos-devours',
  /** Waits longer than any deadline, heeding no signal, and then goes on as if nothing had been. */
  ignores: 'chaos-ignores',
} as const;

/** A small function's memory: whoever devours is soon done. */
const heapMegabytes = 128;

/** Control over the functions' manners. */
export type Unruliness = {
  /** For every function's process. */
  readonly nodeArguments: readonly string[];
  /** Makes the clocks of processes that start from now on wrong by so many minutes. */
  shiftClocks(minutes: number): Promise<void>;
};

/** Creates it; what processes read at their start is a file in the folder. */
export async function createUnruliness(folder: string): Promise<Unruliness> {
  const file = path.join(folder, 'clock-shift-minutes');
  const shiftClocks = async (minutes: number) => await writeFile(file, String(minutes));
  await shiftClocks(0);
  const preload = pathToFileURL(path.join(import.meta.dirname, 'unruly-preload.ts'));
  preload.searchParams.set('shift', file);
  return { nodeArguments: ['--import', preload.href, `--max-old-space-size=${heapMegabytes}`], shiftClocks };
}
