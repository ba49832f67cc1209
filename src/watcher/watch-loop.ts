// One collection, followed for ever: what its events mean for the store, for the keys to be forwarded, and for how far the
// cursor may move. How a watch survives its server is kube/watch.ts; what a change concerns is runtime/forward.ts.
import type { Log } from '../core/context.ts';
import { toError } from '../core/errors.ts';
import type { Key, TargetKey } from '../core/key.ts';
import { redact } from '../core/redact.ts';
import type { WatchedResource } from '../core/watch-list.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { ObjectHead } from '../kube/watch/partial-metadata.ts';
import { compareVersions } from '../kube/resource-version.ts';
import type { Restoration } from '../kube/restoration.ts';
import type { Wait } from '../core/time.ts';
import { type WatchEvent, watchHeads } from '../kube/watch.ts';
import type { ListMode } from '../kube/watch-state.ts';
import { isCursorObject } from '../runtime/cursor-object.ts';
import { allTargets, forward, type Happening, type Seen, toSeen, wantedOf } from '../runtime/forward.ts';
import type { Forwarder } from '../runtime/forwarder.ts';
import { createProgress, type Hold } from '../runtime/progress.ts';
import { type Cursor, noCursor } from './cursor.ts';
import { entryNameOf } from './entry-name.ts';
import { createEras } from './eras.ts';
import type { LoopHealth } from './health.ts';
import { observedClient } from './observed-client.ts';
import { readStart } from './read-start.ts';
import { createStore } from './store.ts';
import { createSweeps, type Sweeps } from './sweeps.ts';

/** What a loop works with. */
export type LoopParts = {
  readonly client: KubeClient;
  readonly forwarder: Pick<Forwarder, 'mark' | 'markBulk'>;
  readonly cursor: Cursor;
  readonly health: LoopHealth;
  /** Shared by all loops of the cluster. */
  readonly restoration: Restoration;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: Wait;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  /** Something never used before, to name a bulk. */
  readonly nonce: () => string;
  /** Sends every primary of these controllers in bulk: a list cannot show which of their children were deleted. */
  readonly sweep: (controllers: readonly string[], held: Hold, sinceMs: number) => void;
};

/** A collection that is followed. */
export type WatchLoop = {
  /** Follows until the signal aborts. Never throws. */
  run(signal: AbortSignal): Promise<void>;
  /** Sends every object in bulk, as soon as they are known, for one of the controllers whose primaries they are. */
  readonly sweep: Sweeps['ask'];
  /** How many objects are known. */
  objects(): number;
  /** The version up to which SQS has accepted everything; undefined while that is not known. */
  accepted(): string | undefined;
};

/** After a mistake of ours a loop begins anew, and not at once. */
const anewSeconds = 5;

/** Creates the loop of one collection. */
export function createWatchLoop(
  parts: LoopParts,
  {
    resource,
    cluster,
    namespace: only,
    queues,
  }: {
    readonly resource: WatchedResource;
    readonly cluster: string;
    readonly namespace?: string | undefined;
    /** Whose queues the keys go to, as the cursor's entries tell them apart. */
    readonly queues?: string | undefined;
  },
): WatchLoop {
  const { forwarder, health, log, now } = parts;
  // The versions of an aggregated API may be anything, and are never compared.
  const cursor = resource.aggregated === true ? noCursor : parts.cursor;
  const namespace = resource.namespaced ? only : undefined;
  const name = entryNameOf(resource, { namespace, queues });
  const store = createStore();
  const createOurs = () => createProgress((version) => cursor.accepted(name, version));
  let progress = createOurs();
  const what = { resource, cluster };
  const sweeps = createSweeps(sendAll, { now });
  const eras = createEras({ now });
  const client = observedClient(parts.client, health);
  let run = '';
  /** Of the list under way: when it began, and whether all of it goes out in bulk. */
  let listing = { sinceMs: 0, inBulk: false };

  function markAll(targets: readonly TargetKey[], bulk: string, held: Hold): void {
    for (const target of targets) forwarder.markBulk({ target, seenAt: now(), run: bulk, progress: held });
  }

  function mark(key: Key, before: Seen | undefined, happening: Happening): void {
    for (const { target, source } of forward(what, key, before, happening)) {
      forwarder.mark({ target, source: eras.of(source), seenAt: now(), progress });
    }
  }

  function see(head: ObjectHead): void {
    const key = keyOf(head);
    const after = toSeen(resource, head);
    mark(key, store.get(key), { type: 'changed', after });
    store.put(key, after);
  }

  /** An object of a list: compared with what is known of it; what that is, the mode says. */
  function find(head: ObjectHead, mode: ListMode, start: string | undefined): void {
    const key = keyOf(head);
    if (store.get(key) !== undefined || mode === 'relist') {
      see(head);
      return;
    }
    const after = toSeen(resource, head);
    if (mode === 'initial' || mode === 'restored') markAll(allTargets(what, key, after), run, progress);
    if (mode === 'expired' && isNewer(head.resourceVersion, start)) mark(key, undefined, { type: 'changed', after });
    store.put(key, after);
  }

  function lose(head: ObjectHead): void {
    const key = keyOf(head);
    mark(key, store.get(key), { type: 'gone', version: head.resourceVersion, last: toSeen(resource, head) });
    store.delete(key);
  }

  function sendAll(controller: string, held: Hold): void {
    const bulk = `watcher-${parts.nonce()}`;
    for (const [key, seen] of store.entries()) {
      const targets = allTargets(what, key, seen);
      markAll(
        targets.filter((target) => target.controller === controller),
        bulk,
        held,
      );
    }
  }

  function begin(mode: ListMode): void {
    health.listing();
    run = `watcher-${parts.nonce()}`;
    if (mode === 'restored') {
      log.warn('the server is older than what is known of it: restored from a backup; everything is forwarded');
      store.clear();
      // Another one: keys that have waited since before the restore hold nothing back, those marked from here on do.
      progress.reset();
      progress = createOurs();
      cursor.drop(name);
      sweeps.reset();
      eras.begin(run);
    }
    const inBulk = (mode === 'initial' || mode === 'restored') && store.size() === 0;
    listing = { sinceMs: now(), inBulk };
    store.beginListing();
  }

  function finish(mode: ListMode, version: string): void {
    const missing = store.endListing();
    for (const [key, before] of missing) mark(key, before, { type: 'gone', version });
    if (mode !== 'exact' && mode !== 'relist') {
      const children = resource.subscribers.filter(({ as }) => as !== 'primary').map(({ controller }) => controller);
      parts.sweep([...new Set(children)], progress, listing.sinceMs);
    }
    progress.heard(version);
    sweeps.complete(listing.inBulk);
    log.info('listed', { mode, objects: store.size(), gone: missing.length });
  }

  function complain({ error, retryInSeconds }: WatchEvent & { type: 'trouble' }): void {
    const problem = redact(toError(error).message);
    health.trouble(error);
    const say = health.isNew(problem) ? log.warn : log.debug;
    say('watch interrupted, going on', { error: problem, retryInSeconds: Math.round(retryInSeconds * 10) / 10 });
  }

  function handle(event: WatchEvent, start: string | undefined): void {
    // Whatever comes from the server, a page of a list included, shows that it is there.
    if (event.type !== 'trouble' && event.type !== 'listing') health.heard();
    switch (event.type) {
      case 'trouble':
        complain(event);
        break;
      case 'listing':
        begin(event.mode);
        break;
      case 'page':
        for (const head of event.items) if (!isCursorObject(resource, head)) find(head, event.mode, start);
        break;
      case 'listed':
        finish(event.mode, event.resourceVersion);
        break;
      case 'changed':
        if (!isCursorObject(resource, event.head)) see(event.head);
        progress.heard(event.head.resourceVersion);
        break;
      case 'deleted':
        if (!isCursorObject(resource, event.head)) lose(event.head);
        progress.heard(event.head.resourceVersion);
        break;
      case 'bookmark':
        progress.heard(event.resourceVersion);
        break;
    }
  }

  async function follow(start: string | undefined, signal: AbortSignal): Promise<void> {
    const { wait, random, restoration } = parts;
    const { labelSelector, aggregated = false } = resource;
    const target = { resource, namespace, labelSelector, wanted: wantedOf(resource) };
    const options = { start, signal, wait, random, restoration, comparable: !aggregated };
    for await (const event of watchHeads(client, target, options)) handle(event, start);
  }

  return {
    run: async (signal) => {
      let start: string | undefined;
      let asked = false;
      while (!signal.aborted) {
        try {
          if (!asked) start = await readStart({ ...parts, cursor, onTrouble: complain }, name, signal);
          asked = true;
          await follow(start, signal);
        } catch (thrown) {
          if (signal.aborted) return;
          // The store still says what was forwarded, so nothing is lost by beginning anew.
          log.error('watch loop broke, beginning anew', { error: redact(toError(thrown).message) });
          health.restarted();
          await parts.wait(anewSeconds, signal).catch(() => undefined);
        }
      }
    },
    sweep: sweeps.ask,
    objects: store.size,
    accepted: () => progress.accepted(),
  };
}

function keyOf({ namespace, name }: ObjectHead): Key {
  return namespace === undefined ? { name } : { namespace, name };
}

/** What cannot be compared counts as newer: one message too many harms nobody. */
function isNewer(version: string, than: string | undefined): boolean {
  return than === undefined || (compareVersions(version, than) ?? 1) > 0;
}
