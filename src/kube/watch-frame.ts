// One frame of a watch: what happened to which object, or that the server will not go on.
import { AnswerError, ApiError } from './client/errors.ts';
import { type ObjectHead, parseHead, parseVersion, type WantedMetadata } from './watch/partial-metadata.ts';

/** What one frame of a watch says. */
export type FrameEvent =
  | { readonly type: 'changed'; readonly head: ObjectHead }
  | { readonly type: 'deleted'; readonly head: ObjectHead }
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

/** Parses a frame. Throws its ERROR as an ApiError, and an AnswerError for what is no frame. `label` is for messages. */
export function parseFrame(
  frame: unknown,
  { label, wanted }: { readonly label: string; readonly wanted: WantedMetadata | undefined },
): FrameEvent {
  const { type, object } = asFrame(frame);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'changed', head: parseHead(object, wanted) };
    case 'DELETED':
      return { type: 'deleted', head: parseHead(object, wanted) };
    case 'BOOKMARK':
      return { type: 'bookmark', resourceVersion: parseVersion(object) };
    case 'ERROR':
      throw new ApiError(label, codeOf(object), object);
    default:
      throw new AnswerError(`${label}: a frame of unknown type`);
  }
}

/** Returns the version that a frame brings a watch up to. */
export function versionOf(event: FrameEvent): string {
  return event.type === 'bookmark' ? event.resourceVersion : event.head.resourceVersion;
}

function asFrame(frame: unknown): { type?: unknown; object?: unknown } {
  return typeof frame === 'object' && frame !== null ? frame : {};
}

/** The HTTP status of an ERROR's Status; 500 when it is none, so that it is retried. */
function codeOf(object: unknown): number {
  return typeof object === 'object' && object !== null && 'code' in object && typeof object.code === 'number'
    ? object.code
    : 500;
}
