// The two ids of a message on a FIFO queue: its group, and its deduplication id, which decides when two messages are
// the same message. SQS drops an id for 5 minutes after its first accepted send, even if that message was consumed. An
// id therefore changes with every change, and stays the same for a repetition. AWS compares ids within the group,
// emulators within the queue. The key is part of every id, so both are correct. All of them are hashes of 64
// characters.
import { createHmac } from 'node:crypto';
import { mostPostponements } from '../core/backoff.ts';
import { formatReconcileKey, type ReconcileKey } from '../core/key.ts';
import { type CauseOf, hashOf, type ObjectName } from './message.ts';

/** For how many seconds SQS drops a deduplication id. */
export const deduplicationSeconds = 300;

/** Of cells from this width on, in seconds, the messages meet at the beginning (timers/slots.ts). */
const wideSeconds = 240;

/** Returns whether a slot's cell is so wide that SQS may have forgotten an id of its beginning at its end. */
export function isWideSlot(slot: string): boolean {
  return Number(slot.split('/')[0]) >= wideSeconds;
}

/** One observed version of an object. */
export type ChangeSource = {
  readonly uid: string;
  /** Of a deletion: the version of the deletion, or that of the list without the object. */
  readonly resourceVersion: string;
  readonly gone?: boolean;
  /** The object, where it is another one than that of the key. It is no part of any id. */
  readonly object?: ObjectName;
  /** Whether it may be a child that has lost its labels (Strays). It is no part of any id. */
  readonly isStray?: boolean;
  /**
   * The restore from which versions count; absent if the cluster was never restored. After a restore the same version
   * is another change.
   */
  readonly restoreGeneration?: string;
};

/**
 * Makes the group id of a key: its readable form if SQS accepts it, else its hash. It is never truncated, as two
 * objects could collide. SQS delivers one message of a group at a time, so that no object is reconciled twice at once.
 * The id is readable, because operators see it in the SQS console. It must never change for an existing queue: messages
 * of one object under the old and the new id would run in parallel.
 */
export function groupIdOf(key: ReconcileKey): string {
  const readable = formatReconcileKey(key);
  return validGroupId.test(readable) ? readable : hashOf(...keyParts(key));
}

/** Returns the parts that identify a key, for a hash. */
function keyParts({ controller, cluster, group, resource, namespace, name }: ReconcileKey): readonly string[] {
  return [controller, cluster, group, resource, namespace ?? '', name];
}

/**
 * Makes the id of a change. All replicas make the same one. The sources that were merged into the message count in any
 * order.
 */
export function watchId(key: ReconcileKey, sources: readonly ChangeSource[]): string {
  const hashes = sources.map(({ uid, resourceVersion, gone = false, restoreGeneration }) =>
    hashOf(uid, gone ? 'gone' : '', resourceVersion, ...(restoreGeneration === undefined ? [] : [restoreGeneration])),
  );
  return hashOf('change', ...keyParts(key), ...new Set(hashes.sort()));
}

/** Makes the id of a replay. `source` is the id of the message that is sent again, or a nonce. */
export function replayId(key: ReconcileKey, { source }: { readonly source: string }): string {
  return hashOf('command', ...keyParts(key), source);
}

/** Makes the id of a wake: one for each key and event, however often the event is delivered. */
export function wakeId(key: ReconcileKey, { event }: { readonly event: string }): string {
  return hashOf('wake', ...keyParts(key), event);
}

/** The ids that only functions make. */
export type FunctionIds = {
  /**
   * Makes the id of a requeue: one for each time, or for each cell of due times where SQS remembers it for the whole
   * cell, so that many requests become one message. The generation is part of it, because a message of an earlier one
   * may be superseded, and must not stand for this one, nor one of a failed reconcile for that of another.
   */
  requeue(key: ReconcileKey, cause: Pick<CauseOf<'requeue'>, 'slot' | 'dueAt' | 'generation' | 'failed'>): string;
  /**
   * Makes the id of a retry, postponed or not. Where the wait no longer grows, all postponed messages of a key that are
   * due at the same time are one.
   */
  retry(key: ReconcileKey, cause: Omit<CauseOf<'retry'>, 'type' | 'observedAt'>): string;
  /**
   * Makes the id of a resync message. `run` is the scheduled time of the resync run, or a nonce for a full pass of a
   * watcher.
   */
  resync(key: ReconcileKey, cause: { readonly run: string }): string;
  /** Makes the id of the wakes of a key that are due at the same time. */
  wake(key: ReconcileKey, cause: { readonly dueAt: number }): string;
  /** Makes the id of a mapped key: one for each key and message, however often the message is received. */
  mapped(key: ReconcileKey, source: { readonly messageId: string }): string;
  /** Makes the id of the message that follows when an object was held: one for each message. */
  held(key: ReconcileKey, source: { readonly messageId: string }): string;
};

/**
 * Makes the ids that only functions make. SQS silently drops a message whose id was used before, so a watcher that
 * could calculate the id of the next requeue could suppress it for 5 minutes. With a secret the ids are an HMAC that
 * watchers cannot calculate. Functions of two versions make different ids at worst, which costs a repeated reconcile.
 * @param secret of the deployment; absent: the ids are hashes of public facts
 */
export function createFunctionIds(secret?: string): FunctionIds {
  const idOf = (...parts: readonly (string | number)[]) =>
    secret === undefined ? hashOf(...parts) : createHmac('sha256', secret).update(JSON.stringify(parts)).digest('hex');
  return {
    requeue: (key, { slot, dueAt, generation = '', failed }) =>
      idOf(
        ...['requeue', ...keyParts(key), isWideSlot(slot) ? dueAt : slot, generation],
        ...(failed === true ? ['failed'] : []),
      ),
    retry: (key, { attempt, postponements, slot, dueAt, generation = '', command }) =>
      idOf(
        ...['retry', ...keyParts(key), attempt, Math.min(postponements, mostPostponements), slot, dueAt, generation],
        // A retry of a change would stand for it, which is not retried if the object is Stalled.
        ...(command === true ? ['command'] : []),
      ),
    resync: (key, { run }) => idOf('resync', ...keyParts(key), run),
    wake: (key, { dueAt }) => idOf('wake', ...keyParts(key), dueAt),
    mapped: (key, { messageId }) => idOf('mapped', ...keyParts(key), messageId),
    held: (key, { messageId }) => idOf('held', ...keyParts(key), messageId),
  };
}

/** Printable ASCII without the space, at most 128 characters (SQS SendMessage, MessageGroupId). */
const validGroupId = /^[!-~]{1,128}$/;
