// Converts objects to the representation that the client accepts: whole, as metadata only, or as rows of a Table.
import type { Json, JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { age } from '../registry/cells.ts';
import { type ApiResource, apiVersionOf, columnDefinition, convertToVersion } from '../registry/resource.ts';
import type { View } from './media-type.ts';

/** ListMeta. */
export interface ListMetadata extends JsonObject {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The representation of one kind that one client accepts. */
export type MediaType = {
  readonly resource: ApiResource;
  readonly view: View;
  /** The content of `object` in the rows of a Table: None, Metadata or Object. */
  readonly includeObject: string;
  readonly now: () => Date;
};

const metaApiVersion = 'meta.k8s.io/v1';

/** Returns the representation of one object. */
export function presentObject(object: ApiObject, mediaType: MediaType): JsonObject {
  const { resource, view } = mediaType;
  if (view === 'table') return table([object], { resourceVersion: object.metadata.resourceVersion ?? '' }, mediaType);
  return view === 'metadata' ? metadataOnly(object) : convertToVersion(object, resource);
}

/** Returns the representation of a list. */
export function presentList(items: readonly ApiObject[], metadata: ListMetadata, mediaType: MediaType): JsonObject {
  const { resource, view } = mediaType;
  if (view === 'table') return table(items, metadata, mediaType);
  if (view === 'metadata') {
    return { kind: 'PartialObjectMetadataList', apiVersion: metaApiVersion, metadata, items: items.map(metadataOnly) };
  }
  return {
    kind: resource.listKind,
    apiVersion: apiVersionOf(resource),
    metadata,
    items: items.map((item) => listItem(convertToVersion(item, resource), resource)),
  };
}

/** Returns an item of a list. Items of built-in kinds have no kind and apiVersion, items of custom kinds have both. */
function listItem(item: ApiObject, { custom }: ApiResource): JsonObject {
  if (custom) return item;
  const { apiVersion: _, kind: __, ...rest } = item;
  return rest;
}

/** Returns the representation of an object in a watch event. Only the first event of a Table contains the columns. */
export function presentEvent(object: ApiObject, mediaType: MediaType, first: boolean): JsonObject {
  const presented = presentObject(object, mediaType);
  return mediaType.view === 'table' && !first ? { ...presented, columnDefinitions: null } : presented;
}

/** Returns the object of a bookmark, which has a version and no content. */
export function presentBookmark(
  resourceVersion: string,
  annotations: Readonly<Record<string, string>> | undefined,
  { resource, view }: MediaType,
): JsonObject {
  const metadata = { resourceVersion, ...(annotations === undefined ? {} : { annotations }) };
  if (view === 'table')
    return { kind: 'Table', apiVersion: metaApiVersion, metadata, columnDefinitions: null, rows: [] };
  if (view === 'metadata') return { kind: 'PartialObjectMetadata', apiVersion: metaApiVersion, metadata };
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
}

function metadataOnly({ metadata }: ApiObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: metaApiVersion, metadata };
}

function table(
  items: readonly ApiObject[],
  metadata: ListMetadata,
  { resource, includeObject, now }: MediaType,
): JsonObject {
  const time = now();
  const cell = (object: ApiObject, { type, cell: read }: ApiResource['columns'][number]): Json => {
    const value = read(object);
    return type === 'date' && value !== null ? age(value, time) : value;
  };
  const rowObject = (object: ApiObject): Json => {
    if (includeObject === 'None') return null;
    return includeObject === 'Object' ? convertToVersion(object, resource) : metadataOnly(object);
  };
  return {
    kind: 'Table',
    apiVersion: metaApiVersion,
    metadata,
    columnDefinitions: resource.columns.map(columnDefinition),
    rows: items.map((item) => ({
      cells: resource.columns.map((column) => cell(item, column)),
      object: rowObject(item),
    })),
  };
}
