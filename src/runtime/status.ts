// What an object's status should be, after a result, a failure or a step of finalizing. Pure: the apply is elsewhere, and
// only if this differs from what we own.

import { mergeConditions, reasons, summarize } from '../core/conditions.ts';
import { NotOwnedError } from '../core/errors.ts';
import type { AnyResult } from '../api/parse-result.ts';
import { conceal, redact } from '../core/redact.ts';
import type { Condition, StandingCondition } from '../core/result.ts';

/** A status as our field manager applies it: all of it that is ours. */
export type OwnedStatus = {
  readonly [field: string]: unknown;
  readonly conditions: readonly StandingCondition[];
  /** Of a kind's first controller alone. */
  readonly observedGeneration?: number;
};

/** What the statuses below are computed from. */
export type Basis = {
  /** What our manager owns in the status that was read. */
  readonly owned: Readonly<Record<string, unknown>>;
  readonly generation: number;
  readonly now: Date;
  readonly declared: readonly string[];
};

/** How a failed reconcile goes on. */
export type Prospect = 'retrying' | 'gave-up' | 'terminal' | 'invalid-spec';

/** After a result. With `retry`, the status is the given one, and `prospect` says how its error goes on. */
export function statusAfterResult(
  { status, conditions, retry }: AnyResult,
  basis: Basis,
  prospect: Prospect = 'retrying',
): OwnedStatus {
  const said = pick(conditions, basis.declared);
  said.Ready = summarize(basis.declared, said);
  if (retry !== undefined) Object.assign(said, trouble(retry, prospect));
  return { ...status, ...finish([], said, basis) };
}

/**
 * After a throw: everything that we own is kept (an apply drops what it does not repeat), with conditions that say what
 * is wrong. Ready is not left True for a generation that nobody has reconciled.
 */
export function statusAfterFailure(error: Error, prospect: Prospect, basis: Basis): OwnedStatus {
  const standing = untroubled(basis);
  const ready = standing.find(({ type }) => type === 'Ready');
  const said = trouble(error, prospect);
  const { reason, message } = verdict(error, prospect);
  if (prospect !== 'retrying' || error instanceof NotOwnedError) said.Ready = { status: 'False', reason, message };
  else if (ready?.observedGeneration !== basis.generation) said.Ready = { status: 'Unknown', reason, message };
  return { ...basis.owned, ...finish(standing, said, basis) };
}

/** While the finalizer stays: why, and with an error also how it goes on. */
export function statusWhileFinalizing(finalized: Condition, basis: Basis, prospect?: Prospect): OwnedStatus {
  const { message = '' } = finalized;
  const said: Record<string, Condition> = {
    ...(prospect === undefined ? {} : trouble(new Error(message), prospect)),
    Finalized: { ...finalized, message: redact(message) },
    Ready: { status: 'False', reason: reasons.finalizing },
  };
  return { ...basis.owned, ...finish(untroubled(basis), said, basis) };
}

/** Abnormal-true conditions (kstatus): there while something is wrong, gone when it is not. */
function trouble(error: Error, prospect: Prospect): Record<string, Condition> {
  const type = prospect === 'retrying' ? 'Reconciling' : 'Stalled';
  return { [type]: { status: 'True', ...verdict(error, prospect) } };
}

function verdict(error: Error, prospect: Prospect): { readonly reason: string; readonly message: string } {
  const reason = error instanceof NotOwnedError ? reasons.notOwned : reasonOf[prospect];
  return { reason, message: redact(error.message) };
}

/** What is said of an error that goes on so. */
export const reasonOf: Readonly<Record<Prospect, string>> = {
  retrying: reasons.retrying,
  'gave-up': reasons.gaveUp,
  terminal: reasons.terminal,
  'invalid-spec': reasons.invalidSpec,
};

function untroubled(basis: Basis): readonly StandingCondition[] {
  return standingConditions(basis.owned).filter(({ type }) => type !== 'Reconciling' && type !== 'Stalled');
}

/** Tells whether the object is already Stalled at this generation: it gets one attempt a message, and no more letters. */
export function isStalled(owned: Readonly<Record<string, unknown>>, generation: number): boolean {
  return standingConditions(owned).some(
    ({ type, status, observedGeneration }) =>
      type === 'Stalled' && status === 'True' && observedGeneration === generation,
  );
}

function finish(kept: readonly StandingCondition[], said: Readonly<Record<string, Condition>>, basis: Basis) {
  return { observedGeneration: basis.generation, conditions: conditionsAfter(said, basis, kept) };
}

/** What is said now, and of what stands what is kept. Transition times come from what stands, kept or not. */
export function conditionsAfter(
  said: Readonly<Record<string, Condition>>,
  { owned, generation, now }: Basis,
  kept: readonly StandingCondition[] = [],
): readonly StandingCondition[] {
  const times = standingConditions(owned).filter(({ type }) => type in said || kept.some((one) => one.type === type));
  return mergeConditions(times, said, { generation, now });
}

/** The conditions among what our manager owns. */
export function standingConditions(owned: Readonly<Record<string, unknown>>): readonly StandingCondition[] {
  const { conditions } = owned;
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
}

function isCondition(value: unknown): value is StandingCondition {
  return typeof value === 'object' && value !== null && 'type' in value && 'status' in value;
}

/** The declared conditions as the author said them, without credentials. */
export function pick(
  conditions: Readonly<Record<string, Condition>>,
  declared: readonly string[],
): Record<string, Condition> {
  return Object.fromEntries(
    declared.map((type) => [type, concealed(conditions[type] ?? { status: 'Unknown', reason: 'NotReported' })]),
  );
}

/** An author's message is theirs to word, but it often is an error's, and anybody may read it. */
function concealed({ message, ...rest }: Condition): Condition {
  return message === undefined ? rest : { ...rest, message: conceal(message) };
}
