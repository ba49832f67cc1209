// The table of heaps: whether what a process holds after a collection at the end is what it held at the beginning.

import { alignColumns } from '../../src/dev/columns.ts';
import type { HeapSample } from './heap-samples.ts';

/** A part's heap, in megabytes. */
export type HeapRow = {
  readonly part: string;
  readonly samples: number;
  /** How many processes of the part were looked at, one after the other; the samples are of the one with most. */
  readonly processes: number;
  readonly first: number;
  readonly last: number;
  readonly mostRss: number;
};

/** Last third over first third that counts as flat. */
const flatWithin = 1.1;
const fewest = 9;

/**
 * Compares the median of the first third of each part's samples with that of the last third. All of them are of one process, the one with
 * most: what another one holds that began later says nothing about growth.
 */
export function heapRows(samples: readonly HeapSample[]): readonly HeapRow[] {
  return [...Map.groupBy(samples, ({ part }) => part)].map(([part, ofPart]) => {
    const byProcess = [...Map.groupBy(ofPart, ({ pid }) => pid).values()];
    const [of = []] = byProcess.toSorted((one, other) => other.length - one.length);
    const third = Math.max(1, Math.floor(of.length / 3));
    const heaps = of.map(({ heap }) => heap);
    return {
      ...{ part, samples: of.length, processes: byProcess.length },
      ...{ first: median(heaps.slice(0, third)), last: median(heaps.slice(-third)) },
      mostRss: Math.max(...ofPart.map(({ rss }) => rss)),
    };
  });
}

/** Lists the parts whose heap has grown. A process that did not live long enough tells nothing; when none did, that is what is listed. */
export function growing(rows: readonly HeapRow[]): readonly string[] {
  const telling = rows.filter(({ samples }) => samples >= fewest);
  if (telling.length === 0) return [`no process has ${fewest} samples`];
  return telling
    .filter(({ first, last }) => last > first * flatWithin)
    .map(({ part, first, last }) => `${part}: its heap grew from ${first.toFixed(1)} to ${last.toFixed(1)} MB`);
}

/** Formats the rows. */
export function formatHeaps(rows: readonly HeapRow[]): string {
  return alignColumns([
    ['heap after GC', 'samples', 'processes', 'first third', 'last third', 'ratio', 'most RSS'],
    ...rows.map(({ part, samples, processes, first, last, mostRss }) => [
      ...[part, String(samples), String(processes), `${first.toFixed(1)} MB`, `${last.toFixed(1)} MB`],
      ...[(last / first).toFixed(2), `${mostRss.toFixed(0)} MB`],
    ]),
  ]);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (low + high) / 2;
}
