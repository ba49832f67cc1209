// Settle: decides what a call of the author's code means for the status, for the object and for the message. Pure. What
// a failure means is one table, a row for each class of errors.
import { reasons } from '../../api/conditions.ts';
import type { Finalized } from '../../api/result.ts';
import type { RetryPolicy } from '../../core/controller-options.ts';
import { errorText, ReconcileTimeoutError, toError } from '../../core/errors.ts';
import { redact } from '../../core/redact.ts';
import type { Message } from '../../sqs/message.ts';
import { type ErrorClass, errorClassOf } from '../classify-error.ts';
import { isLastTry, type Next, type Outcome, waitsForNamespace } from '../outcome.ts';
import { currentConditions, type OwnedStatus, type RetryState, type StatusInput } from '../status/status.ts';
import type { StatusWriter } from '../status/status-writer.ts';
import type { Ended, Pass, PendingEvent, Task, Verdict } from './pass.ts';

/** What a verdict depends on, besides how the call ended. */
export type Facts = {
  readonly task: Task;
  readonly message: Message;
  readonly isDeleting: boolean;
  readonly retry: RetryPolicy;
  readonly statusWriter: StatusWriter;
  readonly input: StatusInput;
};

/** Returns the facts of a pass, as the object is now. */
export function factsOf({ identity, task, message, primary }: Pass, now: Date): Facts {
  const { statusWriter, declaration } = identity;
  const { declared } = statusWriter;
  return {
    task,
    message,
    isDeleting: primary.current().metadata.deletionTimestamp !== undefined,
    retry: declaration.options.retry,
    statusWriter,
    input: { owned: primary.ownedStatus(), generation: primary.generation(), now, declared },
  };
}

/** What a class of errors means. `state` is what the status says of it. */
type Failure = { readonly state: RetryState; readonly outcome: 'failed' | 'terminal' | 'postponed' };

/** The meaning of each class. No status can be written where there is none; `failed` costs an attempt. */
const failures: Readonly<Record<ErrorClass, Failure | undefined>> = {
  unreachable: undefined,
  conflict: undefined,
  'namespace-terminating': undefined,
  // The end of the namespace triggers a reconcile if it is a child, and otherwise the retry finds it.
  'child-namespace-terminating': { state: 'child-namespace-terminating', outcome: 'postponed' },
  later: { state: 'later', outcome: 'postponed' },
  terminal: { state: 'terminal', outcome: 'terminal' },
  'invalid-spec': { state: 'invalid-spec', outcome: 'terminal' },
  'policy-denied': { state: 'policy-denied', outcome: 'terminal' },
  error: { state: 'retrying', outcome: 'failed' },
};

/** Decides the verdict of a pass. */
export function settle(facts: Facts, ended: Ended): Verdict {
  const { statusWriter, input } = facts;
  switch (ended.type) {
    case 'returned': {
      const { result } = ended;
      const next = nextOf(result);
      if (result.error !== undefined) {
        return settleFailure(facts, result.error, next, (state) => statusWriter.afterResult(result, input, state));
      }
      const status = statusWriter.afterResult(result, input);
      return written({ outcome: { type: 'done', ...next }, status, evidence: 'needed' });
    }
    case 'finalized':
      return settleFinalized(facts, ended.said);
    case 'threw':
    case 'still-running':
      return settleFailure(facts, ended.error, {}, (state, error) => statusAfterThrow(facts, state, error));
  }
}

function settleFinalized({ task, statusWriter, input }: Facts, said: Finalized): Verdict {
  if (said === 'done') {
    return written({ outcome: { type: 'done' }, release: task === 'leave' ? 'marks' : 'finalizer' });
  }
  const { reason, message = '' } = said;
  const outcome: Outcome = { type: 'done', ...nextOf(said) };
  // An object that leaves the selection is another controller's by now.
  if (task === 'leave') return written({ outcome });
  return written({ outcome, status: statusWriter.whileFinalizing({ status: 'False', reason, message }, input) });
}

function statusAfterThrow({ task, statusWriter, input }: Facts, state: RetryState, error: Error) {
  if (task === 'leave') return undefined;
  if (task === 'reconcile') return statusWriter.afterFailure(error, state, input);
  const reason = state === 'invalid-spec' ? reasons.invalidSpec : reasons.finalizeFailed;
  return statusWriter.whileFinalizing({ status: 'False', reason, message: errorText(error) }, input, state);
}

function settleFailure(
  facts: Facts,
  thrown: unknown,
  next: Next,
  statusOf: (state: RetryState, error: Error) => OwnedStatus | undefined,
): Verdict {
  const { message, statusWriter, input, retry } = facts;
  const error = toError(thrown);
  const stalledBefore = statusWriter.isStalled(input.owned, input.generation);
  const failure = failures[classOf(facts, thrown, stalledBefore)];
  if (failure === undefined) return { type: 'unwritten', error: thrown };
  const isLast = failure.outcome === 'failed' && isLastTry(message, { stalledBefore }, retry);
  const state = isLast ? 'retries-exhausted' : failure.state;
  return written({
    outcome: outcomeOf(failure, error, stalledBefore, next),
    status: statusOf(state, error),
    evidence: failure.outcome === 'postponed' || facts.task !== 'reconcile' ? 'none' : 'if possible',
    warning: failure.outcome === 'postponed' ? undefined : warningOf(error, input),
  });
}

/** The class of an error for this object: two classes are errors like any other in some states. */
function classOf({ message, isDeleting }: Facts, thrown: unknown, stalledBefore: boolean): ErrorClass {
  const found = errorClassOf(thrown, 'later', message);
  // The namespace does not end before the finalizer is removed, so only the status can show what it waits for.
  if (found === 'namespace-terminating' && isDeleting) return 'error';
  if (found === 'child-namespace-terminating' && !waitsForNamespace(message, { stalledBefore })) return 'error';
  return found;
}

function outcomeOf({ state, outcome }: Failure, error: Error, stalledBefore: boolean, next: Next): Outcome {
  switch (outcome) {
    case 'failed':
      return { type: 'failed', error, stalledBefore, ...next };
    case 'terminal':
      return { type: 'terminal', error, ...next };
    case 'postponed':
      return { type: 'postponed', reason: state === 'later' ? 'later' : 'child-namespace-terminating', error, ...next };
  }
}

/** The Warning about a failure; undefined if the status shows the same failure already. */
function warningOf(error: Error, { owned }: StatusInput): PendingEvent | undefined {
  const message = redact(errorText(error));
  if (currentConditions(owned).some((one) => one.message === message)) return undefined;
  const reason = error instanceof ReconcileTimeoutError ? 'DeadlineExceeded' : 'ReconcileFailed';
  return { type: 'Warning', reason, message, isFailure: true };
}

/** Returns the Events of a pass: the author's, and the Warning of a failure where the author has recorded none. */
export function eventsOf(verdict: Verdict, ended: Ended, recorded: readonly PendingEvent[]): readonly PendingEvent[] {
  if (ended.type === 'still-running') {
    return [{ type: 'Warning', reason: 'DeadlineExceeded', message: ended.error.message, isFailure: true }];
  }
  const warning = verdict.type === 'written' ? verdict.warning : undefined;
  // A Warning of the author's own says more than the error.
  const isReported = warning === undefined || recorded.some(({ type }) => type === 'Warning');
  return isReported ? recorded : [...recorded, warning];
}

function nextOf({ requeueAfterSeconds, requeueAt }: Next): Next {
  return { requeueAfterSeconds, requeueAt };
}

type Written = Extract<Verdict, { readonly type: 'written' }>;

function written({
  outcome,
  status,
  evidence = 'none',
  release,
  warning,
}: Partial<Written> & Pick<Written, 'outcome'>) {
  return { type: 'written', outcome, status, evidence, release, warning } satisfies Verdict;
}
