// Settle: decides what a call of the author's code means for the status, for the object and for the message. Pure. What
// a failure means is one table, a row for each class of errors.
import { reasons } from '../../api/conditions.ts';
import type { Finalized } from '../../api/result.ts';
import { errorText, ReconcileTimeoutError, toError } from '../../core/errors.ts';
import { redact } from '../../core/redact.ts';
import { isPeriodic } from '../../sqs/message.ts';
import { type ErrorClass, errorClassOf } from '../classify-error.ts';
import { isLastTry, type Next, waitsForNamespace } from '../outcome.ts';
import { currentConditions, type Failure } from '../status/status.ts';
import type { OwnedStatus, StatusInput } from '../status/status-writer.ts';
import type { Ended, Pass, PendingEvent, Verdict } from './pass.ts';
import { followsOwnWrite } from './report-pass.ts';

/** What a verdict depends on, besides how the call ended. */
export type Facts = ReturnType<typeof factsOf>;

/** Returns the facts of a pass, as the object is now. */
export function factsOf({ identity, task, message, read, primary }: Pass) {
  const { statusWriter, fieldManager } = identity;
  return {
    task,
    message,
    isDeleting: primary.current().metadata.deletionTimestamp !== undefined,
    // Whether a status that says so is of the object as it is. Without an observed generation, these alone are known to
    // follow no change.
    mayBeStalled:
      statusWriter.showsObserved || isPeriodic(message.cause) || followsOwnWrite(message, read, fieldManager),
    retry: identity.declaration.options.retry,
    statusWriter,
    input: { owned: primary.ownedStatus(), generation: primary.generation(), now: identity.now() },
  };
}

/** The reason of each class in the status, and its outcome, if a status can be written. `failed` costs an attempt. */
const failures = {
  unreachable: undefined,
  conflict: undefined,
  'namespace-terminating': undefined,
  // The end of the namespace triggers a reconcile if it is a child, and otherwise the retry finds it.
  'child-namespace-terminating': {
    reason: reasons.namespaceTerminating,
    outcome: { type: 'postponed', reason: 'child-namespace-terminating' },
  },
  later: { reason: reasons.retryLater, outcome: { type: 'postponed', reason: 'later' } },
  terminal: { reason: reasons.terminal, outcome: { type: 'terminal' } },
  'invalid-spec': { reason: reasons.invalidSpec, outcome: { type: 'terminal' } },
  'policy-denied': { reason: reasons.policyDenied, outcome: { type: 'terminal' } },
  error: { reason: reasons.retrying, outcome: { type: 'failed' } },
} as const satisfies Readonly<Record<ErrorClass, unknown>>;

/** Decides the verdict of a pass. */
export function settle(facts: Facts, ended: Ended): Verdict {
  const { statusWriter, input } = facts;
  switch (ended.type) {
    case 'returned': {
      const { result } = ended;
      const next = nextOf(result);
      if (result.error !== undefined)
        return settleFailure(facts, result.error, next, (failure) => statusWriter.afterResult(result, input, failure));
      const status = statusWriter.afterResult(result, input);
      return { type: 'written', outcome: { type: 'done', ...next }, status, evidence: 'needed' };
    }
    case 'finalized':
      return settleFinalized(facts, ended.said);
    case 'threw':
    case 'still-running':
      return settleFailure(facts, ended.error, {}, (failure) => statusAfterThrow(facts, failure));
  }
}

function settleFinalized({ task, statusWriter, input }: Facts, said: Finalized): Verdict {
  const release = task === 'leave' ? 'marks' : 'finalizer';
  if (said === 'done') return { type: 'written', outcome: { type: 'done' }, release };
  const { reason, message = '' } = said;
  const outcome = { type: 'done', ...nextOf(said) } as const;
  // An object that leaves the selection is another controller's by now.
  if (task === 'leave') return { type: 'written', outcome };
  const status = statusWriter.whileFinalizing({ status: 'False', reason, message }, input);
  return { type: 'written', outcome, status };
}

function statusAfterThrow({ task, statusWriter, input }: Facts, failure: Failure) {
  if (task === 'leave') return undefined;
  if (task === 'reconcile') return statusWriter.afterFailure(failure, input);
  const reason = failure.reason === reasons.invalidSpec ? reasons.invalidSpec : reasons.finalizeFailed;
  return statusWriter.whileFinalizing({ status: 'False', reason, message: errorText(failure.error) }, input, failure);
}

function settleFailure(
  facts: Facts,
  thrown: unknown,
  next: Next,
  statusOf: (failure: Failure) => OwnedStatus | undefined,
): Verdict {
  const { message, statusWriter, input, retry } = facts;
  const error = toError(thrown);
  const stalledBefore = facts.mayBeStalled && statusWriter.isStalled(input.owned, input.generation);
  const meaning = failures[classOf(facts, thrown, stalledBefore)];
  if (meaning === undefined) return { type: 'unwritten', error: thrown };
  const { outcome } = meaning;
  const isLast = outcome.type === 'failed' && isLastTry(message, stalledBefore, retry);
  const reason = isLast ? reasons.retriesExhausted : meaning.reason;
  const isPostponed = outcome.type === 'postponed';
  return {
    type: 'written',
    outcome:
      outcome.type === 'failed' ? { type: 'failed', error, stalledBefore, ...next } : { ...outcome, error, ...next },
    status: statusOf({ error, reason, isRetried: outcome.type !== 'terminal' && !isLast }),
    evidence: isPostponed || facts.task !== 'reconcile' ? undefined : 'if possible',
    warning: isPostponed ? undefined : warningOf(error, input),
  };
}

/** The class of an error for this object: two classes are errors like any other in some states. */
function classOf({ message, isDeleting }: Facts, thrown: unknown, stalledBefore: boolean): ErrorClass {
  const found = errorClassOf(thrown, 'later', message);
  // The namespace does not end before the finalizer is removed, so only the status can show what it waits for.
  if (found === 'namespace-terminating' && isDeleting) return 'error';
  if (found === 'child-namespace-terminating' && !waitsForNamespace(message, stalledBefore)) return 'error';
  return found;
}

/** The Warning about a failure; undefined if the status shows the same failure already. */
function warningOf(error: Error, { owned }: StatusInput): PendingEvent | undefined {
  const message = redact(errorText(error));
  if (currentConditions(owned).some((one) => one.message === message)) return undefined;
  const reason = error instanceof ReconcileTimeoutError ? 'DeadlineExceeded' : 'ReconcileFailed';
  // The messages of one failure may differ at each attempt. They are one Event.
  return { type: 'Warning', reason, message, aggregated: true };
}

/** Returns the Events of a pass: the author's, and the Warning of a failure where the author has recorded none. */
export function eventsOf(verdict: Verdict, ended: Ended, recorded: readonly PendingEvent[]): readonly PendingEvent[] {
  if (ended.type === 'still-running')
    return [{ type: 'Warning', reason: 'DeadlineExceeded', message: ended.error.message, aggregated: true }];
  const warning = verdict.type === 'written' ? verdict.warning : undefined;
  // A Warning of the author's own says more than the error.
  const isReported = warning === undefined || recorded.some(({ type }) => type === 'Warning');
  return isReported ? recorded : [...recorded, warning];
}

function nextOf({ requeueAfterSeconds, requeueAt }: Next): Next {
  return { requeueAfterSeconds, requeueAt };
}
