// The HTTP response of a watch: events as they happen, and bookmarks at intervals. The stream ends after
// `timeoutSeconds`, and when the definition of a custom kind changes: kube-apiserver then makes a new storage for the
// kind. A client that reads too slowly is disconnected.
import type { ServerResponse } from 'node:http';
import { sameJson } from '../json.ts';
import { isSet } from '../query.ts';
import { parseSelection } from '../read/selection.ts';
import { startWatch, type WatchEventJson } from '../read/watch.ts';
import { definitionsCollection } from '../registry/registry.ts';
import type { ApiResource } from '../registry/resource.ts';
import type { ServerState } from '../server-state.ts';
import type { Store } from '../store/store.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './route.ts';
import { mediaTypeOf } from './verbs.ts';

/** A client with more unsent data than this is disconnected. It can start a new watch. */
const maxBufferedBytes = 64 * 1024 * 1024;
/** kube-apiserver's --min-request-timeout. There a watch without a timeout lasts between this and twice as long. */
const defaultTimeoutSeconds = 1800;

/** Streams a watch to `response`. Throws StatusErrors before anything is sent. */
export function streamWatch(
  state: ServerState,
  { resource, namespace }: Route,
  exchange: Exchange,
  response: ServerResponse,
  bookmarkSeconds: number,
): void {
  const { query } = exchange;
  const selection = parseSelection(resource, namespace, query);
  const mediaType = mediaTypeOf(state, resource, exchange);
  // The first events are buffered until startWatch has returned, because it may still throw a StatusError.
  const buffered: WatchEventJson[] = [];
  let started = false;
  let ended = false;
  const write = (event: WatchEventJson): void => {
    if (response.writableLength > maxBufferedBytes) response.destroy();
    else response.write(`${JSON.stringify(event)}\n`);
  };
  const send = (event: WatchEventJson): void => {
    if (started) write(event);
    else buffered.push(event);
  };
  const watch = startWatch(state.store, selection, mediaType, query, send, () => {
    ended = true;
  });
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  started = true;
  for (const event of buffered) write(event);
  if (ended) {
    response.end();
    return;
  }
  const bookmarks = setInterval(() => {
    if (watch.bookmarks) write(watch.bookmark());
  }, bookmarkSeconds * 1000).unref();
  const seconds = Number(query.get('timeoutSeconds')) || defaultTimeoutSeconds;
  const timeout = setTimeout(() => response.end(), seconds * 1000).unref();
  const stopListening = onRedefinition(state.store, resource, () => response.end());
  response.once('close', () => {
    watch.close();
    stopListening();
    clearInterval(bookmarks);
    clearTimeout(timeout);
  });
}

/** Calls `onChange` when the definition of a custom kind is deleted, or another one takes its place. */
function onRedefinition(store: Store, { custom, plural, group }: ApiResource, onChange: () => void): () => void {
  if (!custom) return () => undefined;
  return store.subscribe(definitionsCollection, ({ type, object, previous }) => {
    if (object.metadata.name !== `${plural}.${group}`) return;
    if (type === 'DELETED' || !sameJson(object.spec, previous?.spec)) onChange();
  });
}

/** Returns whether a request is a watch. */
export function isWatch({ method, query }: Exchange): boolean {
  return method === 'GET' && isSet(query, 'watch') === true;
}
