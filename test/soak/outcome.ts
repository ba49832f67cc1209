// What a soak has shown, as promises that held or did not, and as tables.

import { alignColumns } from '../../src/dev/columns.ts';
import { formatHeaps, growing } from '../../tools/soak/heap-table.ts';
import type { SoakOutcome } from './soak.ts';

/** A promise, and what broke it. */
export type Held = { readonly promise: string; readonly broken: readonly string[] };

/** Judges an outcome; a soak without any broke everything. Heaps are judged only where it was long enough for that. */
export function promises(
  outcome: SoakOutcome | undefined,
  { judgesHeaps }: { readonly judgesHeaps: boolean },
): readonly Held[] {
  if (outcome === undefined) return [{ promise: 'the soak ran to its end', broken: ['it did not'] }];
  const { lost, complaints, met, letters, heaps, struck, edits, timers } = outcome;
  const hits = [...struck.values()].reduce((sum, one) => sum + one.hits, 0);
  const made = Object.values(edits).reduce((sum, count) => sum + count, 0);
  return [
    { promise: 'no change was lost: all is as its users said last', broken: [...lost, ...complaints] },
    { promise: 'no object was reconciled twice at once', broken: met === 0 ? [] : [`${met} pairs met`] },
    { promise: 'no message became a dead letter', broken: letters },
    {
      promise: 'timers wait for tanks only, one each at most',
      broken: timers.waiting <= timers.tanks ? [] : [`${timers.waiting} timers wait for ${timers.tanks} tanks`],
    },
    {
      promise: 'there were edits and faults',
      broken: hits > 0 && made > 0 ? [] : [`${made} edits, and faults hit ${hits} times`],
    },
    ...(judgesHeaps
      ? [{ promise: 'what the processes hold after a collection stays the same', broken: growing(heaps) }]
      : []),
  ];
}

/** Formats what happened. */
export function formatOutcome({ edits, struck, reconciles, heaps, seconds, timers }: SoakOutcome): string {
  const faults = [...struck].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const rows = faults.map(([name, { times, hits }]) => [name, String(times), String(hits)]);
  const counted = Object.entries(edits).map(([verb, count]) => `${count} ${verb}`);
  return [
    alignColumns([['fault', 'times', 'hits'], ...rows]),
    formatHeaps(heaps),
    `edits: ${counted.join(', ')}; ${reconciles} reconciles`,
    `at rest: ${seconds.settle.toFixed(0)} s after the start, ${seconds.converge.toFixed(0)} s after the last edit and fault, ` +
      `${seconds.stirred.toFixed(0)} s after all tanks were stirred; ${timers.waiting} timers for ${timers.tanks} tanks`,
  ].join('\n\n');
}
