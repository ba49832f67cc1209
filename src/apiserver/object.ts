// What every object of the API has, and how an object is found: by its name, and its namespace where the kind has them.
import { isObject, type Json, type JsonObject } from './json.ts';

/** ObjectMeta, as far as the server itself looks at it. */
export interface Metadata extends JsonObject {
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
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly JsonObject[];
}

/** One owner of an object. */
export interface OwnerReference extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** An object of the API. */
export interface ApiObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

/** Where an object is found within its collection; a cluster-scoped one has the namespace ''. */
export interface Key {
  readonly namespace: string;
  readonly name: string;
}

/** Returns the key of a stored object. */
export function keyOf({ metadata }: ApiObject): Key {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}

/**
 * Tells whether a value is an object whose metadata the schema of ObjectMeta has accepted. It only asks what the schema cannot
 * have settled, so it must be called after the schema.
 */
export function isApiObject(value: Json): value is ApiObject {
  return (
    isObject(value) &&
    typeof value.apiVersion === 'string' &&
    typeof value.kind === 'string' &&
    isObject(value.metadata)
  );
}

/** Returns a copy of an object with some of its metadata replaced; undefined removes a field. */
export function withMetadata(object: ApiObject, changes: { readonly [field: string]: Json | undefined }): ApiObject {
  const metadata: Record<string, Json> = { ...object.metadata };
  for (const [field, value] of Object.entries(changes)) {
    if (value === undefined) delete metadata[field];
    else metadata[field] = value;
  }
  return { ...object, metadata };
}
