// The description of one kind in one version: its names, its schema, its subresources, and its defaults and checks.
// Built-in and custom kinds have the same type. Their descriptions come from builtins.ts and custom-resources.ts.
import type { Json, JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { StatusCause } from '../status-error.ts';

/** A column of a Table. */
export type Column = {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority?: number;
  /** Returns the value of the cell. In a column of type `date` it is a time, which is printed as an age. */
  cell(object: ApiObject): Json;
};

/** The paths of the fields behind the scale subresource. */
export type ScalePaths = {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly selector?: readonly string[];
};

/** Validates an object. `old` is undefined for a create. */
export type Check = (object: ApiObject, old: ApiObject | undefined) => readonly StatusCause[];

/** One kind in one version. */
export type ApiResource = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** True for custom kinds, which the schema prunes, defaults and validates. */
  readonly custom: boolean;
  /** The schema of the whole object, with metadata. */
  readonly schema: Schema;
  /** Name of the schema in the built-in OpenAPI document. Custom kinds have none. */
  readonly schemaName?: string;
  readonly status: boolean;
  /** The metadata that a write to /status leaves as it is. It writes the rest, as an update of the object does. */
  readonly statusKeeps: 'all' | readonly string[];
  readonly scale?: ScalePaths;
  /** Subresources with the verb CONNECT, such as `pods/exec`. */
  readonly connects?: readonly { readonly name: string; readonly kind: string }[];
  /**
   * The content whose changes raise metadata.generation. `content`: all except metadata, and except a status
   * subresource.
   */
  readonly generation: 'none' | 'spec' | 'spec-and-annotations' | 'content';
  readonly columns: readonly Column[];
  /** Fields that a fieldSelector can name, in addition to metadata.name and metadata.namespace. */
  readonly selectable: readonly string[];
  /** Returns the error of a name, or undefined. Default: a name is a DNS subdomain. */
  nameError?(name: string): string | undefined;
  /** Whether a PUT must have a resourceVersion. */
  readonly needsVersion: boolean;
  /** Whether a PUT creates an object that does not exist (AllowCreateOnUpdate). */
  readonly putCreates: boolean;
  /** The warning of every response, for a deprecated version. */
  readonly deprecation?: string;
  /** Whether the response to a DELETE is the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /**
   * The other API of the same objects: their collection, the stored apiVersion, and the stored field names by those of
   * this kind.
   */
  readonly alias?: {
    readonly collection: string;
    readonly apiVersion: string;
    readonly fields: Readonly<Record<string, string>>;
  };
  /** Fills in the fields that the server sets; for a write to a status only the defaults of types. */
  prepare?(object: ApiObject, old: ApiObject | undefined, subresource: string): ApiObject;
  check?: Check;
  checkStatus?: Check;
  /** Gives a stored object the fields and the defaults of this version, as its schema is now. */
  complete?(object: ApiObject): ApiObject;
  /** Gives an object the fields of the version in which the kind is stored, if that is another one. */
  toStored?(object: ApiObject): ApiObject;
};

/** Returns the apiVersion of a resource. */
export function apiVersionOf({ group, version }: Pick<ApiResource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns the name of the collection that all versions of a kind share. */
export function collectionOf({ group, plural, alias }: Pick<ApiResource, 'group' | 'plural' | 'alias'>): string {
  return alias?.collection ?? `${group}/${plural}`;
}

/** Returns the subject of errors about an object: the group and the plural name. */
export function collectionSubject({ group, plural }: ApiResource): { group: string; kind: string } {
  return { group, kind: plural };
}

/** Returns the subject of validation errors: the group and the kind. */
export function kindSubject({ group, kind }: ApiResource): { group: string; kind: string } {
  return { group, kind };
}

/**
 * Converts a stored object to one version of its kind: to its apiVersion and its fields, and an alias to its names of
 * them.
 */
export function convertToVersion(object: ApiObject, resource: ApiResource): ApiObject {
  const apiVersion = apiVersionOf(resource);
  const complete = resource.complete?.(object) ?? object;
  if (complete.apiVersion === apiVersion) return complete;
  const names = Object.entries(resource.alias?.fields ?? {}).map(([own, stored]): [string, string] => [stored, own]);
  return { ...renameFields(complete, new Map(names)), apiVersion };
}

/** Converts an object to its stored form. */
export function asStored(object: ApiObject, { alias, toStored }: Pick<ApiResource, 'alias' | 'toStored'>): ApiObject {
  if (alias === undefined) return toStored?.(object) ?? object;
  return { ...renameFields(object, new Map(Object.entries(alias.fields))), apiVersion: alias.apiVersion };
}

function renameFields(object: ApiObject, names: ReadonlyMap<string, string>): ApiObject {
  if (names.size === 0) return object;
  const { apiVersion, kind, metadata } = object;
  const fields = Object.entries(object).map(([field, value]): [string, Json] => [names.get(field) ?? field, value]);
  return { ...Object.fromEntries(fields), apiVersion, kind, metadata };
}

/** Returns the definition of a column for a Table. */
export function columnDefinition({ name, type, format = '', description = '', priority = 0 }: Column): JsonObject {
  return { name, type, format, description, priority };
}
