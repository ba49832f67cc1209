// The table of heaps: compares the heap after a garbage collection at the end of the run with that at the beginning.

import { alignColumns } from '@outrigger/cli/dev/columns';
import type { HeapSample } from './heap-samples.ts';

/** The heap of a part, in megabytes. */
export type HeapRow = {
  readonly part: string;
  readonly samples: number;
  /**
   * The number of measured processes of the part, one after the other; the samples are those of the process with the
   * most.
   */
  readonly processes: number;
  readonly first: number;
  readonly last: number;
  readonly maxRss: number;
};

/** The ratio of last third to first third up to which a heap counts as flat. */
const maxRatio = 1.1;
const minSamples = 9;

/**
 * Compares the median of the first third of each part's samples with that of the last third. All samples are of one
 * process, the one with the most samples: the heap of a later process says nothing about growth.
 */
export function heapRows(samples: readonly HeapSample[]): readonly HeapRow[] {
  return [...Map.groupBy(samples, ({ part }) => part)].map(([part, ofPart]) => {
    const byProcess = [...Map.groupBy(ofPart, ({ pid }) => pid).values()];
    const [ofProcess = []] = byProcess.toSorted((one, other) => other.length - one.length);
    const third = Math.max(1, Math.floor(ofProcess.length / 3));
    const heaps = ofProcess.map(({ heap }) => heap);
    return {
      part,
      samples: ofProcess.length,
      processes: byProcess.length,
      first: median(heaps.slice(0, third)),
      last: median(heaps.slice(-third)),
      maxRss: Math.max(...ofPart.map(({ rss }) => rss)),
    };
  });
}

/**
 * Lists the parts whose heap has grown. Processes with too few samples are ignored; if all have too few, this is
 * listed.
 */
export function growingHeaps(rows: readonly HeapRow[]): readonly string[] {
  const measured = rows.filter(({ samples }) => samples >= minSamples);
  if (measured.length === 0) return [`no process has ${minSamples} samples`];
  return measured
    .filter(({ first, last }) => last > first * maxRatio)
    .map(({ part, first, last }) => `${part}: its heap grew from ${first.toFixed(1)} to ${last.toFixed(1)} MB`);
}

/** Formats the rows as a table. */
export function formatHeaps(rows: readonly HeapRow[]): string {
  return alignColumns([
    ['heap after GC', 'samples', 'processes', 'first third', 'last third', 'ratio', 'max RSS'],
    ...rows.map(({ part, samples, processes, first, last, maxRss }) => [
      ...[part, String(samples), String(processes), `${first.toFixed(1)} MB`, `${last.toFixed(1)} MB`],
      ...[(last / first).toFixed(2), `${maxRss.toFixed(0)} MB`],
    ]),
  ]).join('\n');
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (low + high) / 2;
}
