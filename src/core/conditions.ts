// The runtime's part of an object's conditions: times that change only with the status, whose generation each is of, and
// what Ready, Reconciling, Stalled and Finalized say.
import type { Condition, StandingCondition } from './result.ts';

/** A reason of the runtime's own, beside those that authors give. */
export const reasons = {
  ready: 'Ready',
  invalidSpec: 'InvalidSpec',
  retrying: 'Retrying',
  gaveUp: 'GaveUp',
  terminal: 'TerminalError',
  notOwned: 'NotOwned',
  finalizing: 'Finalizing',
  finalizeFailed: 'FinalizeFailed',
} as const;

/** The conditions that sum up a kind's first controller; no kind declares them, and no part writes them. */
export const runtimeConditions = ['Ready', 'Reconciling', 'Stalled', 'Finalized'] as const;
export type RuntimeCondition = (typeof runtimeConditions)[number];

/**
 * Merges what a controller says now into what stands. A condition keeps its transition time while its status is the same
 * (metav1.Condition). Conditions that are not mentioned are left as they stand.
 */
export function mergeConditions(
  standing: readonly StandingCondition[],
  said: Readonly<Record<string, Condition>>,
  { generation, now }: { readonly generation: number; readonly now: Date },
): readonly StandingCondition[] {
  const merged = new Map(standing.map((condition) => [condition.type, condition]));
  for (const [type, condition] of Object.entries(said)) {
    const before = merged.get(type);
    const kept = before?.status === condition.status ? before.lastTransitionTime : undefined;
    merged.set(type, {
      type,
      status: condition.status,
      reason: condition.reason,
      // metav1.Condition requires a message, which may be empty.
      message: condition.message ?? '',
      observedGeneration: generation,
      lastTransitionTime: kept ?? toSeconds(now),
    });
  }
  return [...merged.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** Tells whether a condition stands already and says the same: then it is no news, and no Event. */
export function isStanding(
  standing: readonly StandingCondition[] | undefined,
  type: string,
  { reason, message = '' }: Condition,
): boolean {
  const there = standing?.find((one) => one.type === type);
  return there?.reason === reason && (there.message ?? '') === message;
}

/** Sums up declared conditions: a False beats an Unknown, all True is Ready (as Knative's living condition set). */
export function summarize(declared: readonly string[], said: Readonly<Record<string, Condition>>): Condition {
  const worst =
    declared.find((type) => said[type]?.status === 'False') ?? declared.find((type) => said[type]?.status !== 'True');
  if (worst === undefined) return { status: 'True', reason: reasons.ready };
  const condition = said[worst];
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
