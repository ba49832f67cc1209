// The entry of a batch: rejects the records that are not messages of this controller, and groups the others by key.
// Pure.
import { defaultRetry } from '../core/controller-options.ts';
import { formatReconcileKey } from '../core/key.ts';
import { MessageError } from '../sqs/body.ts';
import { groupIdOf } from '../sqs/deduplication.ts';
import {
  countsOf,
  dueAtOf,
  hashOf,
  isCommand,
  isOfFailure,
  keyOfMessage,
  type Message,
  observedAtOf,
  parseMessage,
  withMerged,
} from '../sqs/message.ts';
import type { QueueRecord } from '../sqs/record.ts';
import { senderReason } from '../sqs/senders.ts';
import { mayBePostponed } from './outcome.ts';

/** The records of one key, with their merged message. */
export type KeyGroup = {
  /** The key as text (formatReconcileKey). */
  readonly key: string;
  readonly message: Message;
  readonly records: readonly QueueRecord[];
  /** The last of them. */
  readonly last: QueueRecord;
  /** When the oldest of their causes was observed, in milliseconds since 1970. */
  readonly observedAt: number;
  /** The latest of their due times, in seconds since 1970. The next due time is later. */
  readonly afterDueAt: number | undefined;
  /** Received before: its last reconcile may have crashed the function, so it runs after the others. */
  readonly redelivered: boolean;
};

/** A record with its message, or with the error if its body is not one. */
export type ReadRecord =
  | { readonly record: QueueRecord; readonly message: Message; readonly error?: undefined }
  | { readonly record: QueueRecord; readonly message?: undefined; readonly error: MessageError };

/** A record that cannot be reconciled. `message` is set if its sender may not say it. */
export type RefusedRecord = { readonly record: QueueRecord; readonly reason: string; readonly message?: Message };

/** Returns the message with what its sender may say, or undefined if it is refused. */
export type Admit = (message: Message, record: QueueRecord) => Message | undefined;

/** What else decides whether a message is accepted. */
export type Acceptance = {
  /** Whether the controller declares the kind of a message. */
  readonly declares?: ((message: Message) => boolean) | undefined;
  readonly admit?: Admit | undefined;
  /** The controller's attempts. Default: those of a controller without its own. */
  readonly attempts?: number | undefined;
};

/** The most postponements that count: waits of 15 minutes for more than three months. */
const maxPostponements = 10_000;

/**
 * Returns whether a message of a kind that the controller does not declare is postponed: a watcher is upgraded before
 * the functions, and sends a full pass over a kind that they watch only then. Its keys read the objects as they are
 * later. Of other messages only those that were postponed before are postponed again.
 */
function mayBeDeclaredLater(message: Message): boolean {
  const isPostponed = countsOf(message).postponements > 0;
  return message.cause.type === 'resync' || (isPostponed && mayBePostponed('undeclared', message));
}

/** Returns what is said of a message of a kind that the controller does not declare. */
export function undeclaredReason(controller: string, { resource, group }: Message): string {
  return `${controller} declares no ${resource}.${group}`;
}

/** Reads the body of a record: the only time that it is parsed. */
export function readRecord(record: QueueRecord): ReadRecord {
  try {
    return { record, message: parseMessage(record.body) };
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    return { record, error };
  }
}

/** Groups the records of a batch by key. Those of a key are reconciled once, and share the outcome. */
export function groupRecords(
  controller: string,
  records: readonly ReadRecord[],
  { declares = () => true, admit = (message) => message, attempts = defaultRetry.attempts }: Acceptance = {},
): { readonly groups: readonly KeyGroup[]; readonly refused: readonly RefusedRecord[] } {
  const groups = new Map<string, KeyGroup>();
  const refused: RefusedRecord[] = [];
  const refusalOf = (parsed: Message, { groupId }: QueueRecord): string | undefined => {
    if (parsed.controller !== controller) return `the message is for controller ${parsed.controller}`;
    if (!declares(parsed) && !mayBeDeclaredLater(parsed)) return undeclaredReason(controller, parsed);
    // SQS delivers two groups at the same time, so such a message would be reconciled beside others of its key.
    if (groupId !== undefined && groupId !== groupIdOf(parsed)) return 'the message group is not that of its key';
    return undefined;
  };
  for (const { record, message: parsed, error } of records) {
    const reason = parsed === undefined ? error.message : refusalOf(parsed, record);
    if (reason !== undefined) refused.push({ record, reason });
    if (parsed === undefined || reason !== undefined) continue;
    const said = withinLimits(parsed, attempts);
    const message = admit(said, record);
    if (message === undefined) {
      refused.push({ record, reason: senderReason, message: said });
      continue;
    }
    const key = formatReconcileKey(keyOfMessage(message));
    const before = groups.get(key);
    // A key of a watcher's full pass says neither when it was observed nor when it is due.
    const observedAt = observedAtOf(message) || record.firstReceivedAt;
    groups.set(key, {
      key,
      message: before === undefined ? message : mergeMessages(before.message, message),
      records: [...(before?.records ?? []), record],
      last: record,
      observedAt: Math.min(before?.observedAt ?? observedAt, observedAt),
      afterDueAt: Math.max(before?.afterDueAt ?? 0, dueAtOf(message) ?? 0) || undefined,
      redelivered: (before?.redelivered ?? false) || record.receiveCount > 1,
    });
  }
  return { groups: [...groups.values()], refused };
}

/**
 * Orders redelivered groups, of which the first runs alone. The order of an odd receive count is the reverse of the
 * one before it, so that keys that were blocked by a crashing key run before it the next time. Every other pair of
 * receive counts has another order, for the case of two crashing keys.
 */
export function orderRedelivered(groups: readonly KeyGroup[]): readonly KeyGroup[] {
  const receipts = Math.max(0, ...groups.flatMap(({ records }) => records.map(({ receiveCount }) => receiveCount)));
  const pair = Math.floor(receipts / 2);
  const ordered = groups
    .map((keyGroup) => ({ keyGroup, position: hashOf(keyGroup.key, pair) }))
    .sort((one, other) => (one.position < other.position ? -1 : 1))
    .map(({ keyGroup }) => keyGroup);
  return receipts % 2 === 0 ? ordered : ordered.reverse();
}

/** Limits the counts of a retry: a sender may have written any number. */
function withinLimits(message: Message, attempts: number): Message {
  const { cause } = message;
  if (cause.type !== 'retry') return message;
  const counts = countsOf(message);
  const attempt = Math.min(counts.attempt, attempts - 1);
  const postponements = Math.min(counts.postponements, maxPostponements);
  const conflicts = Math.min(counts.conflicts, postponements);
  const later = Math.min(counts.later, maxPostponements);
  return { ...message, cause: { ...cause, attempt, postponements, conflicts, later } };
}

/**
 * Merges two messages of a key. The one with fewer attempts is kept, with the other one in `merged`. Of equal attempts
 * a command is kept, because its failure is always retried, and a resync only if both are resyncs: otherwise it would
 * be counted as one that found a missed change. Of conflicts and of waits of an outage, the fewest count, so a merged
 * message never makes the next wait longer.
 */
function mergeMessages(a: Message, b: Message): Message {
  // Two requeues say the same: the object is due. One of a former generation adds nothing but what it was merged with.
  if (a.cause.type === 'requeue' && b.cause.type === 'requeue' && (a.merged ?? a.strays) === undefined) {
    const later = (a.cause.generation ?? 0) - (b.cause.generation ?? 0);
    return later > 0 || (later === 0 && !isOfFailure(a)) ? a : b;
  }
  const isPreferred = isCommand(a) || (a.cause.type !== 'resync' && !isCommand(b));
  const [ofA, ofB] = [countsOf(a), countsOf(b)];
  // The requeue of a failed reconcile starts no retries, so it never stands for another message.
  const hasFewer = ofA.attempt < ofB.attempt || (ofA.attempt === ofB.attempt && isPreferred);
  const isFirst = isOfFailure(b) || (!isOfFailure(a) && hasFewer);
  const kept = isFirst ? withMerged(a, b) : withMerged(b, a);
  if (kept.cause.type !== 'retry') return kept;
  const conflicts = Math.min(ofA.conflicts, ofB.conflicts);
  const outageWaits = Math.min(ofA.postponements - ofA.conflicts, ofB.postponements - ofB.conflicts);
  const later = Math.min(ofA.later, ofB.later);
  return { ...kept, cause: { ...kept.cause, postponements: outageWaits + conflicts, conflicts, later } };
}
