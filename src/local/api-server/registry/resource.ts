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
  /** Fills in what the server itself decides. */
  prepare?(object: ApiObject, old: ApiObject | undefined): ApiObject;
  check?: Check;
  /** Verbs served; default all. */
  readonly createOnly?: boolean;
}

/** Returns the apiVersion of a resource. */
export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns the name of the collection that all versions of a kind share. */
export function collectionOf({ group, plural }: Pick<Resource, 'group' | 'plural'>): string {
  return `${group}/${plural}`;
}

/** Names the collection in errors: `gadgets` of a group. */
export function collectionSubject({ group, plural }: Resource): { group: string; kind: string } {
  return { group, kind: plural };
}

/** Names the kind in errors of validation. */
export function kindSubject({ group, kind }: Resource): { group: string; kind: string } {
  return { group, kind };
}

/** Returns an object as one version of its kind shows it: versions differ in name only. */
export function inVersion(object: ApiObject, resource: Resource): ApiObject {
  const apiVersion = apiVersionOf(resource);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** Returns the definition of a column for a Table. */
export function columnDefinition({ name, type, format = '', description = '', priority = 0 }: Column): JsonObject {
  return { name, type, format, description, priority };
}
