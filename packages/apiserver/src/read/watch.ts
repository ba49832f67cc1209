// WATCH: the events since the requested version, then every change as it happens. This file decides which events are
// sent. http/watch-stream.ts writes them to the connection, one JSON object a line.
import type { JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { isSet } from '../query.ts';
import { collectionOf } from '../registry/resource.ts';
import { expired, statusOf } from '../status-error.ts';
import type { Store, StoreChange } from '../store/store.ts';
import { forbiddenMatch, parseListVersion } from './list.ts';
import { type MediaType, presentBookmark, presentEvent } from './present.ts';
import type { Selection } from './selection.ts';

/** One event of a watch, as it is sent. */
export interface WatchEventJson extends JsonObject {
  readonly type: string;
  readonly object: JsonObject;
}

/** A running watch. */
export type WatchConnection = {
  /** Returns a bookmark with the current version. */
  bookmark(): WatchEventJson;
  /** Whether the client asked for bookmarks. */
  readonly bookmarks: boolean;
  close(): void;
};

const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' };

/**
 * Starts a watch. Sends the events since the requested version, then every later change until the watch is closed. If
 * the requested version has been compacted, it sends an ERROR event and calls `end`. Throws a 422 StatusError for
 * invalid options.
 */
export function startWatch(
  store: Store,
  selection: Selection,
  mediaType: MediaType,
  query: URLSearchParams,
  send: (event: WatchEventJson) => void,
  end: () => void,
): WatchConnection {
  const collection = collectionOf(mediaType.resource);
  const requested = query.get('resourceVersion') ?? '';
  const initial = isSet(query, 'sendInitialEvents');
  const bookmarks = isSet(query, 'allowWatchBookmarks') === true;
  requireValidOptions(query, initial);
  let first = true;
  const sendEvent = (type: string, object: ApiObject): void => {
    send({ type, object: presentEvent(object, mediaType, first) });
    first = false;
  };
  const sendChange = (change: StoreChange): void => {
    const selected = selectedChange(change, selection);
    if (selected !== undefined) sendEvent(selected.type, selected.object);
  };
  const bookmark = (annotations?: Readonly<Record<string, string>>): WatchEventJson => {
    const object = presentBookmark(String(store.version()), annotations, mediaType);
    return { type: 'BOOKMARK', object };
  };

  let since = parseListVersion(requested);
  const withInitialEvents = initial ?? since === 0;
  if (!withInitialEvents && since > 0 && since < store.oldest()) {
    const status = statusOf(expired(`too old resource version: ${since} (${store.oldest()})`));
    send({ type: 'ERROR', object: status });
    end();
    return { bookmark, bookmarks: false, close: () => {} };
  }
  if (withInitialEvents) {
    for (const object of store.list(collection, selection.namespace))
      if (selection.matches(object)) sendEvent('ADDED', object);
    if (initial === true && bookmarks) send(bookmark(initialEventsEnd));
    since = store.version();
  } else if (since === 0) {
    since = store.version();
  } else {
    for (const change of store.changesSince(collection, since)) sendChange(change);
  }
  // A version in the future is accepted. Events are sent once the server has passed it.
  const startVersion = since;
  const close = store.subscribe(collection, (change) => {
    if (change.version > startVersion) sendChange(change);
  });
  return { bookmark, bookmarks, close };
}

function requireValidOptions(query: URLSearchParams, initial: boolean | undefined): void {
  const match = query.get('resourceVersionMatch') ?? '';
  if (initial !== undefined && match !== 'NotOlderThan')
    throw forbiddenMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if (initial === undefined && match !== '')
    throw forbiddenMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
}

/**
 * Returns a change from the view of a selection, or undefined if it is outside of it. An object that stops matching is
 * DELETED, an object that starts matching is ADDED.
 */
function selectedChange(
  change: StoreChange,
  { namespace, matches }: Selection,
): { type: string; object: ApiObject } | undefined {
  const { object, previous, type } = change;
  if (namespace !== undefined && object.metadata.namespace !== namespace) return undefined;
  const matchedBefore = previous !== undefined && matches(previous);
  const matchesNow = type !== 'DELETED' && matches(object);
  if (matchesNow) return { type: matchedBefore ? 'MODIFIED' : 'ADDED', object };
  if (!matchedBefore) return undefined;
  const { resourceVersion = '' } = object.metadata;
  return { type: 'DELETED', object: { ...previous, metadata: { ...previous.metadata, resourceVersion } } };
}
