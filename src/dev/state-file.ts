// `.outrigger/state.json`: what runs where, for other programs. Its form is a promise; checks by others parse it.
import { readFile, rename, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { DevProblem, errorCode } from './explain-error.ts';

/** What the file says. Queues and functions by their names without the deployment's prefix. */
export type DevState = {
  readonly apiServer: string;
  readonly queueEndpoint: string;
  readonly queues: Readonly<Record<string, string>>;
  readonly watchers: readonly { readonly pid: number }[];
  readonly functions: readonly { readonly name: string; readonly pid: number }[];
  readonly worlds: Readonly<Record<string, string>>;
};

/** Writes the file again and again, one write at a time, the last state always last. */
export function createStateFile(file: string): { write(state: DevState): void; settled(): Promise<void> } {
  let wanted: string | undefined;
  let writing: Promise<void> | undefined;

  async function drain(): Promise<void> {
    while (wanted !== undefined) {
      const text = wanted;
      wanted = undefined;
      // Whole or not at all: whoever reads it never sees half of it.
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
    }
    writing = undefined;
  }
  return {
    write: (state) => {
      wanted = `${JSON.stringify(state, null, 2)}\n`;
      writing ??= drain();
    },
    settled: async () => {
      await writing;
    },
  };
}

const process = z.object({ pid: z.number() });
const shape = z.object({
  apiServer: z.string(),
  queueEndpoint: z.string(),
  queues: z.record(z.string(), z.string()),
  watchers: z.array(process),
  functions: z.array(process.extend({ name: z.string() })),
  worlds: z.record(z.string(), z.string()),
});

/** Reads the file of a system that runs; undefined when there is none. Throws DevProblem for a file that is something else. */
export async function readStateFile(file: string): Promise<DevState | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new DevProblem(`${file}: cannot be read (${errorCode(error)})`, { cause: error });
  }
  try {
    return shape.parse(JSON.parse(text));
  } catch (error) {
    throw new DevProblem(`${file}: not what outrigger dev writes; remove it and start outrigger dev again`, {
      cause: error,
    });
  }
}
