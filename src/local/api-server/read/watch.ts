// WATCH: what a client has not seen yet, then every change as it happens, as one JSON object a line. The events are decided
// here; the connection they go out on is http/watch-stream.ts.
import type { JsonObject } from '../../../apiserver/json.ts';
import type { ApiObject } from '../../../apiserver/object.ts';
import { collectionOf } from '../../../apiserver/registry/resource.ts';
import { cause, expired, invalid, statusOf } from '../../../apiserver/status-error.ts';
import type { Change, Store } from '../../../apiserver/store/store.ts';
import { version } from '../../../apiserver/read/list.ts';
import { type Presentation, presentBookmark, presentEvent } from './present.ts';
import type { Selection } from './selection.ts';

/** One line of a watch. */
export interface Frame extends JsonObject {
  readonly type: string;
  readonly object: JsonObject;
}

/** A watch that has begun. */
export interface Watch {
  /** A frame that says how far everything was told. */
  bookmark(): Frame;
  /** Whether the client wants bookmarks. */
  readonly bookmarks: boolean;
  close(): void;
}

const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' };

/**
 * Begins a watch: sends what the client has missed, and every later change until it is closed. `end` is called after a frame
 * that says the asked version is forgotten. Throws a 422 StatusError for options that make no sense.
 */
export function startWatch(
  store: Store,
  chosen: Selection,
  presentation: Presentation,
  query: URLSearchParams,
  send: (frame: Frame) => void,
  end: () => void,
): Watch {
  const collection = collectionOf(presentation.resource);
  const asked = query.get('resourceVersion') ?? '';
  const initial = query.get('sendInitialEvents');
  const bookmarks = query.get('allowWatchBookmarks') === 'true';
  requireSense(query, initial, bookmarks);
  let first = true;
  const show = (type: string, object: ApiObject): void => {
    send({ type, object: presentEvent(object, presentation, first) });
    first = false;
  };
  const tell = (change: Change): void => {
    const shown = asSeen(change, chosen);
    if (shown !== undefined) show(shown.type, shown.object);
  };
  const bookmark = (annotations?: Readonly<Record<string, string>>): Frame => {
    const object = presentBookmark(String(store.version()), annotations, presentation);
    return { type: 'BOOKMARK', object };
  };

  let seen = version(asked);
  const fromNow = initial === 'true' || (initial === null && seen === 0);
  if (!fromNow && seen > 0 && seen < store.oldest()) {
    const status = statusOf(expired(`too old resource version: ${seen} (${store.oldest()})`));
    send({ type: 'ERROR', object: status });
    end();
    return { bookmark, bookmarks: false, close: () => {} };
  }
  if (fromNow) {
    for (const object of store.list(collection, chosen.namespace)) if (chosen.matches(object)) show('ADDED', object);
    if (initial === 'true' && bookmarks) send(bookmark(INITIAL_EVENTS_END));
    seen = store.version();
  } else {
    for (const change of store.changesSince(collection, seen)) tell(change);
  }
  // A version of the future is accepted, and nothing happens until the server has passed it.
  const silentUntil = seen;
  const close = store.follow(collection, (change) => {
    if (change.version > silentUntil) tell(change);
  });
  return { bookmark, bookmarks, close };
}

function requireSense(query: URLSearchParams, initial: string | null, bookmarks: boolean): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const subject = { group: 'meta.k8s.io', kind: 'ListOptions' };
  if (initial !== null) {
    if (match !== 'NotOlderThan') {
      const said = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
      throw invalid(subject, '', [cause.forbidden('resourceVersionMatch', said)]);
    }
    if (initial === 'true' && !bookmarks) {
      const said = 'sendInitialEvents requires allowWatchBookmarks=true';
      throw invalid(subject, '', [cause.forbidden('allowWatchBookmarks', said)]);
    }
    return;
  }
  if (match !== '') {
    const said = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    throw invalid(subject, '', [cause.forbidden('resourceVersionMatch', said)]);
  }
}

/** A change as a selection sees it: an object that leaves it was deleted, one that enters it was added. */
function asSeen(change: Change, { namespace, matches }: Selection): { type: string; object: ApiObject } | undefined {
  const { object, previous, type } = change;
  if (namespace !== undefined && object.metadata.namespace !== namespace) return undefined;
  const was = previous !== undefined && matches(previous);
  const is = type !== 'DELETED' && matches(object);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object };
  if (!was) return undefined;
  const { resourceVersion = '' } = object.metadata;
  return { type: 'DELETED', object: { ...previous, metadata: { ...previous.metadata, resourceVersion } } };
}
