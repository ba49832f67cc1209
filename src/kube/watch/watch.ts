// Lists and watches the metadata of one collection without end. It recovers from every failure of the connection, the
// server or etcd. It executes the state machine of watch-state.ts; the caller decides what to forward and what to
// store.
//
// Guarantees: the pages between `listing` and `listed` are the complete collection as of `listed.resourceVersion`. A
// `listing` that is followed by an `error` instead of `listed` is void. After `listed`, every later change follows in
// order, or another `listing` does.
//
// Assumptions: a bookmark arrives at least every 60 s, as Kubernetes' watch cache sends them.
import type { Wait } from '../../core/time.ts';
import type { KubeClient, KubeStream } from '../client/client.ts';
import { ApiError, ConnectError, DeadlineError, IdleError, isGone, ResponseError } from '../client/errors.ts';
import type { ResourceName } from '../client/object.ts';
import { collectionPath } from '../client/path.ts';
import { listPageSize, listPagesAs } from '../client/read.ts';
import { readWatchLines } from './ndjson.ts';
import { type DesiredMetadata, type PartialObjectMetadata, parsePartialMetadata } from './partial-metadata.ts';
import { createRestoreDetection, type RestoreDetection } from './restore-detection.ts';
import { parseWatchEvent, resourceVersionOf, type WatchEvent } from './watch-event.ts';
import { firstState, type ListMode, nextState, type WatchState, watchBackoffSeconds } from './watch-state.ts';

/** The collection to watch, and the labels and annotations to keep. */
export type WatchTarget = {
  readonly resource: ResourceName;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly metadata?: DesiredMetadata;
};

/** One item of listAndWatch: the progress of a list, a watch event, or an error that is retried. */
export type ListWatchItem =
  | { readonly type: 'listing'; readonly mode: ListMode }
  | { readonly type: 'page'; readonly mode: ListMode; readonly items: readonly PartialObjectMetadata[] }
  | { readonly type: 'listed'; readonly mode: ListMode; readonly resourceVersion: string }
  | WatchEvent
  | { readonly type: 'error'; readonly error: unknown; readonly retryInSeconds: number };

/** The options of listAndWatch. */
export type WatchOptions = {
  /** The resourceVersion of the watch checkpoint. Changes up to it are already known. */
  readonly start?: string | undefined;
  readonly signal: AbortSignal;
  readonly wait: Wait;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  /** Whether resourceVersions can be compared (resource-version.ts). Those of aggregated APIs cannot. Default true. */
  readonly comparable?: boolean;
  /** Shared by the watches of one server. Default: not shared. */
  readonly restoreDetection?: RestoreDetection;
  /** Idle timeout: a watch that receives no event for this long is closed. Bookmarks arrive every 60 s. */
  readonly idleTimeoutSeconds?: number;
  readonly pageSize?: number;
  /** Deadline of one page of a list. */
  readonly listSeconds?: number;
};

const metadataType = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/**
 * Lists and watches a collection until the signal aborts. Never throws: a failure is an `error` item and is retried.
 */
export async function* listAndWatch(
  client: KubeClient,
  target: WatchTarget,
  {
    start,
    signal,
    wait,
    random,
    comparable = true,
    restoreDetection = createRestoreDetection(),
    idleTimeoutSeconds = 70,
    pageSize = listPageSize,
    listSeconds = 30,
  }: WatchOptions,
): AsyncGenerator<ListWatchItem> {
  let state = firstState(start);
  let known = restoreDetection.count();
  const pace = createPace(wait);
  let limit = pageSize;
  let silentWatches = 0;
  while (!signal.aborted) {
    let error: unknown;
    // A restore that another watch reports interrupts the current step.
    const interrupted = AbortSignal.any([signal, restoreDetection.next()]);
    if (restoreDetection.count() !== known) state = nextState(state, { type: 'restored' });
    known = restoreDetection.count();
    try {
      if (state.step === 'probe') {
        if (state.next !== 'exact') await restoreDetection.check(interrupted);
        if (restoreDetection.count() !== known) continue;
        const version = await probe(client, target, interrupted);
        state = nextState(state, { type: 'probed', version: comparable ? version : state.version });
        if (state.step === 'list' && state.mode === 'restored') {
          if (restoreDetection.count() === known) restoreDetection.report();
          known = restoreDetection.count();
        }
      } else if (state.step === 'list') {
        const version = yield* list(client, target, state, { signal: interrupted, limit, listSeconds });
        state = nextState(state, { type: 'listed', version });
      } else {
        await pace.beforeOpen(interrupted);
        const stream = await open(client, target, state.version, interrupted);
        pace.opened();
        try {
          let receivedAt = performance.now();
          const idle = {
            seconds: idleTimeoutSeconds,
            wait,
            idleSeconds: () => (performance.now() - receivedAt) / 1000,
          };
          for await (const json of readWatchLines(withIdleTimeout(stream, idle), { label: label(target) })) {
            const event = parseWatchEvent(json, { label: label(target), desired: target.metadata });
            state = nextState(state, { type: 'received', version: resourceVersionOf(event) });
            yield event;
            // Not before the event was taken: a slow consumer is no silence of the server.
            receivedAt = performance.now();
            silentWatches = 0;
          }
        } catch (thrown) {
          if (thrown instanceof IdleError) silentWatches += 1;
          throw thrown instanceof ConnectError && isQuiet(state) && pace.lasted()
            ? new IdleError(thrown.message, { cause: thrown })
            : thrown;
        } finally {
          stream.close();
        }
        const endedEarly = `${label(target)}: the watch ended before its first event`;
        if (isQuiet(state) && pace.lasted()) throw new IdleError(endedEarly);
        state = nextState(state, { type: 'ended' });
        if (state.failures > 0) error = new ConnectError(endedEarly);
      }
    } catch (thrown) {
      error = thrown;
      if (state.step === 'list') limit = nextPageSize(limit, { mode: state.mode, error, pageSize });
      state = nextState(state, { type: 'failed', error });
      if (silentWatches === maxSilentWatches) {
        state = nextState(state, { type: 'stalled' });
        silentWatches = 0;
      }
    }
    if (error === undefined || interrupted.aborted) continue;
    const retryInSeconds = watchBackoffSeconds(state, error, random());
    yield { type: 'error', error, retryInSeconds };
    if (retryInSeconds > 0) await wait(retryInSeconds, interrupted).catch(() => undefined);
  }
}

/** After as many watches without an event, a list shows what a proxy that holds back a response does not deliver. */
const maxSilentWatches = 3;

/** 8 to 20 MB: an object's metadata with its managedFields and annotations has 2 to 5 KB. */
const maxPageSize = 4_000;

/**
 * Returns the objects on a page of the next list. A list that takes longer than its continue token is valid, about five
 * minutes, would fail each time, so the next one has fewer and larger pages. A 410 of an exact list says nothing about
 * its token: the version may be too old. After a timeout the pages are smaller again. Other errors say nothing about
 * the size. (listPagesAs itself divides a page that is larger than the client accepts.)
 */
function nextPageSize(
  limit: number,
  { mode, error, pageSize }: { readonly mode: ListMode; readonly error: unknown; readonly pageSize: number },
): number {
  const isTimeout = error instanceof DeadlineError || (error instanceof ApiError && error.status === 504);
  if (isTimeout) return Math.max(pageSize, Math.floor(limit / 2));
  if (!isGone(error)) return limit;
  return mode === 'exact' ? limit : Math.max(limit, Math.min(4 * limit, maxPageSize));
}

/** A watch that ends sooner is short, as for client-go. A server ends one after minutes, a proxy may after seconds. */
const shortWatchSeconds = 1;

/** Returns whether no event arrived on the watch. */
function isQuiet(state: WatchState): boolean {
  return state.step === 'watch' && !state.received;
}

/**
 * Creates the wait before a watch is opened. Without it, a server or proxy that ends each watch after its first event
 * would cause hundreds of requests a second: an event resets the backoff. One short watch may be chance, so only those
 * that follow another wait.
 */
function createPace(wait: Wait): {
  beforeOpen(signal: AbortSignal): Promise<void>;
  opened(): void;
  /** Whether the watch is no longer a short one. */
  lasted(): boolean;
} {
  let openedAt = -Infinity;
  let shortWatches = 0;
  return {
    beforeOpen: async (signal) => {
      shortWatches = performance.now() - openedAt < shortWatchSeconds * 1000 ? shortWatches + 1 : 0;
      if (shortWatches > 1) await wait(shortWatchSeconds, signal);
    },
    opened: () => {
      openedAt = performance.now();
    },
    lasted: () => performance.now() - openedAt >= shortWatchSeconds * 1000,
  };
}

/** Reads the server's current resourceVersion with a quorum read of at most one object. */
async function probe(client: KubeClient, { resource, namespace }: WatchTarget, signal: AbortSignal): Promise<string> {
  for await (const page of listPagesAs(client, resource, () => null, {
    namespace,
    limit: 1,
    metadataOnly: true,
    signal,
  })) {
    return page.resourceVersion;
  }
  throw new ResponseError('the list has no page');
}

async function* list(
  client: KubeClient,
  { resource, namespace, labelSelector, fieldSelector, metadata }: WatchTarget,
  state: WatchState & { step: 'list' },
  { listSeconds, ...bounds }: { signal: AbortSignal; limit: number; listSeconds: number },
): AsyncGenerator<ListWatchItem, string> {
  const { mode } = state;
  yield { type: 'listing', mode };
  const exact =
    state.mode === 'exact' ? { resourceVersion: state.version, resourceVersionMatch: 'Exact' as const } : {};
  const options = {
    namespace,
    labelSelector,
    fieldSelector,
    ...bounds,
    metadataOnly: true,
    timeoutSeconds: listSeconds,
    ...exact,
  };
  let version = '';
  for await (const page of listPagesAs(client, resource, (item) => parsePartialMetadata(item, metadata), options)) {
    version = page.resourceVersion;
    yield { type: 'page', mode, items: page.items };
  }
  yield { type: 'listed', mode, resourceVersion: version };
  return version;
}

function open(
  client: KubeClient,
  { resource, namespace, labelSelector, fieldSelector }: WatchTarget,
  version: string,
  signal: AbortSignal,
): Promise<KubeStream> {
  return client.stream({
    method: 'GET',
    path: collectionPath(resource, namespace),
    query: { watch: true, allowWatchBookmarks: true, resourceVersion: version, labelSelector, fieldSelector },
    accept: metadataType,
    signal,
  });
}

function label({ resource, namespace }: WatchTarget): string {
  return `WATCH ${collectionPath(resource, namespace)}`;
}

/**
 * Yields the chunks of a stream. After `seconds` without a complete event, it closes the stream and throws a
 * ConnectError. Bytes alone do not count: a proxy that sends single bytes, or blank lines, would hold the stream open
 * for ever.
 */
export async function* withIdleTimeout(
  stream: KubeStream,
  {
    seconds,
    wait,
    idleSeconds,
  }: {
    readonly seconds: number;
    readonly wait: Wait;
    /** Returns the time since the last event of this stream was taken. */
    readonly idleSeconds: () => number;
  },
): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]();
  for (;;) {
    const timer = new AbortController();
    const idle = wait(Math.max(0, seconds - idleSeconds()), timer.signal).then(
      () => 'idle' as const,
      () => 'cancelled' as const,
    );
    const next = chunks.next();
    // The timer is also aborted if the stream fails, because a pending timer would keep the process alive. The reason
    // avoids an error with a stack for each abort.
    const first = await Promise.race([next, idle]).finally(() => timer.abort('received'));
    if (first === 'idle' || first === 'cancelled') {
      stream.close();
      await next.catch(() => undefined);
      throw idleError(seconds);
    }
    if (first.done === true) return;
    yield first.value;
    // Bytes that come faster than the timer.
    if (idleSeconds() >= seconds) {
      stream.close();
      throw idleError(seconds);
    }
  }
}

function idleError(seconds: number): IdleError {
  return new IdleError(`the watch received no event for ${seconds} s`);
}
