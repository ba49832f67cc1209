// A Kubernetes object from the API. Only its metadata is validated here, because every caller relies on it. Spec,
// status and all other fields stay unknown until the schema of a kind parses them.
import * as z from 'zod';
import { uncompiled } from '../../core/json.ts';
import { ResponseError } from './errors.ts';

// Shared: a function makes each schema when it loads.
const text = z.string();
const optionalText = text.optional();
const flag = z.boolean().optional();
const texts = z.record(text, text).optional();
const anything = z.unknown().optional();

const ownerReference = z.looseObject({
  apiVersion: text,
  kind: text,
  name: text,
  uid: text,
  controller: flag,
  blockOwnerDeletion: flag,
});

const managedFieldsEntry = z.looseObject({
  manager: optionalText,
  operation: optionalText,
  apiVersion: optionalText,
  time: optionalText,
  fieldsType: optionalText,
  fieldsV1: anything,
  subresource: optionalText,
});

/** The metadata of every object. Fields that a desired object lacks (uid, resourceVersion) are optional. */
const objectMeta = z.looseObject({
  name: text,
  namespace: optionalText,
  uid: optionalText,
  resourceVersion: optionalText,
  generation: z.number().optional(),
  creationTimestamp: z.string().nullish(),
  deletionTimestamp: optionalText,
  labels: texts,
  annotations: texts,
  finalizers: z.array(text).optional(),
  ownerReferences: z.array(ownerReference).optional(),
  managedFields: z.array(managedFieldsEntry).optional(),
});

const kubeObject = z.looseObject({
  apiVersion: optionalText,
  kind: optionalText,
  metadata: objectMeta,
  spec: anything,
  status: anything,
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
