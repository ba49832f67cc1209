// What an error means for which no status could be written: neither the one that the pass computed, nor that of a
// failure.
import { isConflict, isNotFound } from '../../kube/client/errors.ts';
import type { Outcome } from '../outcome.ts';
import type { ReconcileInput } from '../report.ts';
import { outcomeOfUnwritten } from '../verified-outcome.ts';
import { seemsGone } from './finalize-lost.ts';
import type { Observed } from './observe.ts';
import type { Called, Identity } from './pass.ts';

/** The outcome, and whether the object may be gone: a write has not found it, and it cannot be read. */
export type AfterError = { readonly outcome: Outcome; readonly mayBeGone: boolean };

/** Decides the outcome of a pass that threw. Throws the signal's reason if it is aborted and nothing runs any more. */
export async function afterError(
  thrown: unknown,
  input: ReconcileInput,
  {
    identity,
    observed,
    called,
  }: {
    readonly identity: Identity;
    readonly observed: Observed | undefined;
    readonly called: Called | undefined;
  },
): Promise<AfterError> {
  if (called?.ended.type === 'still-running' && observed?.type === 'pass') {
    const outcome: Outcome = { type: 'failed', error: called.ended.error, stalledBefore: false };
    const isSuspected = isNotFound(thrown) || isConflict(thrown);
    return { outcome, mayBeGone: isSuspected && (await seemsGone(observed.pass)) };
  }
  if (input.signal.aborted) throw input.signal.reason;
  const { resource } = identity.declaration;
  const outcome = await outcomeOfUnwritten(thrown, { ...input, resource, read: observed?.read ?? undefined });
  return { outcome, mayBeGone: isNotFound(thrown) && outcome.type === 'postponed' };
}
