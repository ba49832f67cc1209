// Observe: the read of the object, and what it needs. Most messages of a key that needs nothing end here.
import type { Kind } from '../../api/kind.ts';
import { pausedAnnotation } from '../../core/names.ts';
import { isSelected } from '../../core/selector.ts';
import { isMarked } from '../../kube/apply/finalizers.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { getObject } from '../../kube/client/read.ts';
import { type Cause, type CauseOf, isTimed, type Message } from '../../sqs/message.ts';
import type { Outcome } from '../outcome.ts';
import { createPrimaryObject } from '../primary-object.ts';
import type { ReconcileInput } from '../report.ts';
import type { Fields } from '../status/status.ts';
import type { StatusWriter } from '../status/status-writer.ts';
import type { Identity, Pass, Task } from './pass.ts';

/** The outcome of a message whose object needs nothing. */
type Nothing = Extract<Outcome, { readonly type: 'nothing' }>;

/** Reads the object of a message, and finds its task. Throws the errors of the read. */
export async function observe(identity: Identity, input: ReconcileInput): Promise<Pass | Nothing> {
  const { client, message, signal } = input;
  const nothing = (reason: Nothing['reason']): Nothing => ({ type: 'nothing', reason });
  const read = await getObject(client, identity.declaration.resource, message, { signal });
  if (read === undefined) return nothing('gone');
  if (read.metadata.annotations?.[pausedAnnotation] === 'true') return nothing('paused');
  const primary = createPrimaryObject(read, identity);
  const task = taskOf(identity, read);
  if (task === 'finalize' && !primary.hasFinalizer()) return nothing('no-finalizer');
  if (task === 'leave' && !isMarked(read, identity.marks)) return nothing('not-selected');
  const ownedBefore = primary.ownedStatus();
  const current = asOfNow(message, shownBy(identity.statusWriter, read.metadata.generation, ownedBefore));
  if (current === undefined) return nothing('superseded');
  return { ...input, type: 'pass', message: current, identity, task, read, ownedBefore, primary };
}

function taskOf({ declaration }: Identity, read: KubeObject): Task {
  if (read.metadata.deletionTimestamp !== undefined) return 'finalize';
  return isSelected(declaration.selector, read) ? 'reconcile' : 'leave';
}

/** The generation of an object, the one that its status shows as observed, and whether it shows a failure of it. */
type Shown = { readonly now: number; readonly observed: number | undefined; readonly isFailing: boolean };

/** Undefined for a kind whose status does not show what was observed: our own writes may raise its generation. */
function shownBy(writer: StatusWriter, now: number | undefined, owned: Fields): Shown | undefined {
  if (!writer.showsObserved || now === undefined) return undefined;
  return { now, observed: writer.observed(owned), isFailing: writer.isFailing(owned) };
}

/**
 * Returns a message from the timers as it is for the object of now. A reconcile of a later generation has decided anew
 * what follows, so a retry or a requeue of an earlier one is superseded (undefined). Without this an object that is
 * edited while it fails would have a chain of retries for each edit. If the later generation was not reconciled yet,
 * the message reconciles it, with all attempts. So does one whose strays no reconcile has looked for, and the requeue
 * of a failure that is over. Pure.
 */
export function asOfNow(message: Message, shown: Shown | undefined): Message | undefined {
  const { cause, merged } = message;
  if (shown === undefined || !isTimed(cause)) return message;
  if (!isOfEarlier(cause, shown)) {
    const isOver = cause.type === 'requeue' && shown.observed === shown.now && !shown.isFailing;
    return isOver ? { ...message, cause: asFirstAttempt(cause) } : message;
  }
  // What was merged into it counts as well. Not all of many causes are named.
  const others = merged?.causes ?? [];
  const isAll = others.length === (merged?.count ?? 0) && others.every((one) => isOfEarlier(one, shown));
  const isDone = isAll && message.strays === undefined;
  if (isDone && (shown.observed ?? 0) >= shown.now) return undefined;
  return { ...message, cause: asFirstAttempt(cause) };
}

function isOfEarlier(cause: Cause, { now }: Shown): boolean {
  return isTimed(cause) && cause.generation !== undefined && cause.generation < now;
}

function asFirstAttempt(cause: CauseOf<'requeue'> | CauseOf<'retry'>): Cause {
  if (cause.type === 'requeue') return { ...cause, failed: undefined };
  return { ...cause, attempt: 0, postponements: 0, conflicts: undefined, later: undefined };
}

/**
 * Returns an error if a message names a namespace for a cluster-scoped kind, or none for a namespaced kind. Either the
 * kind had another scope when the message was sent, and the object is gone, or the declaration is wrong or too old.
 */
export function scopeMismatch({ plural, namespaced }: Kind, { namespace }: Message): Error | undefined {
  if (namespaced === (namespace !== undefined)) return undefined;
  const said = namespaced ? 'namespaced, and this key has no' : 'cluster-scoped, and this key has a';
  return new Error(
    `scope: ${plural} are declared ${said} namespace; correct the scope of the kind, or delete a key of a former scope`,
  );
}
