// A Kubernetes object from the API. Only its metadata is validated here, because every caller relies on it. Spec,
// status and all other fields stay unknown until the schema of a kind parses them.
import * as z from 'zod';
import { uncompiled } from '../../core/json.ts';
import { ResponseError } from './errors.ts';

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

/** The metadata of every object. Fields that a desired object lacks (uid, resourceVersion) are optional. */
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
export type ParsedOwnerReference = z.infer<typeof ownerReference>;
/** Any Kubernetes object: validated metadata, everything else unknown. */
export type KubeObject = z.infer<typeof kubeObject>;

/** Names a resource of the API: a GroupVersionResource and its scope. */
export interface ResourceName {
  /** API group, '' for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural in lower case, as in URLs, such as 'deployments'. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** True for a kind of an aggregated API. Its objects may have neither uid nor version, and its lists no version. */
  readonly aggregated?: boolean | undefined;
}

/** Names one object of a resource. */
export interface ObjectKey {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** Validates the metadata of a value from the API. Throws a ZodError that names the field. */
export function parseObject(value: unknown): KubeObject {
  return kubeObject.parse(value, uncompiled);
}

/** Validates as parseObject does. Returns undefined for a value that is not an object of the API. */
export function safeParseObject(value: unknown): KubeObject | undefined {
  return kubeObject.safeParse(value, uncompiled).data;
}

/**
 * Validates the body of a response to a write, as parseObject does. Throws a ResponseError that does not quote it, also
 * if it is another object than the one of `uid`.
 */
export function parseWritten(body: unknown, request: string, uid?: string): KubeObject {
  const object = safeParseObject(body);
  if (object === undefined) throw new ResponseError(`${request}: the response is not that of an API server`);
  if (uid !== undefined && object.metadata.uid !== uid)
    throw new ResponseError(`${request}: the response is another object`);
  return object;
}
