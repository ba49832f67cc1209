// Reconciles one key, in passes: observe, hold, call, settle, commit. After a conflict all of it is repeated with a
// fresh read. It returns an outcome; outcome.ts decides what that means for the message.
import type { Outcome } from './outcome.ts';
import { type AfterError, afterError } from './pass/after-error.ts';
import { callFor, reportSeconds } from './pass/author-call.ts';
import { commit, sendEvents } from './pass/commit.ts';
import { effectsOf, finalizeLost, isLost, orphanOf } from './pass/finalize-lost.ts';
import { hold } from './pass/hold.ts';
import { observe, scopeMismatch } from './pass/observe.ts';
import { type Called, type Identity, identityOf, type Pass, type Progress, type ReconcileDeps } from './pass/pass.ts';
import { reportPass } from './pass/report-pass.ts';
import { eventsOf, factsOf, settle } from './pass/settle.ts';
import type { ReconcileInput, ReconcileReport } from './report.ts';

/** Why a dead letter has an object. */
const unknown = 'a write did not find the object, and it cannot be read: not finalized, and possibly deleted';
/** Passes with a fresh read, before the message is postponed because of a stale resource version. */
const maxPasses = 3;

/** Reconciles one key. */
export type Reconcile = (input: ReconcileInput) => Promise<ReconcileReport>;

/** Creates the reconcile of one controller. It never throws, except for its signal's reason if that is aborted. */
export function createReconcile(deps: ReconcileDeps): Reconcile {
  const identity = identityOf(deps);
  return async (input) => {
    const mismatch = scopeMismatch(identity.declaration.resource, input.message);
    if (mismatch !== undefined) return { outcome: { type: 'refused', error: mismatch }, writes: 0 };
    let earlier: Pass | undefined;
    for (let passes = 1; ; passes += 1) {
      const { pass, report, effects, mayBeGone } = await runPass(identity, input, earlier);
      if (effects !== undefined && isLost(effects, pass, report))
        return { ...report, orphan: await finalizeLost(effects) };
      if (effects !== undefined && mayBeGone) return { ...report, orphan: orphanOf(effects, unknown) };
      earlier = effects;
      const isStale = report.outcome.type === 'postponed' && report.outcome.reason === 'conflict';
      if (!isStale || passes === maxPasses || input.signal.aborted) return report;
      input.log.debug('resource version conflict, reading again', { tries: passes });
    }
  };
}

async function runPass(identity: Identity, input: ReconcileInput, earlier: Pass | undefined) {
  const progress: Progress = { identity, earlier };
  let end: AfterError;
  try {
    const observed = await observe(identity, input);
    const outcome = observed.type === 'nothing' ? observed : await attempt(observed, progress);
    end = { outcome, mayBeGone: false };
  } catch (thrown) {
    end = await afterError(thrown, input, progress);
  }
  const { outcome, mayBeGone } = end;
  return { pass: progress.pass, report: reportPass(outcome, progress), effects: effectsOf(progress), mayBeGone };
}

/** Holds, calls, settles and commits. A failure of these is settled, too: the status has its error, if possible. */
async function attempt(pass: Pass, progress: Progress): Promise<Outcome> {
  progress.pass = pass;
  try {
    if (await hold(pass)) return { type: 'nothing', reason: 'held' };
    progress.called = await callFor(pass);
    return await carryOut(pass, progress.called);
  } catch (error) {
    if (pass.signal.aborted) throw error;
    return await carryOut(pass, { ended: { type: 'threw', error, isLate: false }, events: [] });
  }
}

async function carryOut(pass: Pass, { ended, events }: Pick<Called, 'ended' | 'events'>): Promise<Outcome> {
  const verdict = settle(factsOf(pass), ended);
  // A reconciler that hangs at each attempt would otherwise fail without a trace on its object.
  const isOver = ended.type === 'still-running' || (ended.type === 'threw' && ended.isLate);
  const writing = isOver ? { ...pass, signal: AbortSignal.timeout(reportSeconds * 1000) } : pass;
  try {
    if (verdict.type === 'unwritten') throw verdict.error;
    await commit(writing, verdict);
    return verdict.outcome;
  } finally {
    await sendEvents(writing, eventsOf(verdict, ended, events));
  }
}
