// Which generation a controller has observed, read from a status: for a kind's first controller it says so itself, for a
// second one its own conditions do. Pure.
import type { Part } from '../core/part.ts';
import { isRecord } from '../kube/record.ts';

/**
 * Reads the generation that a status, or what a controller owns of it, was made from; undefined when it does not say. A part is as
 * old as the oldest of its conditions: one that is missing has observed nothing.
 */
export function observedGenerationOf(status: unknown, part?: Part): number | undefined {
  if (!isRecord(status)) return undefined;
  if (part === undefined) return numberOf(status.observedGeneration);
  const { conditions } = status;
  const standing = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  const observed = part.conditions.map((type) =>
    numberOf(standing.find((condition) => condition.type === type)?.observedGeneration),
  );
  return observed.reduce((oldest, one) =>
    oldest === undefined || one === undefined ? undefined : Math.min(oldest, one),
  );
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
