// Runs a plan: a system for each seed, row by row, and a new system after a row that did not hold, so that it spoils no other.
import type { LedgerEntry } from '../../test/chaos/call-ledger.ts';
import { type Chaos, openChaos } from './chaos.ts';
import type { Plan } from './plan.ts';
import { why } from '../../test/chaos/report.ts';
import { held, type SeededOutcome } from '../../test/chaos/row.ts';

/** Where a run tells of itself. */
export type RunListener = {
  readonly onOutcome: (outcome: SeededOutcome) => Promise<void>;
  /** Told the calls to AWS of each system, when it is closed. */
  readonly onCalls: (calls: readonly LedgerEntry[]) => Promise<void>;
  readonly say: (line: string) => void;
};

/** A machine under load is slow to start everything. */
const startSeconds = 240;

/** Runs every row of a plan that is not `done` yet; resolves with the number of rows that were left out for want of time. */
export async function runRows(
  { rows, seeds, real, amounts, users, mostSeconds, verbose }: Plan,
  { onOutcome, onCalls, say }: RunListener,
  { done, signal }: { readonly done: (seed: number, fault: string) => boolean; readonly signal: AbortSignal },
): Promise<number> {
  const until = performance.now() + mostSeconds * 1000;
  const all = seeds.flatMap((seed) => rows.map((row) => ({ seed, row })));
  const wanted = all.filter(({ seed, row }) => !done(seed, row.fault));
  let open: { readonly seed: number; readonly chaos: Chaos } | undefined;
  const close = async () => {
    if (open === undefined) return;
    await onCalls(open.chaos.calls());
    await open.chaos[Symbol.asyncDispose]();
    open = undefined;
  };
  let left = wanted.length;
  try {
    for (const { seed, row } of wanted) {
      if (signal.aborted || performance.now() > until) break;
      if (open?.seed !== seed) await close();
      if (open === undefined) {
        const options = { seed, real, amounts, users, ...(verbose ? { onLine: say } : {}) };
        open = {
          seed,
          chaos: await openChaos(options, AbortSignal.any([signal, AbortSignal.timeout(startSeconds * 1000)])),
        };
      }
      const outcome = await open.chaos.run(row);
      left -= 1;
      const number = `${wanted.length - left}/${wanted.length}`;
      say(`${number} seed ${seed}, ${row.fault}: ${held(outcome) ? 'holds' : 'DOES NOT HOLD'}`);
      for (const line of outcome.notes) say(`  ${line}`);
      if (!held(outcome)) say(why(outcome));
      await onOutcome({ seed, ...outcome });
      if (!held(outcome)) await close();
    }
  } finally {
    await close();
  }
  return left;
}
