// The type of every API object, its metadata, and the key it is stored under: its name, and its namespace if the kind
// is namespaced.
import { isObject, type Json, type JsonObject } from './json.ts';

// Types with optional fields are no interfaces: an author's compiler without `exactOptionalPropertyTypes` adds
// undefined to such a field, which the index of an interface does not allow.

/** The fields of ObjectMeta that the server reads or writes. */
export type Metadata = JsonObject & {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly StoredOwnerReference[];
  readonly managedFields?: readonly JsonObject[];
};

/** One entry of `metadata.ownerReferences`. */
export type StoredOwnerReference = JsonObject & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

/** An object of the API. */
export interface ApiObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

/** The key of an object in its collection. The namespace of a cluster-scoped object is ''. */
export type NamespacedName = {
  readonly namespace: string;
  readonly name: string;
};

/** Returns the key of a stored object. */
export function namespacedName({ metadata }: ApiObject): NamespacedName {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}

/**
 * Returns whether a value is an API object. The metadata must have passed the schema of ObjectMeta before, because only
 * the presence of metadata is checked here.
 */
export function isApiObject(value: Json): value is ApiObject {
  return (
    isObject(value) &&
    typeof value.apiVersion === 'string' &&
    typeof value.kind === 'string' &&
    isObject(value.metadata)
  );
}

/** Returns a copy of an object with some metadata fields replaced. The value undefined removes a field. */
export function withMetadata(object: ApiObject, changes: { readonly [field: string]: Json | undefined }): ApiObject {
  const metadata: Record<string, Json> = { ...object.metadata };
  for (const [field, value] of Object.entries(changes)) {
    if (value === undefined) delete metadata[field];
    else metadata[field] = value;
  }
  return { ...object, metadata };
}
