// The row of an object in the console. Pure.
import type { KubeObject, ResourceName } from 'outrigger/internal/kube/client/object';
import * as z from 'zod';
import { conditionsOf, conditionTone, objectHealth } from './health.ts';
import { objectId } from './object-id.ts';
import type { ObjectRow } from './wire.ts';

const statusShape = z.looseObject({ observedGeneration: z.number().optional().catch(undefined) });

/** Makes the row of an object. */
export function objectRow(
  resource: ResourceName,
  object: KubeObject,
  {
    kind,
    cluster,
    ...kinds
  }: { kind: string; cluster: string; sliceConditions: readonly string[]; isForeign: boolean },
): ObjectRow {
  const { name, namespace, generation = 0, creationTimestamp, labels = {} } = object.metadata;
  const { observedGeneration = 0 } = statusShape.safeParse(object.status ?? {}).data ?? {};
  const { state, tone, text } = objectHealth(object, kinds);
  return {
    id: objectId(cluster, resource, object.metadata),
    kind,
    cluster,
    namespace,
    name,
    state,
    tone,
    text,
    conditions: conditionsOf(object).map((condition) => {
      const { type, status, reason, message, lastTransitionTime } = condition;
      const since = lastTransitionTime === undefined ? {} : { since: lastTransitionTime };
      return { type, status, reason, message, tone: conditionTone(condition, tone), ...since };
    }),
    ...(Object.keys(labels).length === 0 ? {} : { labels: Object.entries(labels).map((one) => one.join('=')) }),
    generation,
    observedGeneration,
    ...(creationTimestamp == null ? {} : { createdAt: creationTimestamp }),
  };
}
