// Conditions: the helpers with which authors make them, and what the runtime adds: transition times, generations, and
// the conditions Ready, Reconciling, Stalled and Finalized.
import type { Condition, DeclaredCondition } from './result.ts';

/**
 * Makes a condition that is True.
 * @example conditions: { Served: ok('AllSeated') }
 */
export function ok(
  reason: string,
  message?: string,
): DeclaredCondition & {
  /** Always True. */
  readonly status: 'True';
} {
  return { status: 'True', reason, ...(message === undefined ? {} : { message }) };
}

/**
 * Makes a condition that is False.
 * @example conditions: { Served: notOk('NoWaiter', 'the cafe has 12 guests and no waiter') }
 */
export function notOk(
  reason: string,
  message?: string,
): DeclaredCondition & {
  /** Always False. */
  readonly status: 'False';
} {
  return { status: 'False', reason, ...(message === undefined ? {} : { message }) };
}

/**
 * Makes a condition that is Unknown, for what nothing has reported yet.
 * @example conditions: { Served: unknown('Seating') }
 */
export function unknown(
  reason: string,
  message?: string,
): DeclaredCondition & {
  /** Always Unknown. */
  readonly status: 'Unknown';
} {
  return { status: 'Unknown', reason, ...(message === undefined ? {} : { message }) };
}

/** The runtime's own reasons. */
export const reasons = {
  ready: 'Ready',
  invalidSpec: 'InvalidSpec',
  retrying: 'Retrying',
  retryLater: 'RetryLater',
  namespaceTerminating: 'NamespaceTerminating',
  retriesExhausted: 'RetriesExhausted',
  terminal: 'TerminalError',
  policyDenied: 'PolicyDenied',
  notOwned: 'NotOwned',
  finalizing: 'Finalizing',
  finalizeFailed: 'FinalizeFailed',
} as const;

/**
 * The conditions of the runtime, which summarize a kind's first controller. No kind declares them, and no slice writes
 * them.
 */
export const runtimeConditions = ['Ready', 'Reconciling', 'Stalled', 'Finalized'] as const;
export type RuntimeCondition = (typeof runtimeConditions)[number];

/** The longest message of a metav1.Condition. */
const maxMessageLength = 32_768;

/**
 * Merges declared conditions into the current ones. A condition keeps its transition time while its status is the same
 * (metav1.Condition). Conditions that are not declared are left as they are.
 */
export function mergeConditions(
  current: readonly Condition[],
  declared: Readonly<Record<string, DeclaredCondition>>,
  { generation, now }: { readonly generation: number; readonly now: Date },
): readonly Condition[] {
  const merged = new Map(current.map((condition) => [condition.type, condition]));
  for (const [type, condition] of Object.entries(declared)) {
    const before = merged.get(type);
    const kept = before?.status === condition.status ? before.lastTransitionTime : undefined;
    merged.set(type, {
      type,
      status: condition.status,
      reason: condition.reason,
      // metav1.Condition requires a message, which may be empty. The API server rejects a status with a longer one.
      message: (condition.message ?? '').slice(0, maxMessageLength).toWellFormed(),
      observedGeneration: generation,
      lastTransitionTime: kept ?? toSeconds(now),
    });
  }
  return [...merged.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/**
 * Returns whether the current conditions have this one, with the same reason and message. It then needs no new Event.
 * @example if (!hasCondition(cafe.conditions, 'Served', served)) recordEvent('Warning', served.reason, 'no waiter');
 */
export function hasCondition(
  current: readonly Condition[] | undefined,
  type: string,
  { reason, message = '' }: DeclaredCondition,
): boolean {
  const found = current?.find((one) => one.type === type);
  return found?.reason === reason && (found.message ?? '') === message;
}

/**
 * Makes Ready of the declared conditions: a False beats an Unknown, all True is Ready (as Knative's living condition
 * set).
 */
export function readyOf(
  types: readonly string[],
  declared: Readonly<Record<string, DeclaredCondition>>,
): DeclaredCondition {
  const worst =
    types.find((type) => declared[type]?.status === 'False') ?? types.find((type) => declared[type]?.status !== 'True');
  if (worst === undefined) return ok(reasons.ready);
  const condition = declared[worst];
  return {
    status: condition?.status ?? 'Unknown',
    reason: condition?.reason ?? 'NotReported',
    message: condition?.message === undefined ? worst : `${worst}: ${condition.message}`,
  };
}

/** Kubernetes writes times in whole seconds (metav1.Time). */
function toSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
