// `.outrigger/state.json`: the addresses and processes of the local system, for other programs. Its format is a
// guarantee.

import { rm } from 'node:fs/promises';
import { toError } from 'outrigger/internal/core/errors';
import * as z from 'zod';
import { readJsonFile } from './json-file.ts';
import { replaceFile } from './replace-file.ts';

const process = z.object({ pid: z.number() });
const shape = z.object({
  apiServer: z.string(),
  queueEndpoint: z.string(),
  /** Lists and pauses event source mappings, as Lambda does. */
  lambda: z.string(),
  queues: z.record(z.string(), z.string()),
  watchers: z.array(process),
  functions: z.array(process.extend({ name: z.string() })),
  simulators: z.record(z.string(), z.string()),
});
/** The content of the file. Queues and functions have their names without the deployment's prefix. */
export type DevState = z.infer<typeof shape>;

/**
 * Writes the file on every change, one write at a time. The last state is written last. A write that fails, because the
 * disk is full, is the error of `settled`, is reported, and removes the file: it would name processes that have ended.
 * The state is written again with the next change.
 */
export function createStateFile(
  file: string,
  {
    onFailed = () => undefined,
    replace = replaceFile,
  }: { readonly onFailed?: (error: Error) => void; readonly replace?: typeof replaceFile } = {},
): { write(state: DevState): void; settled(): Promise<void> } {
  let pending: string | undefined;
  let writing: Promise<void> | undefined;

  async function drain(): Promise<void> {
    try {
      while (pending !== undefined) {
        const text = pending;
        pending = undefined;
        // A rename, so that no reader sees an incomplete file.
        await replace(file, text);
      }
    } catch (error) {
      onFailed(toError(error));
      await rm(file, { force: true });
      throw error;
    } finally {
      writing = undefined;
    }
  }
  return {
    write: (state) => {
      pending = `${JSON.stringify(state, null, 2)}\n`;
      writing ??= drain();
      writing.catch(() => undefined);
    },
    settled: async () => {
      await writing;
    },
  };
}

/** Reads the file of a running system; undefined if there is none. Throws UserError for a file of another format. */
export async function readStateFile(file: string): Promise<DevState | undefined> {
  return await readJsonFile(file, shape, 'a state file of outrigger dev');
}
