// The time of a process by source file: its CPU profile, mapped with the bundle's source map.
import { readdir, readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const profile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({
        functionName: z.string(),
        url: z.string(),
        lineNumber: z.number(),
        columnNumber: z.number(),
      }),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

/** A place in the sources, and its share of the busy time without calls: 0 to 1. */
export type Cost = { readonly place: string; readonly part: number };

/** Reads the only profile in a folder (`node --cpu-prof --cpu-prof-dir=...`), the most expensive places first. */
export async function readProfile(folder: string): Promise<readonly Cost[]> {
  const [file] = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error(`${folder}: the process left no profile`);
  const { nodes, samples, timeDeltas } = profile.parse(JSON.parse(await readFile(path.join(folder, file), 'utf8')));
  const placeOf = await placesOf(new Set(nodes.map(({ callFrame }) => callFrame.url)));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const costs = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined || ['(idle)', '(program)'].includes(frame.functionName)) continue;
    const place = placeOf(frame);
    const time = timeDeltas[index] ?? 0;
    costs.set(place, (costs.get(place) ?? 0) + time);
    busy += time;
  }
  return [...costs].map(([place, time]) => ({ place, part: time / busy })).toSorted((a, b) => b.part - a.part);
}

type Frame = z.infer<typeof profile>['nodes'][number]['callFrame'];

async function placesOf(urls: ReadonlySet<string>): Promise<(frame: Frame) => string> {
  const maps = new Map<string, SourceMap>();
  for (const url of urls) {
    if (!url.startsWith('file:')) continue;
    const text = await readFile(`${fileURLToPath(url)}.map`, 'utf8').catch(() => undefined);
    if (text !== undefined) maps.set(url, new SourceMap(JSON.parse(text)));
  }
  return ({ url, functionName, lineNumber, columnNumber }) => {
    const entry = maps.get(url)?.findEntry(lineNumber, columnNumber);
    if (entry === undefined || !('originalSource' in entry)) return `${functionName} ${path.basename(url)}`.trim();
    const source = entry.originalSource.replace(/^.*?(node_modules|src)\//, '$1/');
    return `${source}:${entry.originalLine + 1}`;
  };
}
