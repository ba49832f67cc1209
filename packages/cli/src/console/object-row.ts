// The row of an object in the console. Pure.

import { pausedAnnotation } from 'outrigger/internal/core/names';
import type { KubeObject, ResourceName } from 'outrigger/internal/kube/client/object';
import * as z from 'zod';
import { objectReadiness } from '../dev/readiness.ts';
import { objectId } from './object-id.ts';
import type { ObjectRow, ObjectState } from './wire.ts';

const statusShape = z.looseObject({
  observedGeneration: z.number().optional().catch(undefined),
  conditions: z
    .array(
      z.looseObject({
        type: z.string(),
        status: z.string(),
        reason: z.string().default(''),
        message: z.string().default(''),
        lastTransitionTime: z.string().optional(),
      }),
    )
    .catch([]),
});

/** Makes the row of an object. */
export function objectRow(
  resource: ResourceName,
  object: KubeObject,
  {
    kind,
    cluster,
    sliceConditions,
    isForeign,
  }: { kind: string; cluster: string; sliceConditions: readonly string[]; isForeign: boolean },
): ObjectRow {
  const { name, namespace, generation = 0, creationTimestamp, deletionTimestamp, annotations } = object.metadata;
  const { observedGeneration = 0, conditions = [] } = statusShape.safeParse(object.status ?? {}).data ?? {};
  const { ready, reason, message } = objectReadiness(object, sliceConditions, isForeign);
  const state = ((): ObjectState => {
    if (deletionTimestamp !== undefined) return 'Deleting';
    if (annotations?.[pausedAnnotation] === 'true') return 'Paused';
    if (ready) return 'Ready';
    return observedGeneration < generation ? 'Progressing' : 'Not ready';
  })();
  return {
    id: objectId(cluster, resource, object.metadata),
    kind,
    cluster,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    state,
    text: [reason, message].filter((one) => one !== '').join(': '),
    conditions: conditions.map(({ type, status, reason: why, message: text, lastTransitionTime }) => ({
      type,
      status,
      reason: why,
      message: text,
      ...(lastTransitionTime === undefined ? {} : { since: lastTransitionTime }),
    })),
    generation,
    observedGeneration,
    ...(creationTimestamp == null ? {} : { createdAt: creationTimestamp }),
  };
}
