// Statuses for tests of their content: conditions that a controller wrote earlier, and the input of the next status.
import type { OwnedStatus, StatusInput } from '../../../src/reconciling/status/status.ts';

/** When the earlier conditions changed, and the time of the next status. */
export const [then, nowSeconds] = ['2026-01-01T00:00:00Z', '2026-01-02T03:04:05Z'];

/** The conditions of a status that was written earlier, by their type. */
export const conditionsBefore = (observedGeneration: number, statuses: Readonly<Record<string, string>>) =>
  Object.entries(statuses).map(([type, status]) => ({
    ...{ type, status, reason: 'Before', message: '', observedGeneration, lastTransitionTime: then },
  }));

/** Returns the input of a status with these declared conditions. */
export const inputWith =
  (declared: readonly string[]) =>
  (owned: Record<string, unknown>, generation: number): StatusInput => ({
    ...{ owned, generation, now: new Date('2026-01-02T03:04:05.678Z'), declared },
  });

/** Returns the condition of a type. */
export const conditionOf = (status: OwnedStatus, type: string) => status.conditions.find((one) => one.type === type);
