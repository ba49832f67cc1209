// The rows of earlier runs, in a file next to the document, so that a run of one figure replaces only that figure.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Row } from './row.ts';

const spread = z.object({ median: z.number(), least: z.number(), most: z.number() });
const text = z.string();
const comparison = z.object({
  name: text,
  unit: text,
  version: text.exactOptional(),
  spread: spread.exactOptional(),
  failure: text.exactOptional(),
});
const row = z.object({
  figure: text,
  what: text,
  ours: text,
  goal: text,
  peer: text.exactOptional(),
  ratio: text.exactOptional(),
  met: z.boolean().exactOptional(),
  comparisons: z.array(comparison).exactOptional(),
  failed: z.boolean().exactOptional(),
  growth: text.exactOptional(),
  counts: z.record(text, z.number()).exactOptional(),
});
const storedFigure = z.object({ on: text, machine: text, rows: z.array(row) });

/** The rows of one figure, and when and on which machine they were measured. */
export type StoredFigure = { readonly on: string; readonly machine: string; readonly rows: readonly Row[] };
export type StoredFigures = Readonly<Record<string, StoredFigure>>;

/** Reads the stored rows; none if the file does not exist. */
async function readFigures(file: string): Promise<StoredFigures> {
  const content = await readFile(file, 'utf8').catch(() => '{}');
  return z.record(text, storedFigure).parse(JSON.parse(content));
}

/** Replaces the stored rows of the figures of a run. */
export async function storeFigures(
  file: string,
  rows: readonly Row[],
  { on, machine }: Omit<StoredFigure, 'rows'>,
): Promise<StoredFigures> {
  const measured = Map.groupBy(rows, ({ figure }) => figure);
  const updated = [...measured].map(([figure, of]) => [figure, { on, machine, rows: of }] as const);
  const all = { ...(await readFigures(file)), ...Object.fromEntries(updated) };
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(all, undefined, 2)}\n`);
  return all;
}
