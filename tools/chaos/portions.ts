// The objects that users change: Ingredients, as plain JSON. The pantry has to measure a portion for each, so a change
// is visible both in the status and outside of the cluster.
import * as z from 'zod';

/** The path of the collection. */
export const portionsPath = '/apis/kitchen.example.com/v1/namespaces/default/ingredients';

const condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  observedGeneration: z.number().optional(),
  lastTransitionTime: z.string().optional(),
});
const portion = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    generation: z.number(),
    deletionTimestamp: z.string().optional(),
    finalizers: z.array(z.string()).default([]),
  }),
  spec: z.looseObject({ item: z.string(), amount: z.number() }),
  status: z
    .looseObject({
      observedGeneration: z.number().optional(),
      measured: z.looseObject({ amount: z.number() }).optional(),
      conditions: z.array(condition).default([]),
    })
    .optional(),
});
/** An Ingredient as the checker reads it. */
export type Portion = z.infer<typeof portion>;

const list = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }), items: z.array(portion) });
const watchEvent = z.looseObject({ type: z.string(), object: z.unknown() });

/** Parses a list. Throws for anything else. */
export const parseList = (body: unknown): z.infer<typeof list> => list.parse(body);

/** Parses a watch event: its type, and the portion if it has one. */
export function parseWatchLine(line: string): { readonly type: string; readonly portion?: Portion } {
  const { type, object } = watchEvent.parse(JSON.parse(line));
  const parsed = portion.safeParse(object);
  return parsed.success ? { type, portion: parsed.data } : { type };
}

/** Returns whether the status reports that the present spec is applied. */
export function isConverged({ metadata, spec, status }: Portion): boolean {
  const ready = status?.conditions.find(({ type }) => type === 'Ready');
  return (
    metadata.deletionTimestamp === undefined &&
    status?.observedGeneration === metadata.generation &&
    ready?.status === 'True' &&
    status.measured?.amount === spec.amount
  );
}
