// Outcomes in a file, a line of JSON each: a full run takes longer than anybody wants to hold a machine, so it is gone on with.
import { appendFile, readFile } from 'node:fs/promises';
import * as z from 'zod';
import type { SeededOutcome } from '../../test/chaos/row.ts';

const outcome = z.object({
  seed: z.number(),
  fault: z.string(),
  how: z.string(),
  fired: z.number(),
  changes: z.number(),
  convergeSeconds: z.number(),
  lost: z.array(z.string()),
  concurrent: z.number(),
  extraWrites: z.number(),
  notes: z.array(z.string()),
});

/** Reads what is kept: nothing where there is no file. Throws for a line that is no outcome. */
export async function readOutcomes(file: string): Promise<readonly SeededOutcome[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => outcome.parse(JSON.parse(line)));
}

/** Keeps one more. */
export async function keepOutcome(file: string, kept: SeededOutcome): Promise<void> {
  await appendFile(file, `${JSON.stringify(kept)}\n`);
}
