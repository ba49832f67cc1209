// The finalizer protocol: finalize an object that is being deleted, and finalize an object that was deleted in spite of
// its finalizer. No other code of the reconcile removes the controller's finalizer.
import { reasons } from '../api/conditions.ts';
import type { Finalized } from '../api/result.ts';
import { backoffSeconds, retryBackoff, verifyBackoff } from '../core/backoff.ts';
import { errorText, TerminalError, toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import type { Wait } from '../core/time.ts';
import { removeFinalizer } from '../kube/apply/finalizers.ts';
import { classifyResponse } from '../kube/client/classify.ts';
import { getObject } from '../kube/client/read.ts';
import { resolveFailure } from './classify-error.ts';
import { formatOrphan } from './orphan.ts';
import { type Outcome, requeueSeconds } from './outcome.ts';
import { objectKeyOf, type PrimaryObject } from './primary-object.ts';
import type { SessionDeps } from './report.ts';
import { writeStatus } from './status/write-status.ts';

/**
 * Runs the author's finalize once on an object that is being deleted. The finalizer is removed when it returns `done`.
 */
export async function finalizeObject(
  primary: PrimaryObject,
  finalize: () => Promise<Finalized>,
  deps: SessionDeps,
): Promise<Outcome> {
  const { client, resource, finalizer, fieldManager, statusWriter, statusInput } = deps;
  if (!primary.hasFinalizer()) return { type: 'nothing', reason: 'no-finalizer' };
  try {
    const finalized = await finalize();
    if (finalized === 'done') {
      const options = { fieldManager, signal: deps.signal };
      await removeFinalizer(client, resource, primary.current(), finalizer, options).catch((error: unknown) => {
        throw classifyResponse(error) === 'forbidden' ? explainForbidden(error, deps) : error;
      });
      primary.countWrite();
      return { type: 'done' };
    }
    const { reason, message } = finalized;
    const condition = { status: 'False', reason, ...(message === undefined ? {} : { message }) } as const;
    await writeStatus(primary, statusWriter.whileFinalizing(condition, statusInput()), deps);
    return requeueOf(finalized);
  } catch (thrown) {
    const { error, retryState, outcome, signal } = resolveFailure(thrown, primary, deps);
    const reason = retryState === 'invalid-spec' ? reasons.invalidSpec : reasons.finalizeFailed;
    const condition = { status: 'False', reason, message: errorText(error) } as const;
    await writeStatus(primary, statusWriter.whileFinalizing(condition, statusInput(), retryState), { ...deps, signal });
    return outcome;
  }
}

/** The outcome of a finalize that is not done. */
export function requeueOf({ requeueAfterSeconds, requeueAt }: Exclude<Finalized, 'done'>): Outcome {
  return { type: 'done', requeueAfterSeconds, requeueAt };
}

/** The role of a controller without finalize does not permit it. A former version may have had finalize. */
function explainForbidden(cause: unknown, { finalizer, message }: SessionDeps): Error {
  const fix = 'apply its manifests, or if it has no finalize any more, those of its last version with finalize';
  return new Error(`the role of ${message.controller} does not permit to remove ${finalizer}: ${fix}`, { cause });
}

/**
 * Finalizes an object that was deleted during its reconcile although it has the controller's finalizer. kube-apiserver
 * completes a DELETE that it decided before the finalizer was added. No event and no later reconcile would remove the
 * external resources of this reconcile. If the object is still being deleted, it is not known whether another reconcile
 * finalized it before this one's writes. A second finalize is harmless, and the reconcile of the deletion removes the
 * finalizer. Reads are retried for about a minute, or until the time of this key ends and once after that. Never
 * throws. Returns `finalized` if finalize was completed, and undefined if the object exists. Returns an outcome with
 * the object, for a dead letter, if finalize was not completed and the object is gone, or may be: nothing would call
 * finalize again. An object that exists without the finalizer, which another client removed, is reconciled again, and
 * named by the retry: a DELETE of it would not wait.
 * @param suspected whether a write has shown that the object may be gone. Without it, reads that fail are no reason for
 *   a dead letter: each failure of the API server would leave some. The outcome then has the uid for the retry, which
 *   finds out
 */
export async function finalizeIfGone(
  primary: PrimaryObject,
  finalize: () => Promise<Finalized>,
  { client, resource, finalizer, log, wait, now, signal }: SessionDeps,
  { suspected }: { readonly suspected: boolean },
): Promise<Outcome | 'finalized' | undefined> {
  if (!primary.hasFinalizer()) return undefined;
  const read = primary.current();
  const { uid } = read.metadata;
  const readSame = async () => {
    for (let failures = 1; ; failures += 1) {
      // A last read also when the time has ended: a reconcile that was only slow leaves no dead letter.
      const isLast = signal.aborted || failures === maxReads;
      const options = { signal: isLast ? AbortSignal.timeout(lastReadMilliseconds) : signal };
      try {
        const fresh = await getObject(client, resource, objectKeyOf(read), options);
        return fresh?.metadata.uid === uid ? fresh : undefined;
      } catch (error) {
        if (isLast) throw error;
        await wait(backoffSeconds(verifyBackoff, failures, 0), signal).catch(() => undefined);
      }
    }
  };
  let state: 'unknown' | 'exists' | 'gone' = 'unknown';
  try {
    const existing = await readSame();
    if (existing !== undefined) {
      // If it has the finalizer, only another reconcile of its deletion removes it from now on.
      state = existing.metadata.finalizers?.includes(finalizer) === true ? 'exists' : 'unknown';
      if (state === 'unknown' && existing.metadata.deletionTimestamp === undefined) {
        const failure = new Error(`another client removed the finalizer of ${uid}`);
        return { type: 'postponed', reason: 'conflict', error: failure, unverifiedUid: uid };
      }
      if (existing.metadata.deletionTimestamp === undefined) return undefined;
      if ((await finalize()) === 'done') return 'finalized';
      if ((await readSame()) !== undefined) return undefined;
    }
    state = 'gone';
    log.warn('object deleted in spite of its finalizer; finalizing it now', { uid });
    await finalizeUntilDone(finalize, { wait, now, signal });
    return 'finalized';
  } catch (error) {
    // The reconcile of its deletion calls finalize again, and its status then has the error.
    if (state === 'exists') return undefined;
    const text = redact(errorText(toError(error)));
    if (state === 'unknown' && !suspected) {
      const failure = new Error(`not known to exist since its finalizer was added: ${uid}: ${text}`, { cause: error });
      return { type: 'postponed', reason: 'unreachable', error: failure, unverifiedUid: uid };
    }
    log.error('finalize failed after deletion; external resources may be orphaned', { error: text, uid });
    const orphan = formatOrphan(resource, read);
    if (state === 'gone') {
      const failure = new Error(`finalize failed after deletion of ${uid}: ${text}`, { cause: error });
      return { type: 'refused', error: failure, orphan };
    }
    const failure = new Error(`not finalized, and possibly deleted: ${uid}: ${text}`, { cause: error });
    return { type: 'postponed', reason: 'unreachable', error: failure, orphan };
  }
}

/** About a minute of reads. */
const maxReads = 120;
/** Part of the time in which a failure is reported after the deadline. */
const lastReadMilliseconds = 500;

/** The number of failures after which finalize is not called again. */
const maxFailures = 3;

/**
 * Calls finalize until it returns `done`, and waits between the calls as it returned. Used for an object that is gone.
 * A requeue would not find the object, so all calls happen within the time of this key. Rejects with the last error of
 * finalize, or when the signal aborts.
 */
export async function finalizeUntilDone(
  finalize: () => Promise<Finalized>,
  { wait, now, signal }: { readonly wait: Wait; readonly now: () => Date; readonly signal: AbortSignal },
): Promise<void> {
  let failures = 0;
  const once = async (): Promise<Finalized> => {
    try {
      return await finalize();
    } catch (error) {
      failures += 1;
      if (error instanceof TerminalError || failures === maxFailures || signal.aborted) throw error;
      return { requeueAfterSeconds: backoffSeconds(retryBackoff, failures, 0), reason: String(error) };
    }
  };
  for (let finalized = await once(); finalized !== 'done'; finalized = await once()) {
    const { reason } = finalized;
    await wait(Math.max(1, requeueSeconds(requeueOf(finalized), now()) ?? 0), signal).catch(() => {
      throw new Error(`out of time before finalize was done: ${reason}`);
    });
  }
}
