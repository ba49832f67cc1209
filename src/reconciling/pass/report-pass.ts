// The report of a pass: what the message, the log and the metrics need to know of it.
import type { KubeObject } from '../../kube/client/object.ts';
import type { Message } from '../../sqs/message.ts';
import type { Outcome } from '../outcome.ts';
import type { ReconcileReport } from '../report.ts';
import type { Progress } from './pass.ts';

/** Makes the report of a pass. There is none if the object could not be read, or needed nothing. */
export function reportPass(outcome: Outcome, { pass, called }: Progress): ReconcileReport {
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

/**
 * Returns whether a reconcile follows a write of the controller itself: its only causes are changes of the object, and
 * the last write to the object, by its managed fields, is the controller's. Of writes in one second the last one is not
 * known. A controller that then writes again never ends; the watcher's rate limit slows it down.
 */
export function followsOwnWrite(
  { cause, merged }: Pick<Message, 'cause' | 'merged'>,
  { metadata: { managedFields = [], deletionTimestamp = '' } }: KubeObject,
  fieldManager: string,
): boolean {
  if (![cause, ...(merged?.causes ?? [])].every((one) => one.type === 'change' && one.object === undefined))
    return false;
  const timesOf = (isOwn: boolean) => {
    const entries = managedFields.filter(({ manager }) => (manager === fieldManager) === isOwn);
    return entries.map(({ time = '' }) => Date.parse(time)).filter(Number.isFinite);
  };
  // A deletion has no entry.
  const deletedMs = Date.parse(deletionTimestamp) || 0;
  return Math.max(...timesOf(true)) > Math.max(deletedMs, ...timesOf(false));
}
