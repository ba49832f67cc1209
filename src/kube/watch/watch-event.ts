// A watch event: the change of one object, a bookmark, or an ERROR that ends the watch.
import { ApiError, ResponseError } from '../client/errors.ts';
import {
  type DesiredMetadata,
  type PartialObjectMetadata,
  parsePartialMetadata,
  parseResourceVersion,
} from './partial-metadata.ts';

/** One watch event. A bookmark has a resourceVersion only. */
export type WatchEvent =
  | { readonly type: 'changed'; readonly metadata: PartialObjectMetadata }
  | { readonly type: 'deleted'; readonly metadata: PartialObjectMetadata }
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

/** Parses a watch event. Throws an ERROR event as an ApiError, and a ResponseError for an unknown type. */
export function parseWatchEvent(
  json: unknown,
  { label, desired }: { readonly label: string; readonly desired: DesiredMetadata | undefined },
): WatchEvent {
  const { type, object } = fieldsOf(json);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'changed', metadata: parsePartialMetadata(object, desired) };
    case 'DELETED':
      return { type: 'deleted', metadata: parsePartialMetadata(object, desired) };
    case 'BOOKMARK':
      return { type: 'bookmark', resourceVersion: parseResourceVersion(object) };
    case 'ERROR':
      throw new ApiError(label, codeOf(object), object);
    default:
      throw new ResponseError(`${label}: a watch event of unknown type`);
  }
}

/** Returns the resourceVersion that a watch has reached with an event. */
export function resourceVersionOf(event: WatchEvent): string {
  return event.type === 'bookmark' ? event.resourceVersion : event.metadata.resourceVersion;
}

function fieldsOf(json: unknown): { type?: unknown; object?: unknown } {
  return typeof json === 'object' && json !== null ? json : {};
}

/** Returns the HTTP status in an ERROR event. Without a valid one it is 500, so that the watch is retried. */
function codeOf(object: unknown): number {
  return typeof object === 'object' && object !== null && 'code' in object && typeof object.code === 'number'
    ? object.code
    : 500;
}
