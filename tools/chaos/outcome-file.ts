// Outcomes in a file, one line of JSON each: a full run takes long, so it can be interrupted and continued.
import { appendFile, readFile } from 'node:fs/promises';
import * as z from 'zod';
import type { SeededOutcome } from './row.ts';

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

/** Reads the outcomes; none if the file does not exist. Throws for an invalid line. */
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

/** Appends one outcome. */
export async function appendOutcome(file: string, kept: SeededOutcome): Promise<void> {
  await appendFile(file, `${JSON.stringify(kept)}\n`);
}
