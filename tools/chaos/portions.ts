// What the changes are made of: Ingredients, as plain JSON. Each is a portion that the pantry has to lay out, so whether a change
// got through is seen in the status and outside the cluster alike.
import * as z from 'zod';

/** The collection, and the address of one. */
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
/** An Ingredient as the judge reads it. */
export type Portion = z.infer<typeof portion>;

const list = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }), items: z.array(portion) });
const frame = z.looseObject({ type: z.string(), object: z.unknown() });

/** Reads a list. Throws for what is none. */
export const parseList = (body: unknown): z.infer<typeof list> => list.parse(body);

/** Reads a frame of a watch: what happened, and to which portion, where it is one. */
export function parseWatchLine(line: string): { readonly type: string; readonly portion?: Portion } {
  const { type, object } = frame.parse(JSON.parse(line));
  const parsed = portion.safeParse(object);
  return parsed.success ? { type, portion: parsed.data } : { type };
}

/** Tells whether the status says of the latest spec that it is so. */
export function saysSo({ metadata, spec, status }: Portion): boolean {
  const ready = status?.conditions.find(({ type }) => type === 'Ready');
  return (
    metadata.deletionTimestamp === undefined &&
    status?.observedGeneration === metadata.generation &&
    ready?.status === 'True' &&
    status.measured?.amount === spec.amount
  );
}
