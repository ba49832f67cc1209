// Who sent a message, and what a sender may say. SQS writes the sender of each message (`SenderId`), and a sender
// cannot choose it: `AROA…:session` for a role, `AIDA…` for a user. The session name is the sender's own choice, so
// only the part before the colon is compared. The check is on when a function has the ids of the stack's roles.
// Emulated queues give every sender the same id, so they run without it.
import type { Message } from './message.ts';
import type { QueueRecord } from './record.ts';

/** The ids of the stack's roles, by the name of the function: `timers`, `resync`, `wake`, and controllers. */
export type RoleIds = ReadonlyMap<string, string>;

/** The reason of the dead letters of refused messages. */
export const senderReason = 'sender';
/** The message attribute in which the timers function writes the sender that SQS reported. */
export const senderAttribute = 'sender';
/** The message attribute in which the timers function writes since when it has not known the controller. */
export const unknownSinceAttribute = 'unknownSince';

/** What one controller's function knows about senders. */
export type ControllerSenders = {
  /** The ids of the function's own role, and of the roles of timers and resync. */
  readonly self: string;
  readonly timers: string;
  readonly resync: string;
  /** The id of the wake function's role; absent without one. */
  readonly wake?: string | undefined;
  /** The ids of roles that may request a reconcile of any key, and nothing else (the option SENDERS). */
  readonly requesters: readonly string[];
};

/** The sender of a message: the id that SQS wrote, and the one that the timers function wrote. */
export type Sender = Pick<QueueRecord, 'senderId' | 'stampedSender'>;

/** What the clusters table says of a message's cluster and of its senders. */
export type NamedWatchers = {
  /** The ids of the watchers that the entry of the message's cluster names; undefined if it is unreadable. */
  readonly ofCluster: readonly string[] | undefined;
  /** The ids of the watchers that any entry names: they speak for the clusters that name them, and no other. */
  readonly ofAny: ReadonlySet<string>;
};

/** Returns the part of a SenderId that the sender cannot choose. */
export function roleIdOf(senderId: string | undefined): string {
  return senderId?.split(':', 1)[0] ?? '';
}

/**
 * Judges a message on a controller's queue. Returns it with only what its sender may say, or undefined if it is
 * refused.
 */
export function admitKey(
  message: Message,
  { senderId, stampedSender }: Sender,
  { self, timers, resync, wake, requesters }: ControllerSenders,
  watchers: NamedWatchers,
): Message | undefined {
  const sender = roleIdOf(senderId);
  const { type } = message.cause;
  if (sender === timers) {
    if (type === 'wake') return wake !== undefined && stampedSender === wake ? withoutDueTime(message) : undefined;
    if (type !== 'requeue' && type !== 'retry' && type !== 'resync') return undefined;
    // The timers function of the version before this one writes no sender.
    if (stampedSender === undefined || stampedSender === self || stampedSender === resync) return message;
    return type === 'resync' && maySpeakFor(stampedSender, watchers) ? withoutDueTime(message) : undefined;
  }
  // The keys that the controller's mapping function returned.
  if (sender === self) return type === 'change' || type === 'resync' ? withoutDueTime(message) : undefined;
  const requests = type === 'command' || type === 'wake';
  if (sender === wake) return type === 'wake' ? withoutDueTime(message) : undefined;
  if (requesters.includes(sender)) return requests ? withoutDueTime(message) : undefined;
  if (requests) return watchers.ofAny.has(sender) ? undefined : withoutDueTime(message);
  if (type !== 'change' && type !== 'resync') return undefined;
  return maySpeakFor(sender, watchers) ? withoutDueTime(message) : undefined;
}

/** A sender of the timers queue. Messages of an unknown sender are never merged with those of another one. */
export type TimerSender = { readonly id: string | undefined; readonly isStranger: boolean };

/**
 * Judges a message on the timers queue. Returns the sender to write on it, or undefined if it is refused. This function
 * has no clusters table. It only says who sent a message, and the controller's function admits that sender or not.
 */
export function admitTimer(
  { controller, cause }: Message,
  { senderId, stampedSender }: Sender,
  roles: RoleIds,
  { nowMs }: { readonly nowMs: number },
): TimerSender | undefined {
  const id = roleIdOf(senderId);
  const own = [...roles.values()];
  // One more hop. Any other sender could have written the attribute itself.
  if (id === roles.get('timers')) {
    return { id: stampedSender, isStranger: stampedSender !== undefined && !own.includes(stampedSender) };
  }
  if (id === roles.get('wake')) {
    return cause.type === 'wake' && cause.dueAt !== undefined ? { id, isStranger: false } : undefined;
  }
  if (id === roles.get('resync')) return cause.type === 'resync' ? { id, isStranger: false } : undefined;
  const isFollowUp = cause.type === 'requeue' || cause.type === 'retry';
  if (own.includes(id)) return isFollowUp && id === roles.get(controller) ? { id, isStranger: false } : undefined;
  // A later version has added the controller, or has removed its role. The controller's function knows its own role.
  if (isFollowUp && !roles.has(controller)) return { id, isStranger: true };
  if (cause.type !== 'resync' || (cause.dueAt ?? 0) > nowMs / 1000 + longestPassSeconds + clockErrorSeconds)
    return undefined;
  return { id, isStranger: true };
}

/** The longest full pass of a watcher, which sends the keys of a longer one faster. */
export const longestPassSeconds = 172_800;
/** The due times are by the watcher's clock. */
const clockErrorSeconds = 3_600;

/**
 * Where an entry names no watchers, any sender may speak for the cluster, except for a watcher of other ones. An
 * unreadable entry stops no change.
 */
function maySpeakFor(sender: string, { ofCluster, ofAny }: NamedWatchers): boolean {
  if (ofCluster === undefined || ofCluster.includes(sender)) return true;
  return ofCluster.length === 0 && !ofAny.has(sender);
}

function withoutDueTime(message: Message): Message {
  const { cause } = message;
  if (cause.type !== 'resync' && cause.type !== 'wake') return message;
  const { dueAt: _, ...rest } = cause;
  return { ...message, cause: rest };
}

/**
 * Limits the copies of refused messages to a hundred a minute for each queue, so that they do not fill the dead-letter
 * queue. The others are only counted. Each environment of the function has its part of the limit.
 * @param monotonicMs a clock in milliseconds
 * @param concurrency the most environments of the function (maximumConcurrency of its event source mapping)
 */
export function createCopyLimit(monotonicMs: () => number, { concurrency }: { readonly concurrency: number }) {
  const mostCopies = Math.max(1, Math.floor(copiesPerMinute / concurrency));
  const windowMs = 60_000 * Math.max(1, concurrency / copiesPerMinute);
  let current = -1;
  let copies = 0;
  return (): boolean => {
    const now = Math.floor(monotonicMs() / windowMs);
    if (now !== current) copies = 0;
    current = now;
    copies += 1;
    return copies <= mostCopies;
  };
}

const copiesPerMinute = 100;
