// Decides what happens to a message after its reconcile: delete it, send a timer, or send a dead letter. One pure
// function.
import {
  backoffSeconds,
  conflictBackoff,
  laterBackoffOf,
  retryBackoffOf,
  unreachableBackoff,
} from '../core/backoff.ts';
import { defaultRetry, type RetryPolicy } from '../core/controller-options.ts';
import { errorText, RetryLater } from '../core/errors.ts';
import { formatReconcileKey } from '../core/key.ts';
import { ApiError } from '../kube/client/errors.ts';
import { deduplicationSeconds } from '../sqs/deduplication.ts';
import {
  attemptOf,
  countsOf,
  dueAtOf,
  followedBy,
  hashOf,
  isCommand,
  isOfFailure,
  keyOfMessage,
  type Message,
  observedAtOf,
  type RetryCounts,
} from '../sqs/message.ts';
import { earlySeconds, nextSlot, type Slot, slotAt } from '../timers/slots.ts';

/** When the object is reconciled again, whatever becomes of retries. Neither: not by a requeue. */
export type Next = {
  readonly requeueAfterSeconds?: number | undefined;
  readonly requeueAt?: Date | undefined;
};

/** The outcome of a reconcile. */
export type Outcome =
  | ({ readonly type: 'done' } & Next)
  /**
   * There was nothing to reconcile. `held`: the object has got its finalizer, and is reconciled by the next message.
   * `no-finalizer`: the object is being deleted, and has no finalizer of the controller. `not-selected`: the
   * controller's selector does not match it, and the controller holds nothing of it. `superseded`: a reconcile of a
   * later generation has decided what follows. `decommissioning`: its cluster is being given up.
   */
  | {
      readonly type: 'nothing';
      readonly reason:
        | 'gone'
        | 'namespace-terminating'
        | 'paused'
        | 'held'
        | 'no-finalizer'
        | 'not-selected'
        | 'superseded'
        | 'decommissioning';
    }
  | ({ readonly type: 'failed'; readonly error: Error; readonly stalledBefore: boolean } & Next)
  /** Not retried. The next change or the periodic reconcile comes next. */
  | ({ readonly type: 'terminal'; readonly error: Error } & Next)
  /** The message does not fit the controller's kinds, or names a cluster that is not in the table. */
  | { readonly type: 'refused'; readonly error: Error }
  | ({ readonly type: 'postponed'; readonly reason: PostponedReason; readonly error: Error } & Next);

type Postponed = Extract<Outcome, { readonly type: 'postponed' }>;

/** Makes the outcome of a failure of an object that was not Stalled before, as far as is known. */
export function failed(error: Error): Outcome {
  return { type: 'failed', error, stalledBefore: false };
}

/** Makes the outcome of a cluster that cannot be called. */
export function unreachable(error: Error): Outcome {
  return { type: 'postponed', reason: 'unreachable', error };
}

/** What follows a message. It is deleted after SQS has accepted all of this. */
export type FollowUp = {
  /** To the controller's queue, at once. */
  readonly again: Message | undefined;
  /** To the timers queue. */
  readonly timers: readonly Message[];
  /** The reason of a dead letter. */
  readonly deadLetter: string | undefined;
};

/**
 * Returns whether a failed reconcile is not retried. An object that was Stalled before gets no retries, until its
 * generation changes. A retry of such an object goes on: another message of the key, a forged one included, may have
 * set Stalled by its last attempt. So does a command, also one that was postponed: a redrive has deleted the dead
 * letter, and another has to follow.
 */
export function isLastTry(message: Message, stalledBefore: boolean, retry: RetryPolicy): boolean {
  return isLastAttempt(message, retry) || (stalledBefore && !goesOn(message));
}

function goesOn(message: Message): boolean {
  return attemptOf(message) > 0 || isCommand(message);
}

/** Returns whether this is the message's last attempt. */
function isLastAttempt(message: Message, { attempts }: RetryPolicy): boolean {
  return attemptOf(message) + 1 >= attempts;
}

/** Why a key is postponed, and how often it is for this reason. Infinity: as long as it lasts. */
const mostPostponements = {
  unreachable: Number.POSITIVE_INFINITY,
  /** The cluster responds, but is throttled for now. */
  slow: Number.POSITIVE_INFINITY,
  /** An operator paused the cluster. */
  paused: Number.POSITIVE_INFINITY,
  /** The author's code asks to come back later (RetryLater). */
  later: Number.POSITIVE_INFINITY,
  /** Fresh reads do not help then, for example because an admission webhook returns 409. */
  conflict: 5,
  /**
   * The namespace of children is being deleted, and is not the object's own. About half an hour: with ten attempts a
   * namespace that does not end is a dead letter after five hours, before the periodic reconcile begins again.
   */
  'child-namespace-terminating': 12,
  /** The clusters table has no such entry. About a day, as for the next two: a watcher is upgraded before functions. */
  'unknown-cluster': 100,
  /** The entry is one of another cluster than that of the key. */
  'other-cluster': 100,
  /** The controller does not declare the kind, or not yet. */
  undeclared: 100,
};
export type PostponedReason = keyof typeof mostPostponements;

/** Returns whether a key may be postponed (again) for a reason. */
export function mayBePostponed(reason: PostponedReason, message: Message): boolean {
  const { postponements, conflicts } = countsOf(message);
  return (reason === 'conflict' ? conflicts : postponements) < mostPostponements[reason];
}

/** Returns a failure for what lasts too long: it would be postponed for ever, without a dead letter. */
export function limitPostponed(outcome: Outcome, message: Message): Outcome {
  return outcome.type !== 'postponed' || mayBePostponed(outcome.reason, message) ? outcome : failed(outcome.error);
}

/**
 * Returns whether a message is postponed (again) because the namespace of children is being deleted. Of an object that
 * was Stalled before, the end of the namespace or the periodic reconcile is the next attempt.
 */
export function waitsForNamespace(message: Message, stalledBefore: boolean): boolean {
  return mayBePostponed('child-namespace-terminating', message) && (!stalledBefore || goesOn(message));
}

/** The shortest delay of a retry whose last attempt ignored its signal. The first wait may be half of it. */
const ignoredSignalRetrySeconds = 20;

/** For how long SQS may remember the id of a message that was sent before it was due. */
const rememberedSeconds = deduplicationSeconds + 60;

/** The longest wait after a `requeueAt` that has passed. */
const maxLateSeconds = 300;

/** What a follow-up depends on besides the outcome and the message. */
export type Circumstances = {
  /** By the clock of SQS, in milliseconds since 1970. */
  readonly nowMs: number;
  /** When the first cause was observed, in milliseconds since 1970. Default: that of the message. */
  readonly observedAt?: number;
  /** The latest due time of the merged messages, in seconds. Default: that of the message. */
  readonly afterDueAt?: number | undefined;
  /** The retries of the controller. */
  readonly retry?: RetryPolicy | undefined;
  /** The object's generation, as it was read. */
  readonly generation?: number | undefined;
  /** The reconciler ignored its signal, and its process has not ended yet. */
  readonly isRunning?: boolean | undefined;
};

/** Decides what follows a message. Pure. */
export function decide(outcome: Outcome, message: Message, circumstances: Circumstances): FollowUp {
  const { retry: policy = defaultRetry } = circumstances;
  // The requeue of a reconcile that failed: its own retries go on, or have ended, so it does not start others.
  const ofFailure = outcome.type === 'failed' || outcome.type === 'postponed' ? true : undefined;
  const time = timesOf(message, circumstances, ofFailure);
  switch (outcome.type) {
    case 'done':
    case 'terminal':
      return timers(requeueOf(outcome, time) ?? time.finish());
    case 'nothing':
      return outcome.reason === 'held' ? afterHold(message, time) : timers(time.finish());
    case 'refused':
      return { ...timers(), deadLetter: errorText(outcome.error) };
    case 'failed': {
      const requeue = requeueOf(outcome, time);
      // The last attempt itself sets Stalled. Its function may have crashed before it sent the dead letter, so it is
      // sent (again).
      if (isLastAttempt(message, policy))
        return { ...timers(requeue), deadLetter: `retries exhausted after ${policy.attempts} attempts` };
      if (isLastTry(message, outcome.stalledBefore, policy)) return timers(requeue);
      if (requeue !== undefined && isOfFailure(message)) return timers(requeue);
      const attempt = attemptOf(message) + 1;
      const delaySeconds = backoffSeconds(retryBackoffOf(policy), attempt, fractionOf(message, attempt));
      return timers(time.retry({ attempt, postponements: 0, conflicts: 0, later: 0 }, delaySeconds), requeue);
    }
    case 'postponed': {
      const requeue = requeueOf(outcome, time);
      const isBeside = requeue !== undefined && isOfFailure(message);
      return timers(isBeside ? undefined : postpone(outcome, message, time), requeue);
    }
  }
}

function timers(...messages: readonly (Message | undefined)[]): FollowUp {
  return { again: undefined, timers: messages.filter((one) => one !== undefined), deadLetter: undefined };
}

/** A function may send a change or a resync to its own queue. A command and a retry come by the timers as a retry. */
function afterHold(message: Message, time: Times): FollowUp {
  const { cause, strays } = message;
  if (cause.type === 'command' || cause.type === 'retry') return timers(time.retry(countsOf(message), 1));
  const change = { type: 'change', observedAt: time.observedAt } as const;
  const again = cause.type === 'resync' ? { ...cause, dueAt: undefined } : change;
  return { ...timers(), again: { ...followedBy(message), strays, cause: again } };
}

type Times = ReturnType<typeof timesOf>;

/** Makes the messages of a key at later times. */
function timesOf(message: Message, circumstances: Circumstances, ofFailure: true | undefined) {
  const { nowMs, generation, isRunning = false } = circumstances;
  const { observedAt = observedAtOf(message), afterDueAt = dueAtOf(message) } = circumstances;
  const key = formatReconcileKey(keyOfMessage(message));
  // A message is received when it is due, or minutes early if the clock of timers is wrong. A later due time is forged,
  // and does not delay the next one.
  const isKnown = afterDueAt !== undefined && afterDueAt <= nowMs / 1000 + rememberedSeconds;
  const after = isKnown ? afterDueAt : undefined;
  const requeue = (slot: Slot): Message => {
    return { ...followedBy(message), cause: { type: 'requeue', ...slot, generation, failed: ofFailure } };
  };
  return {
    nowMs,
    observedAt,
    requeueIn: (seconds: number) =>
      requeue(nextSlot({ key, delaySeconds: Math.max(1, Math.round(seconds)), nowMs, afterDueAt: after })),
    requeueAt: (atMs: number) => requeue(slotAt({ key, atMs, nowMs, afterDueAt: after })),
    /** Only the key, its strays and the counts are kept. The details of the change are dropped. */
    retry: ({ attempt, postponements, conflicts, later }: RetryCounts, usualSeconds: number): Message => {
      // Not before the process of a reconciler that ignored its signal has ended.
      const delaySeconds = isRunning ? Math.max(ignoredSignalRetrySeconds, usualSeconds) : usualSeconds;
      const slot = nextSlot({ key, delaySeconds, nowMs, afterDueAt: after });
      const command = attempt === 0 && isCommand(message) ? true : undefined;
      // A count of zero is left out.
      const counts = { attempt, postponements, conflicts: conflicts || undefined, later: later || undefined };
      const cause = { type: 'retry', observedAt, ...counts, ...slot, generation, command } as const;
      return { ...followedBy(message), cause, strays: message.strays };
    },
    // Until a message that was received early is due, SQS drops others of its cell: a requeue that a later reconcile
    // requests for that time would be lost. So the key is reconciled once more when the time has passed.
    finish: () =>
      after !== undefined && after > nowMs / 1000 + earlySeconds
        ? requeue(slotAt({ key, atMs: after * 1000, nowMs, afterDueAt: after }))
        : undefined,
  };
}

function requeueOf({ requeueAfterSeconds, requeueAt }: Next, time: Times): Message | undefined {
  if (requeueAt === undefined)
    return requeueAfterSeconds === undefined ? undefined : time.requeueIn(requeueAfterSeconds);
  const atMs = requeueAt.getTime();
  if (atMs > time.nowMs) return time.requeueAt(atMs);
  // A time that has passed is not returned in a loop: the wait grows with its age.
  return time.requeueIn(Math.min((time.nowMs - atMs) / 1000, maxLateSeconds));
}

function postpone({ reason, error }: Postponed, message: Message, time: Times): Message {
  const counts = countsOf(message);
  const { postponements, conflicts } = counts;
  if (error instanceof RetryLater) {
    const later = counts.later + 1;
    const delaySeconds = backoffSeconds(laterBackoffOf(error.seconds), later, fractionOf(message, later));
    return time.retry({ ...counts, later }, delaySeconds);
  }
  // A slow cluster responds: its keys are retried soon, and the wait does not grow.
  const times = postponements + (reason === 'slow' ? 0 : 1);
  const isConflict = reason === 'conflict';
  // The waits of conflicts and those of an outage grow apart.
  const growth = isConflict ? conflicts + 1 : times - conflicts;
  const backoff = isConflict ? conflictBackoff : unreachableBackoff;
  const delaySeconds = backoffSeconds(backoff, reason === 'slow' ? 1 : growth, fractionOf(message, times));
  const more = isConflict ? { postponements: times, conflicts: conflicts + 1 } : { postponements: times };
  // Twice as long as the server asks for: the first wait may be half of it.
  return time.retry({ ...counts, ...more }, Math.max(delaySeconds, 2 * retryAfterSeconds(error)));
}

/** Returns the Retry-After of a response, in seconds; at most the longest wait for an unreachable cluster. */
function retryAfterSeconds(error: Error): number {
  return error instanceof ApiError ? Math.min(error.retryAfterSeconds ?? 0, unreachableBackoff.maxSeconds) : 0;
}

/** The jitter of a key, in [0, 1). */
function fractionOf(message: Message, count: number): number {
  return Number.parseInt(hashOf(formatReconcileKey(keyOfMessage(message)), count).slice(0, 8), 16) / 2 ** 32;
}
