// The watch list: the resources that the watcher watches, and the controllers that subscribe to each. It is generated
// from the controllers' declarations. The watcher reads it because it contains no controller code.
import * as z from 'zod';

const collection = {
  group: z.string(),
  version: z.string(),
  plural: z.string(),
  kind: z.string(),
  namespaced: z.boolean(),
};

/** A requirement of one label, as in a label selector of Kubernetes. */
export const labelExpression = z.union([
  z.object({ key: z.string(), operator: z.enum(['In', 'NotIn']), values: z.array(z.string()).readonly() }),
  z.object({ key: z.string(), operator: z.enum(['Exists', 'DoesNotExist']) }),
]);

const subscriber = z.object({
  controller: z.string().regex(/^[a-z][a-z0-9-]*$/),
  /** The value of the controller label on its children. Absent: its name. */
  childLabel: z.string().optional(),
  /** For an owned kind: its children may be outside of their owner's namespace. Absent: they are not. */
  inAnyNamespace: z.literal(true).optional(),
  /** The role of the watched kind for the controller. */
  as: z.enum(['primary', 'owned', 'watched']),
  /** The kind that the controller reconciles. If `label` names an object of another watched kind: that kind. */
  primary: z.object(collection),
  /**
   * Which changes are forwarded: those of `generation` (spec, deletion, Outrigger's annotations), those of `metadata`
   * (the generation, labels, annotations, finalizers, deletion), those of `resourceVersion` (every write), or `any`.
   */
  predicate: z.enum(['generation', 'metadata', 'resourceVersion', 'any']),
  /** For a watched kind: the label whose value names the primary. Without it, the watched object's key is forwarded. */
  label: z.string().optional(),
  /**
   * For a watched kind, and for a primary if the watch does not select it: only objects with these labels, and
   * that meet these expressions. Absent: all objects.
   */
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z.array(labelExpression).readonly().optional(),
  /** For a primary and a watched kind: only objects with these annotations. Absent: all objects. */
  annotations: z.array(z.string()).optional(),
  /** Only objects in these namespaces, or Namespaces of these names. Absent: all objects. */
  namespaces: z.array(z.string()).optional(),
});

/** The file of a watch list. */
export const watchListSchema = z.object({
  version: z.literal(1),
  /** Absent: the default project. */
  project: z.string().optional(),
  /** The rate limits of controllers that declare one, by controller. The others have the watcher's. */
  rateLimits: z
    .record(z.string(), z.object({ perSecond: z.number().gt(0), burst: z.number().int().min(1) }))
    .optional(),
  /** The namespaces that are watched, listed and reconciled. Absent: all. */
  namespaces: z.array(z.string()).min(1).optional(),
  resources: z.array(
    z.object({
      ...collection,
      /** Served by an extension API server: its resource versions cannot be compared. */
      aggregated: z.boolean().optional(),
      /** The only namespaces that are watched, if controllers read the kind there alone. Absent: those of the list. */
      namespaces: z.array(z.string()).min(1).optional(),
      /** Only objects with these labels. Absent: all objects. */
      labelSelector: z.string().optional(),
      /** Only objects with these values of fields. Absent: all objects. */
      fieldSelector: z.string().optional(),
      subscribers: z.array(subscriber).min(1),
    }),
  ),
});

export type Subscriber = Readonly<z.infer<typeof subscriber>>;
export type WatchList = z.infer<typeof watchListSchema>;
export type WatchedResource = WatchList['resources'][number];

/** Parses a watch list. Throws a ZodError if the value is not one. */
export function parseWatchList(value: unknown): WatchList {
  return watchListSchema.parse(value);
}
