// The connection of a watch: frames as they come, bookmarks while it is quiet, an end after the time the client asked for, or
// when the client reads too slowly to ever catch up.
import type { ServerResponse } from 'node:http';
import { selection } from '../../local/api-server/read/selection.ts';
import { type Frame, startWatch } from '../../local/api-server/read/watch.ts';
import type { World } from '../server-state.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from '../../local/api-server/http/route.ts';
import { presentation } from './verbs.ts';

/** A client that lets this much wait is cut off and may come back. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** kube-apiserver's --min-request-timeout: a watch lasts that long or up to twice as long. */
const DEFAULT_SECONDS = 1800;

/** Answers a watch on `response`. Throws StatusErrors, before anything is sent. */
export function streamWatch(
  world: World,
  { resource, namespace, name }: Route,
  exchange: Exchange,
  response: ServerResponse,
  bookmarkSeconds: number,
): void {
  const { query } = exchange;
  if (name !== undefined) query.set('fieldSelector', `metadata.name=${name}`);
  const chosen = selection(resource, namespace, query);
  const shown = presentation(world, resource, exchange);
  // Frames of the beginning are kept until it is sure that there is nothing to refuse.
  const waiting: Frame[] = [];
  let begun = false;
  let ended = false;
  const write = (frame: Frame): void => {
    if (response.writableLength > MAX_WAITING_BYTES) response.destroy();
    else response.write(`${JSON.stringify(frame)}\n`);
  };
  const send = (frame: Frame): void => {
    if (begun) write(frame);
    else waiting.push(frame);
  };
  const watch = startWatch(world.store, chosen, shown, query, send, () => {
    ended = true;
  });
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  begun = true;
  for (const frame of waiting) write(frame);
  if (ended) {
    response.end();
    return;
  }
  const bookmarks = setInterval(() => {
    if (watch.bookmarks) write(watch.bookmark());
  }, bookmarkSeconds * 1000).unref();
  const seconds = Number(query.get('timeoutSeconds')) || DEFAULT_SECONDS;
  const timeout = setTimeout(() => response.end(), seconds * 1000).unref();
  response.once('close', () => {
    watch.close();
    clearInterval(bookmarks);
    clearTimeout(timeout);
  });
}

/** Tells whether a request is a watch. */
export function isWatch({ method, query }: Exchange): boolean {
  return method === 'GET' && ['true', '1'].includes(query.get('watch') ?? '');
}
