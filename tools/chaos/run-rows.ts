// Runs a plan: one system for each seed, row by row, and a new system after a row that failed, so that it does not
// affect others.
import type { LedgerEntry } from './call-ledger.ts';
import { type Chaos, openChaos } from './chaos.ts';
import type { Plan } from './plan.ts';
import { describeFailure } from './report.ts';
import { passed, type SeededOutcome } from './row.ts';

/** Receives the progress of a run. */
export type RunListener = {
  readonly onOutcome: (outcome: SeededOutcome) => Promise<void>;
  /** Receives the calls to AWS of each system when it is closed. */
  readonly onCalls: (calls: readonly LedgerEntry[]) => Promise<void>;
  readonly log: (line: string) => void;
};

/** Generous, because a machine under load is slow to start everything. */
const startSeconds = 240;

/**
 * Runs every row of a plan that is not `done` yet; resolves with the number of rows that were not run because time ran
 * out.
 */
export async function runRows(
  { rows, seeds, real, amounts, users, timeoutSeconds, maxSeconds, verbose }: Plan,
  { onOutcome, onCalls, log }: RunListener,
  { done, signal }: { readonly done: (seed: number, fault: string) => boolean; readonly signal: AbortSignal },
): Promise<number> {
  const deadline = performance.now() + maxSeconds * 1000;
  const all = seeds.flatMap((seed) => rows.map((row) => ({ seed, row })));
  const pending = all.filter(({ seed, row }) => !done(seed, row.fault));
  let open: { readonly seed: number; readonly chaos: Chaos } | undefined;
  const close = async () => {
    if (open === undefined) return;
    await onCalls(open.chaos.calls());
    await open.chaos[Symbol.asyncDispose]();
    open = undefined;
  };
  let remaining = pending.length;
  try {
    for (const { seed, row } of pending) {
      if (signal.aborted || performance.now() > deadline) break;
      if (open?.seed !== seed) await close();
      if (open === undefined) {
        const limit = timeoutSeconds === undefined ? {} : { timeoutSeconds };
        const options = { seed, real, amounts, users, ...limit, ...(verbose ? { onLine: log } : {}) };
        open = {
          seed,
          chaos: await openChaos(options, AbortSignal.any([signal, AbortSignal.timeout(startSeconds * 1000)])),
        };
      }
      const outcome = await open.chaos.run(row);
      remaining -= 1;
      const number = `${pending.length - remaining}/${pending.length}`;
      log(`${number} seed ${seed}, ${row.fault}: ${passed(outcome) ? 'passed' : 'FAILED'}`);
      for (const line of outcome.notes) log(`  ${line}`);
      if (!passed(outcome)) log(describeFailure(outcome));
      await onOutcome({ seed, ...outcome });
      if (!passed(outcome)) await close();
    }
  } finally {
    await close();
  }
  return remaining;
}
