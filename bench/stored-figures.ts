// The rows of earlier runs, in a file beside the document, so that a run of one figure replaces that figure alone.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Row } from './row.ts';

const spread = z.object({ median: z.number(), least: z.number(), most: z.number() });
const text = z.string();
const beside = z.object({
  ...{ name: text, unit: text, version: text.exactOptional() },
  ...{ spread: spread.exactOptional(), failure: text.exactOptional() },
});
const row = z.object({
  ...{ figure: text, what: text, ours: text, goal: text },
  ...{ peer: text.exactOptional(), ratio: text.exactOptional(), met: z.boolean().exactOptional() },
  ...{ beside: z.array(beside).exactOptional(), failed: z.boolean().exactOptional() },
  growth: text.exactOptional(),
  counts: z.record(text, z.number()).exactOptional(),
});
const kept = z.object({ on: text, machine: text, rows: z.array(row) });

/** The rows of one figure, when they were measured and on what. */
export type KeptFigure = { readonly on: string; readonly machine: string; readonly rows: readonly Row[] };
export type KeptFigures = Readonly<Record<string, KeptFigure>>;

/** Reads what is kept; nothing where there is no file. */
async function readFigures(file: string): Promise<KeptFigures> {
  const found = await readFile(file, 'utf8').catch(() => '{}');
  return z.record(text, kept).parse(JSON.parse(found));
}

/** Puts the rows of a run in the place of those of the same figures. */
export async function keepFigures(
  file: string,
  rows: readonly Row[],
  { on, machine }: Omit<KeptFigure, 'rows'>,
): Promise<KeptFigures> {
  const measured = Map.groupBy(rows, ({ figure }) => figure);
  const fresh = [...measured].map(([figure, of]) => [figure, { on, machine, rows: of }] as const);
  const all = { ...(await readFigures(file)), ...Object.fromEntries(fresh) };
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(all, undefined, 2)}\n`);
  return all;
}
