// What the server knows about one kind in one version: where it is stored, what its objects look like, what may be done to them.
// Built-in kinds and custom ones are the same thing here; only the source of the description differs.
import type { Json, JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { Cause } from '../status-error.ts';

/** A column of a Table. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority?: number;
  /** Returns the cell; a time for a column of type `date` is shown as an age. */
  cell(object: ApiObject): Json;
}

/** Where the scale subresource finds its numbers. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly selector?: readonly string[];
}

/** What an update may not do, or a create must. */
export type Check = (object: ApiObject, old: ApiObject | undefined) => readonly Cause[];

/** One kind in one version. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Unstructured objects: pruned, defaulted and validated by the schema. */
  readonly custom: boolean;
  /** The whole object's, with metadata. */
  readonly schema: Schema;
  /** Name of the schema in the built-in OpenAPI; custom kinds have none. */
  readonly schemaName?: string;
  readonly status: boolean;
  readonly scale?: ScalePaths;
  /** Subresources that are a connection to something that runs. */
  readonly connects?: readonly { readonly name: string; readonly kind: string }[];
  /** What raises metadata.generation: nothing, the spec, or everything outside metadata (and status, where it is a subresource). */
  readonly generation: 'none' | 'spec' | 'spec-and-annotations' | 'content';
  readonly columns: readonly Column[];
  /** Fields a fieldSelector may name, beside metadata.name and metadata.namespace. */
  readonly selectable: readonly string[];
  /** Returns what is wrong with a name, or undefined. Default: a DNS subdomain. */
  nameProblem?(name: string): string | undefined;
  /** Whether a replacement must say which version it replaces. */
  readonly needsVersion: boolean;
  /** Whether deleting answers the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** Another kind's collection, where the same objects are stored, and that kind's names of fields by this one's. */
  readonly alias?: {
    readonly collection: string;
    readonly apiVersion: string;
    readonly fields: Readonly<Record<string, string>>;
  };
  /** Fills in what the server itself decides. */
  prepare?(object: ApiObject, old: ApiObject | undefined): ApiObject;
  check?: Check;
  /** Completes a stored object by the schema of today, which may have got defaults since. */
  complete?(object: ApiObject): ApiObject;
}

/** What has to be said about a built-in kind; the rest is usual. */
export type Described = Partial<Resource> & { readonly kind: string; readonly plural: string };

/** Returns the apiVersion of a resource. */
export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns the name of the collection that all versions of a kind share. */
export function collectionOf({ group, plural, alias }: Pick<Resource, 'group' | 'plural' | 'alias'>): string {
  return alias?.collection ?? `${group}/${plural}`;
}

/** Names the collection in errors: `gadgets` of a group. */
export function collectionSubject({ group, plural }: Resource): { group: string; kind: string } {
  return { group, kind: plural };
}

/** Names the kind in errors of validation. */
export function kindSubject({ group, kind }: Resource): { group: string; kind: string } {
  return { group, kind };
}

/** Returns a stored object as one version of its kind shows it. Versions differ in name only, an alias in names of fields. */
export function inVersion(object: ApiObject, resource: Resource): ApiObject {
  const apiVersion = apiVersionOf(resource);
  const complete = resource.complete?.(object) ?? object;
  if (complete.apiVersion === apiVersion) return complete;
  const names = Object.entries(resource.alias?.fields ?? {}).map(([own, stored]): [string, string] => [stored, own]);
  return { ...renamed(complete, new Map(names)), apiVersion };
}

/** Returns an object as it is stored. */
export function asStored(object: ApiObject, { alias }: Pick<Resource, 'alias'>): ApiObject {
  if (alias === undefined) return object;
  return { ...renamed(object, new Map(Object.entries(alias.fields))), apiVersion: alias.apiVersion };
}

function renamed(object: ApiObject, names: ReadonlyMap<string, string>): ApiObject {
  if (names.size === 0) return object;
  const { apiVersion, kind, metadata } = object;
  const fields = Object.entries(object).map(([field, value]): [string, Json] => [names.get(field) ?? field, value]);
  return { ...Object.fromEntries(fields), apiVersion, kind, metadata };
}

/** Returns the definition of a column for a Table. */
export function columnDefinition({ name, type, format = '', description = '', priority = 0 }: Column): JsonObject {
  return { name, type, format, description, priority };
}
