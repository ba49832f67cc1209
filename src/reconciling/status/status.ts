// The conditions of a kind's first controller: Ready, and Reconciling or Stalled while there is an error (kstatus).
// Also what they share with those of a slice (slice-status.ts). status-writer.ts makes a status of them. Pure.
import { readyOf, reasons } from '../../api/conditions.ts';
import type { Condition, DeclaredCondition } from '../../api/result.ts';
import { errorText, NotOwnedError } from '../../core/errors.ts';
import { redact } from '../../core/redact.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Conditions = Readonly<Record<string, DeclaredCondition>>;

/** An error as a status reports it. */
export type Failure = {
  readonly error: Error;
  /** The reason of its class (settle.ts). */
  readonly reason: string;
  /** Whether a retry follows. */
  readonly isRetried: boolean;
};

/** What the conditions of a controller say. */
export type ConditionStyle = {
  /** After a result, of what it reports of each declared condition. `failure` is that of an error in the result. */
  afterResult(reported: Conditions, failure: Failure | undefined): Conditions;
  afterFailure(failure: Failure): Conditions;
  /** While the finalizer stays. `failure` is given if finalize failed. */
  whileFinalizing(finalized: Required<DeclaredCondition>, failure: Failure | undefined): Conditions;
  /** Whether a condition stays although a failure or finalizing says nothing of it. */
  keeps(type: string): boolean;
  /** Whether a condition says that the object is stalled. */
  isStalled(condition: Condition): boolean;
  /** Whether a condition says that the last reconcile has failed or asked to come back later, or may have. */
  isFailing(condition: Condition): boolean;
};

/** Makes the conditions of a kind's first controller. */
export function firstStyle(declared: readonly string[]): ConditionStyle {
  return {
    // Ready is not True while there is an error, whatever the author reported.
    afterResult: (reported, failure) => {
      const Ready = readyOf(declared, reported);
      if (failure === undefined) return { ...reported, Ready };
      const ready = Ready.status === 'True' ? readyAfter(failure) : Ready;
      return { ...reported, ...abnormal(failure, failureReason(failure)), Ready: ready };
    },
    // A client that waits for Ready must not read a True of an earlier reconcile.
    afterFailure: (failure) => ({ ...abnormal(failure, failureReason(failure)), Ready: readyAfter(failure) }),
    whileFinalizing: (Finalized, failure) => {
      const Ready = { status: 'False', reason: reasons.finalizing } as const;
      if (failure === undefined) return { Finalized, Ready };
      return { ...abnormal(failure, { reason: failure.reason, message: Finalized.message }), Finalized, Ready };
    },
    keeps: (type) => !abnormalTypes.includes(type),
    isStalled: ({ type, status }) => type === 'Stalled' && status === 'True',
    isFailing: ({ type, status }) => abnormalTypes.includes(type) && status === 'True',
  };
}

/** They exist only while there is an error. */
const abnormalTypes: readonly string[] = ['Reconciling', 'Stalled'];

type Said = { readonly reason: string; readonly message: string };

function abnormal({ isRetried }: Failure, said: Said): Conditions {
  return { [isRetried ? 'Reconciling' : 'Stalled']: { status: 'True', ...said } };
}

/** Returns Ready, or a condition of a slice, while an error lasts: Unknown while it is retried, and False otherwise. */
export function readyAfter(failure: Failure): DeclaredCondition {
  const isFinal = !failure.isRetried || failure.error instanceof NotOwnedError;
  return { status: isFinal ? 'False' : 'Unknown', ...failureReason(failure) };
}

function failureReason({ error, reason }: Failure): Said {
  return { reason: error instanceof NotOwnedError ? reasons.notOwned : reason, message: redact(errorText(error)) };
}

/** Returns the conditions among the owned status fields. */
export function currentConditions({ conditions }: Fields): readonly Condition[] {
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
}

function isCondition(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && 'type' in value && 'status' in value;
}
