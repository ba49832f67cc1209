// What the watcher watches, and for whom: generated from the registry, read by a process that has no controller in it.
import * as z from 'zod';

const collection = {
  group: z.string(),
  version: z.string(),
  plural: z.string(),
  kind: z.string(),
  namespaced: z.boolean(),
};

const subscriber = z.object({
  controller: z.string(),
  /** What the watched kind is to the controller. */
  as: z.enum(['primary', 'owned', 'watched']),
  /** The kind that the controller reconciles; for a label that names an object of another watched kind, that kind. */
  primary: z.object(collection),
  /**
   * Which changes count: `generation` (spec, deletion, our annotations), `resourceVersion` for kinds without a generation,
   * or `any`.
   */
  predicate: z.enum(['generation', 'resourceVersion', 'any']),
  /** For a watched kind: the label whose value names the primary. Without it the watched object's own key is forwarded. */
  label: z.string().optional(),
});

const watchList = z.object({
  version: z.literal(1),
  resources: z.array(
    z.object({
      ...collection,
      /** Served by an API server of its own: its versions mean nothing to anybody else. */
      aggregated: z.boolean().optional(),
      /** Only objects with these labels; absent: all. */
      labelSelector: z.string().optional(),
      subscribers: z.array(subscriber).min(1),
    }),
  ),
});

export type Subscriber = Readonly<z.infer<typeof subscriber>>;
export type WatchList = z.infer<typeof watchList>;
export type WatchedResource = WatchList['resources'][number];

/** Reads a watch list. Throws a ZodError for what is none. */
export function parseWatchList(value: unknown): WatchList {
  return watchList.parse(value);
}
