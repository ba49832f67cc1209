// What an error means for which no status could be written: neither the one that the pass computed, nor that of a
// failure.
import { ReconcileTimeoutError } from '../../core/errors.ts';
import { isConflict, isNotFound } from '../../kube/client/errors.ts';
import type { Outcome } from '../outcome.ts';
import type { ReconcileInput } from '../report.ts';
import { outcomeOfUnwritten } from '../verified-outcome.ts';
import { effectsOf, seemsGone } from './finalize-lost.ts';
import { type Observed, passOf } from './observe.ts';
import type { Called, Identity, Pass } from './pass.ts';

/** The outcome, and whether the object may be gone: a write has not found it, and it cannot be read. */
export type AfterError = { readonly outcome: Outcome; readonly mayBeGone: boolean };

/** What was known when a pass threw. */
export type Known = {
  readonly identity: Identity;
  readonly observed: Observed | undefined;
  readonly called: Called | undefined;
  /** The effects of the passes before (effectsOf). The last of them has not found its object, or a stale one. */
  readonly earlier: Pass | undefined;
};

/**
 * Decides the outcome of a pass that threw. Throws the signal's reason if it is aborted, nothing runs any more, and the
 * object is there: the message is received again. If the object is gone, no later receipt would find what is left.
 */
export async function afterError(thrown: unknown, input: ReconcileInput, known: Known): Promise<AfterError> {
  const { identity, observed, called, earlier } = known;
  const { signal } = input;
  const running = called?.ended.type === 'still-running' ? called.ended.error : undefined;
  if (running === undefined && !signal.aborted) {
    try {
      const { resource } = identity.declaration;
      const outcome = await outcomeOfUnwritten(thrown, { ...input, resource, read: observed?.read ?? undefined });
      return { outcome, mayBeGone: isNotFound(thrown) && outcome.type === 'postponed' };
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
  const effects = effectsOf(earlier, passOf(observed), called);
  const isSuspected = earlier !== undefined || isNotFound(thrown) || isConflict(thrown);
  const mayBeGone = effects !== undefined && (await seemsGone(effects, { isSuspected }));
  if (running === undefined && !mayBeGone) throw signal.reason;
  const error = running ?? new ReconcileTimeoutError('the object was not found, and its time ended', { cause: thrown });
  return { outcome: { type: 'failed', error, stalledBefore: false }, mayBeGone };
}
