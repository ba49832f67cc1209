// Objects as a client asked to see them: whole, as metadata only, or as rows of a Table.
import type { Json, JsonObject } from '../../../apiserver/json.ts';
import type { ApiObject } from '../../../apiserver/object.ts';
import { age } from '../../../apiserver/registry/columns.ts';
import { apiVersionOf, columnDefinition, inVersion, type Resource } from '../../../apiserver/registry/resource.ts';
import type { View } from '../../../apiserver/read/media-type.ts';

/** ListMeta. */
export interface ListMetadata extends JsonObject {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** How to show objects of one kind to one client. */
export interface Presentation {
  readonly resource: Resource;
  readonly view: View;
  /** What a Table's rows carry: None, Metadata or Object. */
  readonly includeObject: string;
  readonly now: () => Date;
}

const META = 'meta.k8s.io/v1';

/** Shows one object. */
export function presentObject(object: ApiObject, presentation: Presentation): JsonObject {
  const { resource, view } = presentation;
  if (view === 'table')
    return table([object], { resourceVersion: object.metadata.resourceVersion ?? '' }, presentation);
  return view === 'metadata' ? metadataOnly(object) : inVersion(object, resource);
}

/** Shows a list. */
export function presentList(
  items: readonly ApiObject[],
  metadata: ListMetadata,
  presentation: Presentation,
): JsonObject {
  const { resource, view } = presentation;
  if (view === 'table') return table(items, metadata, presentation);
  if (view === 'metadata') {
    return { kind: 'PartialObjectMetadataList', apiVersion: META, metadata, items: items.map(metadataOnly) };
  }
  return {
    kind: resource.listKind,
    apiVersion: apiVersionOf(resource),
    metadata,
    items: items.map((item) => listed(inVersion(item, resource), resource)),
  };
}

/** Items of built-in lists do not repeat their kind, those of custom ones do. */
function listed(item: ApiObject, { custom }: Resource): JsonObject {
  if (custom) return item;
  const { apiVersion: _, kind: __, ...rest } = item;
  return rest;
}

/** Shows an object in a watch: only a Table's first frame brings the columns. */
export function presentEvent(object: ApiObject, presentation: Presentation, first: boolean): JsonObject {
  const shown = presentObject(object, presentation);
  return presentation.view === 'table' && !first ? { ...shown, columnDefinitions: null } : shown;
}

/** Shows a bookmark: an object with nothing but a version. */
export function presentBookmark(
  resourceVersion: string,
  annotations: Readonly<Record<string, string>> | undefined,
  { resource, view }: Presentation,
): JsonObject {
  const metadata = { resourceVersion, ...(annotations === undefined ? {} : { annotations }) };
  if (view === 'table') return { kind: 'Table', apiVersion: META, metadata, columnDefinitions: null, rows: [] };
  if (view === 'metadata') return { kind: 'PartialObjectMetadata', apiVersion: META, metadata };
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
}

function metadataOnly({ metadata }: ApiObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: META, metadata };
}

function table(
  items: readonly ApiObject[],
  metadata: ListMetadata,
  { resource, includeObject, now }: Presentation,
): JsonObject {
  const time = now();
  const cell = (object: ApiObject, { type, cell: read }: Resource['columns'][number]): Json => {
    const value = read(object);
    return type === 'date' && value !== null ? age(value, time) : value;
  };
  const carried = (object: ApiObject): Json => {
    if (includeObject === 'None') return null;
    return includeObject === 'Object' ? inVersion(object, resource) : metadataOnly(object);
  };
  return {
    kind: 'Table',
    apiVersion: META,
    metadata,
    columnDefinitions: resource.columns.map(columnDefinition),
    rows: items.map((item) => ({ cells: resource.columns.map((column) => cell(item, column)), object: carried(item) })),
  };
}
