// The message of a controller's queue: the key of an object, its controller, and the cause. It never carries the
// object's content. Format v1 is specified in docs/messages.md. A body is parsed once, where it enters a function.
import { hash } from 'node:crypto';
import * as z from 'zod';
import { collectionName, keyOf, type ReconcileKey } from '../core/key.ts';
import { deletedMark } from '../core/names.ts';
import { dnsLabel, formatBody, MessageError, milliseconds, parseBody, seconds, segment } from './body.ts';

/** The largest body, in bytes. AWS bills by 64 KB; the limit bounds the cost of a malformed message. */
export const maxMessageBytes = 4_096;
/** How many merged causes a message names. Their number is not limited. */
export const maxMergedCauses = 3;
/** How many strays a message names. Their number is not limited. */
const maxStrays = 4;

const count = z.int().min(0).max(1_000_000);
/** `<width in seconds>/<number>`: the cell of the due time (timers/slots.ts). */
const slot = z.string().max(40);
/** The object's generation when the message was sent. A reconcile of a later one supersedes it. Absent: not known. */
const generation = z.int().min(0).optional();
const id = z.string().max(128);
const logged = z.string().max(64);

/**
 * [group, resource, namespace, name] of the object that changed. Its kind is the controller's own, or one that the
 * controller maps to keys.
 */
const object = z.tuple([
  z
    .string()
    .max(253)
    .regex(/^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$/, 'must be an API group'),
  dnsLabel,
  z.union([dnsLabel, z.literal('')]),
  segment,
]);

// While a deployment runs, functions of two versions exchange messages. A version drops the fields that it does not
// know. A new field is therefore optional, and nothing may depend on it. A new cause, or a change that must not be
// dropped, needs another `v`, which is read one release before it is written.
const cause = z.discriminatedUnion('type', [
  /** A watch saw a change of the object, or of one that refers to it. */
  z.object({
    type: z.literal('change'),
    observedAt: milliseconds,
    /**
     * Of the object that changed. Absent where a mapping function made the key. For logs only: an aggregated API may
     * have longer ones.
     */
    uid: logged.optional().catch(undefined),
    resourceVersion: logged.optional().catch(undefined),
    deleted: z.literal(true).optional(),
    /** The object that changed, where it is another one than that of the key. For logs only. */
    object: object.optional().catch(undefined),
  }),
  /** The reconciler returned requeueAfterSeconds or requeueAt. */
  z.object({
    type: z.literal('requeue'),
    slot,
    dueAt: seconds,
    generation,
    /** The reconcile that asked for it failed: retries are on their way beside it, or have ended. */
    failed: z.literal(true).optional(),
  }),
  /** The last reconcile failed, or was postponed. */
  z.object({
    type: z.literal('retry'),
    /** When the change of the retried reconcile was observed. */
    observedAt: milliseconds,
    /** Reconciles that failed. */
    attempt: count,
    /** Times postponed since the last one that failed. A postponed reconcile costs no attempt. */
    postponements: count,
    /** How many of the postponements were conflicts. Absent: none. */
    conflicts: count.optional(),
    /** How often in a row the reconciler has asked to come back later. Absent: not. */
    later: count.optional(),
    slot,
    dueAt: seconds,
    generation,
    /** A command was postponed, and has not been reconciled yet. */
    command: z.literal(true).optional(),
  }),
  /** The periodic reconcile, or a change that no watcher forwarded. */
  z.object({
    type: z.literal('resync'),
    /** The scheduled time of the resync run, or the name of a watcher's full pass. */
    run: id,
    /** When the missed change was found. Absent for a periodic reconcile. */
    observedAt: milliseconds.optional(),
    /** Absent: immediately. */
    dueAt: seconds.optional(),
  }),
  /** An event outside of the cluster. */
  z.object({
    type: z.literal('wake'),
    observedAt: milliseconds,
    source: id,
    id,
    /** Where several events of a key came within a second, and for the keys after the first 1,000 of an event. */
    dueAt: seconds.optional(),
  }),
  /** A person requested it. The id is that of the dead letter that is sent again, or a nonce. */
  z.object({
    type: z.literal('command'),
    observedAt: milliseconds,
    id,
  }),
]);

const merged = z.object({ count: z.int().min(1), causes: z.array(cause).max(maxMergedCauses) });
const strays = z.object({ count: z.int().min(1), objects: z.array(object).max(maxStrays) });

/** Without a colon, so that two different keys are never formatted alike (formatReconcileKey). */
const keyName = segment.regex(/^[^:]*$/, 'must not contain a colon');

const schema = z.object({
  v: z.literal(1),
  controller: keyName,
  cluster: keyName,
  object,
  cause,
  // Without it, nothing is compared: an older version drops it.
  clusterUid: z.string().max(64).optional().catch(undefined),
  // For logs only: a message stays valid, even if a later version writes another format here.
  merged: merged.optional().catch(undefined),
  // A reader that drops it finds these children in the next periodic reconcile.
  strays: strays.optional().catch(undefined),
});

/** Why a message is sent. Reconcilers do not receive it. Only the causes that need attempts and due times have them. */
export type Cause = Readonly<z.output<typeof cause>>;
export type CauseType = Cause['type'];
/** A cause of one type. */
export type CauseOf<T extends CauseType> = Extract<Cause, { readonly type: T }>;

/**
 * The messages of the same key that were merged into this one: their number, and up to three of their causes. For logs
 * only.
 */
export type Merged = { readonly count: number; readonly causes: readonly Cause[] };

/**
 * The children that may have lost the labels by which a reconcile finds them: they left the watch, or are in it without
 * these labels. Most of them are deleted; a read decides. If there are more than it names, a list has to find them.
 */
export type Strays = { readonly count: number; readonly objects: readonly ObjectName[] };

/** [group, resource, namespace, name]; the namespace of a cluster-scoped object is `''`. */
export type ObjectName = readonly [group: string, resource: string, namespace: string, name: string];

/** A key on a queue: one object of one controller, with the cause of the reconcile. */
export type Message = ReconcileKey & {
  readonly cause: Cause;
  /** The uid of the namespace kube-system where a watcher saw the object; undefined if no watcher saw it. */
  readonly clusterUid?: string | undefined;
  readonly merged?: Merged | undefined;
  readonly strays?: Strays | undefined;
};

/** Reads a message's body. Throws MessageError, which names the field. */
export function parseMessage(body: string): Message {
  if (Buffer.byteLength(body) > maxMessageBytes) {
    throw new MessageError(`the body is longer than ${maxMessageBytes} bytes`);
  }
  const parsed = parseBody(schema, body);
  const { controller, cluster } = parsed;
  const [group, resource, namespace, name] = parsed.object;
  const key = { controller, cluster, group, resource, ...(namespace === '' ? {} : { namespace }), name };
  const { cause: why, clusterUid, merged: others, strays } = parsed;
  return {
    ...key,
    cause: why,
    ...(clusterUid === undefined ? {} : { clusterUid }),
    ...(others === undefined ? {} : { merged: others }),
    ...(strays === undefined ? {} : { strays }),
  };
}

/** Writes a message's body. Throws MessageError for a message that could not be read again. */
export function formatMessage({ merged: others, ...message }: Message): string {
  const { controller, cluster, group, resource, namespace = '', name, cause: why, clusterUid, strays } = message;
  const body = formatBody(schema, {
    v: 1,
    controller,
    cluster,
    object: [group, resource, namespace, name],
    cause: why,
    clusterUid,
    ...(others === undefined ? {} : { merged: limit(others) }),
    ...(strays === undefined ? {} : { strays: { count: strays.count, objects: strays.objects.map(copyOf) } }),
  });
  if (Buffer.byteLength(body) <= maxMessageBytes) return body;
  // Merged causes are only logged, so they are dropped first. Strays without their names are found by a list.
  if (others !== undefined) return formatMessage(message);
  if (strays !== undefined && strays.objects.length > 0)
    return formatMessage({ ...message, strays: { count: strays.count, objects: [] } });
  throw new MessageError(`the body is longer than ${maxMessageBytes} bytes`);
}

function copyOf(one: ObjectName): [...ObjectName] {
  return [...one];
}

/** Returns the key of a message, without its cause. */
export function keyOfMessage(key: ReconcileKey): ReconcileKey {
  const { controller, cluster, group, resource } = key;
  return { controller, cluster, group, resource, ...keyOf(key) };
}

/** Returns the key of a message, and the cluster that it was seen in: what a follow-up keeps of it. */
export function followedBy(message: Message): Omit<Message, 'cause' | 'merged' | 'strays'> {
  const { clusterUid } = message;
  return { ...keyOfMessage(message), ...(clusterUid === undefined ? {} : { clusterUid }) };
}

/** Returns whether a person requested the reconcile, which may have been postponed since. */
export function isCommand({ cause: why }: Message): boolean {
  return why.type === 'command' || (why.type === 'retry' && why.command === true);
}

/** Returns whether a failed reconcile asked for this one at a time of its own: it starts no retries. */
export function isOfFailure({ cause: why }: Message): boolean {
  return why.type === 'requeue' && why.failed === true;
}

/** What a retry counts (the fields of its cause). */
export type RetryCounts = Readonly<Record<'attempt' | 'postponements' | 'conflicts' | 'later', number>>;

/** Returns what a message counts: zeros if it is no retry. */
export function countsOf({ cause: why }: Message): RetryCounts {
  if (why.type !== 'retry') return { attempt: 0, postponements: 0, conflicts: 0, later: 0 };
  const { attempt, postponements, conflicts = 0, later = 0 } = why;
  return { attempt, postponements, conflicts, later };
}

/** Returns the number of failed reconciles so far. */
export function attemptOf(message: Message): number {
  return countsOf(message).attempt;
}

/** Whether a message waits for a time that a reconcile has chosen. */
export function isTimed(why: Cause): why is CauseOf<'requeue'> | CauseOf<'retry'> {
  return why.type === 'requeue' || why.type === 'retry';
}

/** Returns when a message is due, in seconds since 1970; undefined for a message without a due time. */
export function dueAtOf({ cause: why }: Message): number | undefined {
  return 'dueAt' in why ? why.dueAt : undefined;
}

/**
 * Returns when the cause of a message was observed, in milliseconds since 1970. Latency counts from here. For a requeue
 * it is the due time.
 */
export function observedAtOf({ cause: why }: Message): number {
  if (why.type === 'requeue') return why.dueAt * 1000;
  return why.observedAt ?? (why.type === 'resync' ? (why.dueAt ?? 0) * 1000 : 0);
}

/**
 * Describes a cause in one line for logs: its type, and the object, event or command behind it. It has names only, and
 * they are not yet safe to print.
 */
export function describeCause(why: Cause): string {
  const origin = originOf(why);
  return origin === undefined ? why.type : `${why.type} ${origin}`;
}

/** Names what is behind a cause: `deployments.apps/shop/web (deleted)`; undefined if it is the key's own object. */
export function originOf(why: Cause): string | undefined {
  if (why.type === 'wake') return `${why.source} ${why.id}`;
  if (why.type === 'command') return why.id;
  if (why.type !== 'change') return undefined;
  if (why.object === undefined) return why.deleted === true ? deletedMark : undefined;
  const [group, resource, namespace, name] = why.object;
  const kind = collectionName({ group, plural: resource });
  const text = [kind, ...(namespace === '' ? [] : [namespace]), name].join('/');
  return why.deleted === true ? `${text} ${deletedMark}` : text;
}

/**
 * Returns whether a reconcile looks for children without labels by a list: a periodic one, and one of more strays than
 * its message names.
 */
export function isThorough(message: Message): boolean {
  return isPeriodic(message.cause) || unnamedStrays(message) > 0;
}

/** Returns whether a resync run caused a reconcile without a missed change. A watcher's full pass has no time. */
export function isPeriodic(why: Cause): boolean {
  return why.type === 'resync' && why.observedAt === undefined && z.iso.datetime().safeParse(why.run).success;
}

/** Merges two messages of one key into the first one. */
export function withMerged(message: Message, other: Message): Message {
  const causes = [other.cause, ...(other.merged?.causes ?? []), ...(message.merged?.causes ?? [])];
  const merges = 1 + (other.merged?.count ?? 0) + (message.merged?.count ?? 0);
  return {
    ...message,
    merged: limit({ count: merges, causes }),
    ...withStrays([...(message.strays?.objects ?? []), ...(other.strays?.objects ?? [])], {
      unnamed: unnamedStrays(message) + unnamedStrays(other),
    }),
  };
}

/** Returns the field of a message that names strays; none without strays. An object is counted once. */
export function withStrays(
  objects: readonly ObjectName[],
  { unnamed = 0 }: { readonly unnamed?: number } = {},
): { readonly strays?: Strays } {
  const distinct = [...new Map(objects.map((one) => [one.join('/'), one])).values()];
  const total = distinct.length + unnamed;
  return total === 0 ? {} : { strays: { count: total, objects: distinct.slice(0, maxStrays) } };
}

/** Returns how many strays a message does not name. */
export function unnamedStrays({ strays: { count: all, objects } = { count: 0, objects: [] } }: Message): number {
  return Math.max(0, all - objects.length);
}

function limit({ count: merges, causes }: Merged): { count: number; causes: Cause[] } {
  return { count: merges, causes: causes.slice(0, maxMergedCauses) };
}

/**
 * Returns a hash of 64 hexadecimal characters, which is valid in every id of SQS. Parts are kept apart, whatever they
 * contain. The one-shot `hash` is used because a Hash object keeps half a kilobyte outside of the heap until it is
 * collected, for each of up to 100,000 keys.
 */
export function hashOf(...parts: readonly (string | number)[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
