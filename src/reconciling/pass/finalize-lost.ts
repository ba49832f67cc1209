// An object that is gone although it had the controller's finalizer when it was read: another function has finalized it
// beside this one, or kube-apiserver has completed a DELETE that it decided before the finalizer was added (decision
// 0018). What the author's code has made since then would be left behind.
import { errorText, toError } from '../../core/errors.ts';
import { getObject } from '../../kube/client/read.ts';
import { formatOrphan } from '../orphan.ts';
import type { Orphan, ReconcileReport } from '../report.ts';
import { callFor } from './author-call.ts';
import type { Called, Pass, ReconcileDeps } from './pass.ts';

/**
 * Returns the first pass in which the author's code may have made something that only its finalize removes.
 * @param earlier that of the passes before
 */
export function effectsOf(
  earlier: Pass | undefined,
  pass: Pass | undefined,
  called: Called | undefined,
): Pass | undefined {
  const hasEffects = called !== undefined && pass?.task === 'reconcile' && pass.identity.declaration.finalizes;
  return earlier ?? (hasEffects ? pass : undefined);
}

/**
 * Returns whether the object of a pass is gone: a later pass has read that, or another object of its name.
 * @param latest the last pass; undefined if its object needed nothing
 */
export function isLost(effects: Pass, latest: Pass | undefined, { outcome }: ReconcileReport): boolean {
  if (outcome.type === 'nothing' && outcome.reason === 'gone') return true;
  return latest !== undefined && latest.read.metadata.uid !== effects.read.metadata.uid;
}

/** Part of the time in which a failure is reported after the deadline. */
const lastReadMs = 500;

/**
 * Returns whether the object of a pass is gone, after the deadline: there is no later pass.
 * @param isSuspected whether a write has not found it. Then it is taken for gone if it cannot be read.
 */
export async function seemsGone(
  { client, identity, message, read }: Pass,
  { isSuspected }: { readonly isSuspected: boolean },
): Promise<boolean> {
  const { resource } = identity.declaration;
  const signal = AbortSignal.timeout(lastReadMs);
  try {
    const fresh = await getObject(client, resource, message, { signal });
    return fresh?.metadata.uid !== read.metadata.uid;
  } catch {
    return isSuspected;
  }
}

/**
 * Calls finalize once with the object as it was read. Returns the object for a dead letter if that is not done: no
 * later message would find it. Never rejects.
 */
export async function finalizeLost(deps: ReconcileDeps, pass: Pass): Promise<Orphan | undefined> {
  const { uid = '' } = pass.read.metadata;
  pass.log.warn('object deleted in spite of its finalizer; finalizing it now', { uid });
  const { ended } = await callFor({ ...pass, task: 'finalize' }, deps);
  if (ended.type === 'finalized' && ended.said === 'done') return undefined;
  const why = 'error' in ended ? errorText(toError(ended.error)) : 'finalize was not done';
  pass.log.error('finalize failed after deletion; external resources may be orphaned', { error: why, uid });
  return orphanOf(pass, `finalize failed after deletion of ${uid}: ${why}`);
}

/** Makes the orphan of an object that is gone, or may be. */
export function orphanOf({ identity, read }: Pass, reason: string): Orphan {
  const { resource } = identity.declaration;
  return { uid: read.metadata.uid ?? '', reason, object: formatOrphan(resource, read) };
}
