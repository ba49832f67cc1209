// Whether an object is ready: its status is of its current generation and reports no problem. For kinds with one controller or two.
import * as z from 'zod';
import type { KubeObject } from '../../src/kube/client/object.ts';

const reported = z.object({
  conditions: z
    .array(z.object({ type: z.string(), status: z.string(), observedGeneration: z.number().optional() }))
    .min(1),
});

/** Conditions that exist only while something is wrong, whatever their status. */
const troubles = ['Reconciling', 'Stalled', 'Finalized'];

/** Returns whether every condition is True for the current generation. */
export function isSettled({ metadata, status }: KubeObject): boolean {
  const { data } = reported.safeParse(status);
  if (data === undefined || metadata.deletionTimestamp !== undefined) return false;
  return data.conditions.every(
    ({ type, status: said, observedGeneration }) =>
      said === 'True' && observedGeneration === metadata.generation && !troubles.includes(type),
  );
}
