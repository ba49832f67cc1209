// The report of a pass: what the message, the log and the metrics need to know of it.
import type { Outcome } from '../outcome.ts';
import type { ReconcileReport } from '../report.ts';
import { followsOwnWrite } from '../self-triggered.ts';
import type { Called, Pass } from './pass.ts';

/**
 * Makes the report of a pass.
 * @param pass undefined if the object could not be read, or needed nothing
 * @param called the call of the author's code, if there was one
 */
export function reportPass(outcome: Outcome, pass: Pass | undefined, called: Called | undefined): ReconcileReport {
  if (pass === undefined) return { outcome, writes: 0 };
  const { identity, message, read, ownedBefore, primary } = pass;
  const { observation, statusWriter, fieldManager } = identity;
  // Without evidence nothing shows what was observed: each write of a periodic reconcile is a correction.
  const isShown = !statusWriter.showsObserved || statusWriter.observed(ownedBefore) === primary.generation();
  return {
    outcome,
    message,
    writes: primary.writes() + (called?.writes ?? 0),
    noops: primary.noops() + (called?.noops ?? 0),
    generation: read.metadata.generation,
    observedBefore: observation?.isObserved(read) ?? isShown,
    selfTriggered: primary.writes() > 0 && followsOwnWrite(message, read, fieldManager),
    ignoredSignal: called?.ended.type === 'still-running',
  };
}
