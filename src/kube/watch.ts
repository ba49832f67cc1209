// Follows one collection's metadata for ever: lists, watches, and comes back after whatever happens to the connection, the
// server or etcd. The mechanism is here; what is forwarded, and what is kept, is the watcher's to decide.
//
// Guarantees: between `listing` and its `listed`, the pages are the whole collection as of `listed.resourceVersion`; a
// `listing` without `listed` (trouble in between) is void. Every change after that version follows, in order, or another
// `listing` does. Assumptions: bookmarks arrive at least every 60 s, as Kubernetes' watch cache sends them.
import type { KubeClient, KubeStream } from './client/client.ts';
import { AnswerError, ConnectError } from './client/errors.ts';
import { readFrames } from './frames.ts';
import { type ObjectHead, parseHead, type WantedMetadata } from './watch/partial-metadata.ts';
import type { ResourceName } from './client/object.ts';
import { collectionPath } from './client/path.ts';
import { listPagesAs } from './client/read.ts';
import { createRestoration, type Restoration } from './restoration.ts';
import { untilSilent } from './until-silent.ts';
import type { Wait } from '../core/time.ts';
import { type FrameEvent, parseFrame, versionOf } from './watch-frame.ts';
import { backoffSeconds, firstState, type ListMode, nextState, type WatchState } from './watch-state.ts';

/** What to follow, and which labels and annotations to keep of it. */
export interface WatchTarget {
  readonly resource: ResourceName;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly wanted?: WantedMetadata;
}

/** What a watch tells its follower. */
export type WatchEvent =
  | { readonly type: 'listing'; readonly mode: ListMode }
  | { readonly type: 'page'; readonly mode: ListMode; readonly items: readonly ObjectHead[] }
  | { readonly type: 'listed'; readonly mode: ListMode; readonly resourceVersion: string }
  | FrameEvent
  | { readonly type: 'trouble'; readonly error: unknown; readonly retryInSeconds: number };

/** How to follow. */
export interface WatchOptions {
  /** Version up to which everything is known from before: the cursor. */
  readonly start?: string | undefined;
  readonly signal: AbortSignal;
  readonly wait: Wait;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  /** Whether versions may be compared (resource-version.ts); those of aggregated APIs may not. Default true. */
  readonly comparable?: boolean;
  /** Shared by the watches of one server. Default: this one stands alone. */
  readonly restoration?: Restoration;
  /** Silence after which a stream is given up: bookmarks come every 60 s. */
  readonly idleSeconds?: number;
  readonly pageSize?: number;
  /** Deadline of one page of a list. */
  readonly listSeconds?: number;
}

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Follows a collection until the signal aborts; then the iteration ends. Never throws: failures are `trouble`, and retried. */
export async function* watchHeads(
  client: KubeClient,
  target: WatchTarget,
  {
    start,
    signal,
    wait,
    random,
    comparable = true,
    restoration = createRestoration(),
    idleSeconds = 70,
    pageSize = 500,
    listSeconds = 30,
  }: WatchOptions,
): AsyncGenerator<WatchEvent> {
  let state = firstState(start);
  let known = restoration.count();
  while (!signal.aborted) {
    let error: unknown;
    // Whatever this one does, the news of another one ends it.
    const until = AbortSignal.any([signal, restoration.next()]);
    if (restoration.count() !== known) state = nextState(state, { type: 'restored' });
    known = restoration.count();
    try {
      if (state.step === 'probe') {
        const version = await probe(client, target, until);
        state = nextState(state, { type: 'probed', version: comparable ? version : state.version });
        if (state.step === 'list' && state.mode === 'restored') {
          if (restoration.count() === known) restoration.tell();
          known = restoration.count();
        }
      } else if (state.step === 'list') {
        const version = yield* list(client, target, state, { signal: until, pageSize, listSeconds });
        state = nextState(state, { type: 'listed', version });
      } else {
        const stream = await open(client, target, state.version, until);
        try {
          for await (const frame of readFrames(untilSilent(stream, idleSeconds, wait))) {
            const event = parseFrame(frame, { label: label(target), wanted: target.wanted });
            state = nextState(state, { type: 'heard', version: versionOf(event) });
            yield event;
          }
        } finally {
          stream.close();
        }
        state = nextState(state, { type: 'ended' });
        if (state.failures > 0) error = new ConnectError(`${label(target)}: a watch ended before its first frame`);
      }
    } catch (thrown) {
      error = thrown;
      state = nextState(state, { type: 'failed', error });
    }
    if (error === undefined || until.aborted) continue;
    const retryInSeconds = backoffSeconds(state.failures, error, random());
    yield { type: 'trouble', error, retryInSeconds };
    if (retryInSeconds > 0) await wait(retryInSeconds, until).catch(() => undefined);
  }
}

/** Asks for the server's current version: a quorum read of at most one object. */
async function probe(client: KubeClient, { resource, namespace }: WatchTarget, signal: AbortSignal): Promise<string> {
  for await (const page of listPagesAs(client, resource, () => null, {
    namespace,
    limit: 1,
    metadataOnly: true,
    signal,
  })) {
    return page.resourceVersion;
  }
  throw new AnswerError('a list without a page');
}

async function* list(
  client: KubeClient,
  { resource, namespace, labelSelector, wanted }: WatchTarget,
  state: WatchState & { step: 'list' },
  { signal, pageSize, listSeconds }: { signal: AbortSignal; pageSize: number; listSeconds: number },
): AsyncGenerator<WatchEvent, string> {
  const { mode } = state;
  yield { type: 'listing', mode };
  const exact =
    state.mode === 'exact' ? { resourceVersion: state.version, resourceVersionMatch: 'Exact' as const } : {};
  const options = {
    namespace,
    labelSelector,
    limit: pageSize,
    metadataOnly: true,
    signal,
    timeoutSeconds: listSeconds,
    ...exact,
  };
  let version = '';
  for await (const page of listPagesAs(client, resource, (item) => parseHead(item, wanted), options)) {
    version = page.resourceVersion;
    yield { type: 'page', mode, items: page.items };
  }
  yield { type: 'listed', mode, resourceVersion: version };
  return version;
}

function open(
  client: KubeClient,
  { resource, namespace, labelSelector }: WatchTarget,
  version: string,
  signal: AbortSignal,
): Promise<KubeStream> {
  return client.stream({
    method: 'GET',
    path: collectionPath(resource, namespace),
    query: { watch: true, allowWatchBookmarks: true, resourceVersion: version, labelSelector },
    accept: METADATA,
    signal,
  });
}

function label({ resource, namespace }: WatchTarget): string {
  return `WATCH ${collectionPath(resource, namespace)}`;
}
