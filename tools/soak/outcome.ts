// The outcome of a soak: the guarantees that held or did not, and tables.

import { alignColumns } from '@outrigger/cli/dev/columns';
import { formatHeaps, growingHeaps } from './heap-table.ts';
import type { SoakOutcome } from './soak.ts';

/** A guarantee and its violations. */
export type GuaranteeResult = { readonly guarantee: string; readonly violations: readonly string[] };

/** Checks an outcome; a soak without an outcome has failed. Heaps and timers are checked only after a long run. */
export function checkGuarantees(
  outcome: SoakOutcome | undefined,
  { isLong }: { readonly isLong: boolean },
): readonly GuaranteeResult[] {
  if (outcome === undefined) return [{ guarantee: 'the soak ran to its end', violations: ['it did not'] }];
  const { lost, unexpectedResponses, overlapCount, deadLetters, heaps, faultCounts, edits, timers } = outcome;
  const hits = [...faultCounts.values()].reduce((sum, one) => sum + one.hits, 0);
  const editCount = Object.values(edits).reduce((sum, count) => sum + count, 0);
  return [
    {
      guarantee: 'no change was lost: every object matches the last write of its user',
      violations: [...lost, ...unexpectedResponses],
    },
    {
      guarantee: 'no object was reconciled concurrently',
      violations: overlapCount === 0 ? [] : [`${overlapCount} pairs of concurrent reconciles`],
    },
    { guarantee: 'no message became a dead letter', violations: deadLetters },
    {
      guarantee: 'there were edits and faults',
      violations: hits > 0 && editCount > 0 ? [] : [`${editCount} edits, and faults took effect ${hits} times`],
    },
    ...(isLong
      ? [
          { guarantee: 'no heap grew, measured after garbage collections', violations: growingHeaps(heaps) },
          {
            // Timers of one slot are one message when they are due. A tank that was woken in between has two slots.
            guarantee: 'only tanks have timers, at most two each',
            violations:
              timers.waiting <= 2 * timers.tanks ? [] : [`${timers.waiting} timers for ${timers.tanks} tanks`],
          },
        ]
      : []),
  ];
}

/** Formats the outcome. */
export function formatOutcome({ edits, faultCounts, reconciles, heaps, seconds, timers }: SoakOutcome): string {
  const faults = [...faultCounts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const rows = faults.map(([name, { times, hits }]) => [name, String(times), String(hits)]);
  const counted = Object.entries(edits).map(([verb, count]) => `${count} ${verb}`);
  return [
    alignColumns([['fault', 'times', 'hits'], ...rows]).join('\n'),
    formatHeaps(heaps),
    `edits: ${counted.join(', ')}; ${reconciles} reconciles`,
    `converged: ${seconds.initial.toFixed(0)} s after the start, ${seconds.converge.toFixed(0)} s after the last edit and fault, ` +
      `${seconds.disturbed.toFixed(0)} s after the disturbance of all tanks; ${timers.waiting} timers for ${timers.tanks} tanks`,
  ].join('\n\n');
}
