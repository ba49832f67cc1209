// Computes a status slice. It has no Reconciling or Stalled condition, so an error appears in its declared conditions,
// of which Ready stands for all others: Unknown while the error is retried, False when it is no longer retried. Pure,
// like status.ts.
import { reasons } from '../../api/conditions.ts';
import type { AnyResult } from '../../api/parse-result.ts';
import type { DeclaredCondition } from '../../api/result.ts';
import { errorText, NotOwnedError } from '../../core/errors.ts';
import { redact } from '../../core/redact.ts';
import {
  conditionsAfter,
  currentConditions,
  isRetried,
  type OwnedStatus,
  type RetryState,
  reportedConditions,
  type StatusInput,
  stateReasons,
} from './status.ts';

/**
 * The reasons of a stalled slice. Only the runtime writes them: an author's reason with one of these names is renamed.
 */
const stalledReasons: readonly string[] = [
  ...[reasons.retriesExhausted, reasons.terminal, reasons.invalidSpec, reasons.policyDenied],
];

/**
 * Computes the slice after a result. With an error that is retried, the author's conditions stay, unless all of them
 * are True. With an error that is no longer retried, the conditions that are not True report it.
 */
export function sliceAfterResult(
  { status, conditions, error }: AnyResult,
  input: StatusInput,
  retryState: RetryState = 'retrying',
): OwnedStatus {
  const reported: Record<string, DeclaredCondition> = Object.fromEntries(
    Object.entries(reportedConditions(conditions, input.declared)).map(([type, one]) => [
      type,
      { ...one, reason: authorReason(one.reason) },
    ]),
  );
  if (error !== undefined) {
    const showing = showingErrors(input);
    const notTrue = showing.filter((type) => reported[type]?.status !== 'True');
    const affected = notTrue.length === 0 ? showing : isRetried(retryState) ? [] : notTrue;
    for (const type of affected) reported[type] = failureCondition(error, retryState);
  }
  return { ...status, conditions: conditionsAfter(reported, input) };
}

/**
 * Computes the slice after an error was thrown. All owned fields are kept, and Ready or every declared condition
 * reports the error.
 */
export function sliceAfterFailure(error: Error, retryState: RetryState, input: StatusInput): OwnedStatus {
  return withCondition(failureCondition(error, retryState), input);
}

/** Computes the slice while the controller's finalizer stays. `retryState` is given if finalize failed. */
export function sliceWhileFinalizing(
  finalized: DeclaredCondition,
  input: StatusInput,
  retryState?: RetryState,
): OwnedStatus {
  const isStalled = retryState !== undefined && !isRetried(retryState);
  const reason = isStalled ? stateReasons[retryState] : authorReason(finalized.reason);
  const condition: DeclaredCondition = { status: 'False', reason, message: redact(finalized.message ?? '') };
  return withCondition(condition, input);
}

/** Returns whether the slice is already stalled at this generation. */
export function isSliceStalled(owned: Readonly<Record<string, unknown>>, generation: number): boolean {
  return currentConditions(owned).some(
    ({ status, reason, observedGeneration }) =>
      status === 'False' && stalledReasons.includes(reason) && observedGeneration === generation,
  );
}

/** Returns whether the slice may show a failure: an author's condition that is not True may be one of a failure. */
export function isSliceFailing(
  owned: Readonly<Record<string, unknown>>,
  { declared }: Pick<StatusInput, 'declared'>,
): boolean {
  const conditions = currentConditions(owned).filter(({ type }) => showingErrors({ declared }).includes(type));
  return conditions.some(({ status }) => status !== 'True');
}

function failureCondition(error: Error, retryState: RetryState): DeclaredCondition {
  const message = redact(errorText(error));
  if (!isRetried(retryState)) return { status: 'False', reason: stateReasons[retryState], message };
  if (error instanceof NotOwnedError) return { status: 'False', reason: reasons.notOwned, message };
  return { status: 'Unknown', reason: stateReasons[retryState], message };
}

/** The conditions that report an error. */
function showingErrors({ declared }: Pick<StatusInput, 'declared'>): readonly string[] {
  return declared.includes('Ready') ? ['Ready'] : declared;
}

function withCondition(condition: DeclaredCondition, input: StatusInput): OwnedStatus {
  const all = Object.fromEntries(showingErrors(input).map((type) => [type, condition]));
  const kept = currentConditions(input.owned).filter(({ type }) => input.declared.includes(type));
  return { ...input.owned, conditions: conditionsAfter(all, input, kept) };
}

/** An author may copy the reason of a child, and the child may be stalled when the slice is not. */
function authorReason(reason: string): string {
  return stalledReasons.includes(reason) ? `Reported${reason}` : reason;
}
