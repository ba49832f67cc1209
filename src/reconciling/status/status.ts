// Computes the status of an object after a result, after an error, or while it is being finalized. Pure.
// write-status.ts applies the status, if it differs from the status fields that the controller owns.

import { mergeConditions, readyOf, reasons } from '../../api/conditions.ts';
import type { AnyResult } from '../../api/parse-result.ts';
import type { Condition, DeclaredCondition } from '../../api/result.ts';
import { errorText, NotOwnedError } from '../../core/errors.ts';
import { maskSecrets, redact } from '../../core/redact.ts';

/** The status that the controller's field manager applies: all status fields that the controller owns. */
export type OwnedStatus = {
  readonly [field: string]: unknown;
  readonly conditions: readonly Condition[];
  /** Only of a kind's first controller. */
  readonly observedGeneration?: number;
};

/** The input of every status. */
export type StatusInput = {
  /** The status fields that the controller's field manager owned when the object was read. */
  readonly owned: Readonly<Record<string, unknown>>;
  readonly generation: number;
  readonly now: Date;
  /** The types of the declared conditions. */
  readonly declared: readonly string[];
};

/** Whether a failed reconcile is retried, and why not. */
export type RetryState =
  | 'retrying'
  | 'child-namespace-terminating'
  | 'later'
  | 'retries-exhausted'
  | 'terminal'
  | 'invalid-spec'
  | 'policy-denied';

/** Returns whether a retry follows. */
export function isRetried(state: RetryState): boolean {
  return ['retrying', 'child-namespace-terminating', 'later'].includes(state);
}

/**
 * Computes the status after a result. With an error in the result, `retryState` is that of the error, and Ready is not
 * True, whatever the author reported.
 */
export function statusAfterResult(
  { status, conditions, error }: AnyResult,
  input: StatusInput,
  retryState: RetryState = 'retrying',
): OwnedStatus {
  const reported = reportedConditions(conditions, input.declared);
  reported.Ready = readyOf(input.declared, reported);
  if (error !== undefined) {
    Object.assign(reported, abnormalCondition(error, retryState));
    if (reported.Ready.status === 'True') reported.Ready = readyAfter(error, retryState);
  }
  return { ...status, ...observedStatus([], reported, input) };
}

/**
 * Computes the status after an error was thrown. All owned fields are kept, because an apply removes fields that it
 * does not repeat. Ready is Unknown from the first failed attempt, and False when it is not retried: a client that
 * waits for Ready must not read a True of an earlier reconcile.
 */
export function statusAfterFailure(error: Error, retryState: RetryState, input: StatusInput): OwnedStatus {
  const kept = normalConditions(input);
  const conditions = { ...abnormalCondition(error, retryState), Ready: readyAfter(error, retryState) };
  return { ...input.owned, ...observedStatus(kept, conditions, input) };
}

/** Computes the status while the finalizer stays. `retryState` is given if finalize failed. */
export function statusWhileFinalizing(
  finalized: DeclaredCondition,
  input: StatusInput,
  retryState?: RetryState,
): OwnedStatus {
  const { message = '' } = finalized;
  const conditions: Record<string, DeclaredCondition> = {
    ...(retryState === undefined ? {} : abnormalCondition(new Error(message), retryState)),
    Finalized: { ...finalized, message: redact(message) },
    Ready: { status: 'False', reason: reasons.finalizing },
  };
  return { ...input.owned, ...observedStatus(normalConditions(input), conditions, input) };
}

/** The reason of the conditions of an error, by its retry state. */
export const stateReasons: Readonly<Record<RetryState, string>> = {
  retrying: reasons.retrying,
  'child-namespace-terminating': reasons.namespaceTerminating,
  later: reasons.retryLater,
  'retries-exhausted': reasons.retriesExhausted,
  terminal: reasons.terminal,
  'invalid-spec': reasons.invalidSpec,
  'policy-denied': reasons.policyDenied,
};

/**
 * Returns whether the object is already Stalled at this generation. Then each message gets one attempt and no dead
 * letter.
 */
export function isStalled(owned: Readonly<Record<string, unknown>>, generation: number): boolean {
  return hasAbnormal(owned, generation, ['Stalled']);
}

/** Returns whether the last reconcile of this generation has failed, or asked to come back later. */
export function isFailing(owned: Readonly<Record<string, unknown>>, generation: number): boolean {
  return hasAbnormal(owned, generation, ['Stalled', 'Reconciling']);
}

function hasAbnormal(owned: Readonly<Record<string, unknown>>, generation: number, types: readonly string[]): boolean {
  return currentConditions(owned).some(
    ({ type, status, observedGeneration }) =>
      types.includes(type) && status === 'True' && observedGeneration === generation,
  );
}

/** Merges new conditions with the kept ones. A transition time stays if the condition's status does, kept or not. */
export function conditionsAfter(
  conditions: Readonly<Record<string, DeclaredCondition>>,
  { owned, generation, now }: StatusInput,
  kept: readonly Condition[] = [],
): readonly Condition[] {
  const current = currentConditions(owned).filter(
    ({ type }) => type in conditions || kept.some((one) => one.type === type),
  );
  return mergeConditions(current, conditions, { generation, now });
}

/** Returns the conditions among the owned status fields. */
export function currentConditions(owned: Readonly<Record<string, unknown>>): readonly Condition[] {
  const { conditions } = owned;
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
}

/** Returns the declared conditions as the author reported them, without credentials. A missing one is Unknown. */
export function reportedConditions(
  conditions: Readonly<Record<string, DeclaredCondition>>,
  declared: readonly string[],
): Record<string, DeclaredCondition> {
  return Object.fromEntries(
    declared.map((type) => [type, withoutSecrets(conditions[type] ?? { status: 'Unknown', reason: 'NotReported' })]),
  );
}

/** Makes the abnormal-true condition of an error (kstatus). It exists only while there is an error. */
function abnormalCondition(error: Error, retryState: RetryState): Record<string, DeclaredCondition> {
  const type = isRetried(retryState) ? 'Reconciling' : 'Stalled';
  return { [type]: { status: 'True', ...failureReason(error, retryState) } };
}

/** Ready while an error lasts. */
function readyAfter(error: Error, retryState: RetryState): DeclaredCondition {
  const isFinal = !isRetried(retryState) || error instanceof NotOwnedError;
  return { status: isFinal ? 'False' : 'Unknown', ...failureReason(error, retryState) };
}

function failureReason(error: Error, retryState: RetryState): { readonly reason: string; readonly message: string } {
  const reason = error instanceof NotOwnedError ? reasons.notOwned : stateReasons[retryState];
  return { reason, message: redact(errorText(error)) };
}

function normalConditions({ owned }: StatusInput): readonly Condition[] {
  return currentConditions(owned).filter(({ type }) => type !== 'Reconciling' && type !== 'Stalled');
}

function observedStatus(
  kept: readonly Condition[],
  conditions: Readonly<Record<string, DeclaredCondition>>,
  input: StatusInput,
) {
  return { observedGeneration: input.generation, conditions: conditionsAfter(conditions, input, kept) };
}

function isCondition(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && 'type' in value && 'status' in value;
}

/** An author's message often contains the message of an error. Anyone who can read the object can read it. */
function withoutSecrets({ message, ...rest }: DeclaredCondition): DeclaredCondition {
  return message === undefined ? rest : { ...rest, message: maskSecrets(message) };
}
