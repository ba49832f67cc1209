// A Kubernetes object as it comes off the wire. Only its metadata is checked here, at the edge, because every verb relies on
// it; spec, status and the rest stay unknown until the schema of a kind has parsed them.
import * as z from 'zod';

const ownerReference = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
  blockOwnerDeletion: z.boolean().optional(),
});

const managedFieldsEntry = z.looseObject({
  manager: z.string().optional(),
  operation: z.string().optional(),
  apiVersion: z.string().optional(),
  time: z.string().optional(),
  fieldsType: z.string().optional(),
  fieldsV1: z.unknown().optional(),
  subresource: z.string().optional(),
});

/** The metadata every object has. What a desired object lacks (uid, resourceVersion) is optional. */
const objectMeta = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.number().optional(),
  creationTimestamp: z.string().nullish(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z.array(ownerReference).optional(),
  managedFields: z.array(managedFieldsEntry).optional(),
});

const kubeObject = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: objectMeta,
  spec: z.unknown().optional(),
  status: z.unknown().optional(),
});

/** One entry of metadata.ownerReferences. */
export type OwnerReference = z.infer<typeof ownerReference>;
/** Any Kubernetes object: checked metadata, everything else unknown. */
export type KubeObject = z.infer<typeof kubeObject>;

/** Names a collection of the API: "which kind of things". */
export interface ResourceName {
  /** API group; '' for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, lower case, as in URLs: 'deployments'. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Names one object within a collection. */
export interface ObjectKey {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** Checks the metadata of a value from the API. Throws a ZodError that names the field. */
export function parseObject(value: unknown): KubeObject {
  return kubeObject.parse(value);
}
