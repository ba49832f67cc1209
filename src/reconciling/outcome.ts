// Decides what happens to a message after its reconcile: delete it, send a timer, or send a dead letter. One pure
// function.
import { backoffSeconds, conflictBackoff, retryBackoffOf, unreachableBackoff } from '../core/backoff.ts';
import { defaultRetry, type RetryPolicy } from '../core/controller-options.ts';
import { formatReconcileKey } from '../core/key.ts';
import { ApiError } from '../kube/client/errors.ts';
import { deduplicationSeconds } from '../sqs/deduplication.ts';
import {
  attemptOf,
  type CauseOf,
  conflictsOf,
  dueAtOf,
  hashOf,
  isCommand,
  keyOfMessage,
  type Message,
  observedAtOf,
  postponementsOf,
} from '../sqs/message.ts';
import { earlySeconds, nextSlot, type Slot, slotAt } from '../timers/slots.ts';

/** The outcome of a reconcile. */
export type Outcome =
  | {
      readonly type: 'done';
      readonly requeueAfterSeconds?: number | undefined;
      readonly requeueAt?: Date | undefined;
    }
  /**
   * There was nothing to reconcile. `no-finalizer`: the object is being deleted, and has no finalizer of the
   * controller. `not-selected`: the controller's selector does not match it, and the controller holds nothing of it.
   */
  | {
      readonly type: 'nothing';
      readonly reason: 'gone' | 'namespace-terminating' | 'paused' | 'no-finalizer' | 'not-selected';
    }
  | { readonly type: 'failed'; readonly error: Error; readonly stalledBefore: boolean }
  /** Not retried until the object changes. */
  | { readonly type: 'terminal'; readonly error: Error }
  /**
   * The message does not fit the controller's kinds. With an orphan (JSON): the object is gone, and its finalize was
   * not completed.
   */
  | { readonly type: 'refused'; readonly error: Error; readonly orphan?: string }
  /**
   * `slow`: the cluster responds, but is throttled for now. `paused`: an operator paused the cluster. `undeclared`:
   * the controller does not declare the kind, or not yet. `child-namespace-terminating`: the namespace of children is
   * being deleted, and is not the object's own. With an orphan (JSON): the object may be gone, and its
   * finalize was not called. If it exists, the retry reconciles it. With `unverifiedUid`: the object got its finalizer,
   * and no response after that has shown that it exists. The retry finds out.
   */
  | {
      readonly type: 'postponed';
      readonly reason: 'unreachable' | 'slow' | 'conflict' | 'paused' | 'undeclared' | 'child-namespace-terminating';
      readonly error: Error;
      readonly orphan?: string;
      readonly unverifiedUid?: string | undefined;
    };

/** Returns in how many seconds an outcome requests the next reconcile; undefined: not by a requeue. */
export function requeueSeconds(outcome: Outcome, now: Date): number | undefined {
  const { requeueAfterSeconds, requeueAt } = outcome.type === 'done' ? outcome : {};
  return requeueAt === undefined ? requeueAfterSeconds : (requeueAt.getTime() - now.getTime()) / 1000;
}

/** The follow-up of a message. The message is deleted after its follow-up was sent. */
export type Action =
  | { readonly type: 'delete' }
  /** Send this message to the timers queue. */
  | { readonly type: 'timer'; readonly message: Message }
  | { readonly type: 'dead-letter'; readonly reason: string };

/**
 * Returns whether a failed reconcile is not retried. An object that was Stalled before gets no retries, until its
 * generation changes. A retry of such an object goes on: another message of the key, a forged one included, may have
 * set Stalled by its last attempt. So does a command, also one that was postponed: a redrive has deleted the dead
 * letter, and another has to follow.
 */
export function isLastTry(
  message: Message,
  { stalledBefore }: { readonly stalledBefore: boolean },
  retry: RetryPolicy = defaultRetry,
): boolean {
  return isLastAttempt(message, retry) || (stalledBefore && !goesOn(message));
}

function goesOn(message: Message): boolean {
  return attemptOf(message) > 0 || isCommand(message);
}

/** Returns whether this is the message's last attempt. */
function isLastAttempt(message: Message, { attempts }: RetryPolicy): boolean {
  return attemptOf(message) + 1 >= attempts;
}

/** How often a key is postponed because of a conflict, before that counts as a failed attempt. */
const maxConflicts = 5;

/**
 * Returns a failure for a conflict that lasts: fresh reads do not help, for example because an admission webhook
 * returns 409. Other outcomes are unchanged. A key would otherwise be postponed for ever, without a dead letter.
 */
export function limitConflicts(outcome: Outcome, message: Message): Outcome {
  const isLasting = outcome.type === 'postponed' && outcome.reason === 'conflict';
  if (!isLasting || conflictsOf(message) < maxConflicts) return outcome;
  return { type: 'failed', error: outcome.error, stalledBefore: false };
}

/**
 * How often a key is postponed because the namespace of children is being deleted, before that counts as a failed
 * attempt: about half an hour. With ten attempts a namespace that does not end is a dead letter after five hours,
 * before the periodic reconcile begins with a first attempt again.
 */
const maxNamespacePostponements = 12;

/**
 * Returns whether a message is postponed (again) because the namespace of children is being deleted. Of an object that
 * was Stalled before, the end of the namespace or the periodic reconcile is the next attempt.
 */
export function waitsForNamespace(message: Message, { stalledBefore }: { readonly stalledBefore: boolean }): boolean {
  return postponementsOf(message) < maxNamespacePostponements && (!stalledBefore || goesOn(message));
}

/** The shortest delay of a retry whose last attempt ignored its signal. The first wait may be half of it. */
const ignoredSignalRetrySeconds = 20;

/** For how long SQS may remember the id of a message that was sent before it was due. */
const rememberedSeconds = deduplicationSeconds + 60;

/** The longest wait after a `requeueAt` that has passed. */
const maxLateSeconds = 300;

/** When the first cause was observed, in milliseconds since 1970, and the latest due time so far, in seconds. */
type Times = { readonly observedAt?: number; readonly afterDueAt?: number | undefined };

/** What a retry counts. */
type RetryCounts = Pick<CauseOf<'retry'>, 'attempt' | 'postponements' | 'conflicts'>;

/** The retries of the controller. */
type Retries = { readonly retry?: RetryPolicy | undefined };

/** What the retry has to know of the reconcile before it. */
type Before = {
  /** The object that may be gone without having been finalized. */
  readonly unverifiedUid?: string | undefined;
  /** The reconciler ignored its signal, and its process has not ended yet. */
  readonly isRunning?: boolean | undefined;
};

/** Decides the follow-up of a message. `nowMs` is by the clock of SQS; the times are those of all merged messages. */
export function decide(
  outcome: Outcome,
  message: Message,
  nowMs: number,
  {
    observedAt = observedAtOf(message),
    afterDueAt = dueAtOf(message),
    retry: policy = defaultRetry,
    unverifiedUid,
    isRunning = false,
  }: Times & Retries & Before = {},
): Action {
  // A message is received when it is due, or minutes early if the clock of timers is wrong. A later due time is forged,
  // and does not delay the next one.
  const isKnown = afterDueAt !== undefined && afterDueAt <= nowMs / 1000 + rememberedSeconds;
  const after = isKnown ? { afterDueAt } : {};
  const slotIn = (delaySeconds: number) =>
    nextSlot({ key: formatReconcileKey(keyOfMessage(message)), delaySeconds, nowMs, ...after });
  const requeue = (slot: Slot): Action => {
    return { type: 'timer', message: { ...keyOfMessage(message), cause: { type: 'requeue', ...slot } } };
  };
  // Until a message that was received early is due, SQS drops others of its slot: a requeue that a later reconcile
  // requests for that time would be lost. So the key is reconciled once more when the time has passed.
  const isEarly = isKnown && afterDueAt > nowMs / 1000 + earlySeconds;
  const finish = (): Action =>
    isEarly ? requeue(slotAt({ atMs: afterDueAt * 1000, nowMs, afterDueAt })) : { type: 'delete' };
  // Only the key is kept. The details of the change are dropped.
  const retry = (counts: RetryCounts, usualSeconds: number): Action => {
    // Not before the process of a reconciler that ignored its signal has ended.
    const delaySeconds = isRunning ? Math.max(ignoredSignalRetrySeconds, usualSeconds) : usualSeconds;
    const unverified = unverifiedUid === undefined ? {} : { unverifiedUid };
    const command = counts.attempt === 0 && isCommand(message) ? ({ command: true } as const) : {};
    const slot = slotIn(delaySeconds);
    const cause = { type: 'retry', observedAt, ...counts, ...slot, ...unverified, ...command } as const;
    return { type: 'timer', message: { ...keyOfMessage(message), cause } };
  };
  switch (outcome.type) {
    case 'done': {
      const { requeueAfterSeconds, requeueAt } = outcome;
      if (requeueAfterSeconds === undefined && requeueAt === undefined) return finish();
      const atMs = requeueAt?.getTime();
      // A time that has passed is not returned in a loop: the wait grows with its age.
      const delaySeconds =
        atMs === undefined ? (requeueAfterSeconds ?? 1) : Math.min((nowMs - atMs) / 1000, maxLateSeconds);
      return requeue(
        atMs !== undefined && atMs > nowMs
          ? slotAt({ atMs, nowMs, ...after })
          : slotIn(Math.max(1, Math.round(delaySeconds))),
      );
    }
    case 'nothing':
    case 'terminal':
      return finish();
    case 'refused':
      return { type: 'dead-letter', reason: outcome.error.message };
    case 'failed': {
      // The last attempt itself sets Stalled. Its function may have crashed before it sent the dead letter, so it is
      // sent (again).
      if (isLastAttempt(message, policy))
        return { type: 'dead-letter', reason: `retries exhausted after ${policy.attempts} attempts` };
      if (isLastTry(message, outcome, policy)) return { type: 'delete' };
      const attempt = attemptOf(message) + 1;
      const delaySeconds = backoffSeconds(retryBackoffOf(policy), attempt, fractionOf(message, attempt));
      return retry({ attempt, postponements: 0 }, delaySeconds);
    }
    case 'postponed': {
      // A slow cluster responds: its keys are retried soon, and the wait does not grow.
      const isSlow = outcome.reason === 'slow';
      const isConflict = outcome.reason === 'conflict';
      const postponements = postponementsOf(message) + (isSlow ? 0 : 1);
      const conflicts = conflictsOf(message) + (isConflict ? 1 : 0);
      const fraction = fractionOf(message, postponements);
      // The waits of conflicts and those of an outage grow apart.
      const [backoff, times] = isConflict
        ? [conflictBackoff, conflicts]
        : [unreachableBackoff, postponements - conflicts];
      const delaySeconds = backoffSeconds(backoff, isSlow ? 1 : times, fraction);
      const counts = { attempt: attemptOf(message), postponements, ...(conflicts === 0 ? {} : { conflicts }) };
      // Twice as long as the server asks for: the first wait may be half of it.
      return retry(counts, Math.max(delaySeconds, 2 * retryAfterSeconds(outcome.error)));
    }
  }
}

/** Returns the Retry-After of a response, in seconds; at most the longest wait for an unreachable cluster. */
function retryAfterSeconds(error: Error): number {
  return error instanceof ApiError ? Math.min(error.retryAfterSeconds ?? 0, unreachableBackoff.maxSeconds) : 0;
}

/** The jitter of a key, in [0, 1). */
function fractionOf(message: Message, count: number): number {
  return Number.parseInt(hashOf(formatReconcileKey(keyOfMessage(message)), count).slice(0, 8), 16) / 2 ** 32;
}
