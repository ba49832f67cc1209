// The keys that wait for one SQS queue, between the forwarder and the queue sender. Like client-go's workqueue it is a
// set, not a buffer. A key that changes a thousand times while SQS is unavailable is one entry, so the memory depends
// on the number of keys and not on the length of the outage. The work queue only decides; the queue sender sends.
//
// Guarantees: an added key is taken again and again until SQS has accepted it with a source at least as new as the last
// one that was added. A key is never taken while it is in flight. After it was accepted it is not taken for
// `dedupeWindowMs`; everything that is added for it in that time is one entry.
import { formatReconcileKey, type ReconcileKey } from '../core/key.ts';
import type { ChangeSource } from '../sqs/deduplication.ts';
import type { PendingAck, PendingAcks } from './acknowledgements.ts';
import { createFairQueue } from './fair-queue.ts';

/** One key to be sent, with all changes that were added for it so far. */
export type QueuedKey = {
  readonly target: ReconcileKey;
  /** The newest change of each object that affects the key, the newest one last. */
  readonly sources: readonly ChangeSource[];
  /** When the oldest change was observed, in milliseconds since 1970. */
  readonly observedAt: number;
  /** The run that a low-priority key belongs to. */
  readonly run?: string | undefined;
  /** Consecutive failed attempts. */
  readonly failures: number;
};

/** A reason to send a key. */
export type WorkItem = {
  readonly target: ReconcileKey;
  readonly source?: ChangeSource;
  readonly observedAt: number;
  readonly run?: string;
  /** The trackers' low watermark is held back until SQS has accepted the key. */
  readonly acks?: PendingAcks;
};

/** The keys that wait for one SQS queue. Times are milliseconds of one clock. */
export type WorkQueue = {
  /** Adds a key. Returns true for a new entry, false if the key was queued already. */
  add(item: WorkItem, nowMs: number): boolean;
  /** Takes up to `limit` keys that may be sent now, round robin across namespaces. `done` must be called for each. */
  take(limit: number, nowMs: number): readonly QueuedKey[];
  /** Reports the outcome of a key that was taken. A rejected key is queued again for the time `retryAt`. */
  done(queued: QueuedKey, outcome: 'accepted' | { readonly retryAt: number }, nowMs: number): void;
  /** When the next key may be sent; undefined while none is queued. */
  nextAt(nowMs: number): number | undefined;
  /** The number of keys that may be sent now, as of the last call of `take` or `nextAt`. */
  ready(): number;
  /** Ends all waiting for the deduplication window or a backoff. */
  flush(): void;
  /** The number of keys that are queued or in flight. */
  size(): number;
};

type PendingByTracker = ReadonlyMap<PendingAcks, PendingAck>;
type Entry = {
  readonly queued: QueuedKey;
  readonly pending: PendingByTracker;
  /**
   * The namespaces in whose turns it is sent: its own, or of a cluster-scoped key those of the objects that changed.
   * Else one namespace's children would delay the keys of all others. An owner may have a child in each of thousands of
   * namespaces, so the set is not copied when a change is merged.
   */
  readonly turns: Set<string>;
};

/**
 * A deduplication id is made of at most this many sources. It contains the newest, so it differs from every earlier id.
 */
const maxSources = 16;

/** Creates an empty work queue. */
export function createWorkQueue({ dedupeWindowMs = 0 }: { readonly dedupeWindowMs?: number } = {}): WorkQueue {
  const ready = new Map<string, Entry>();
  /** The order of the ready keys. One that was taken in another turn is passed over. */
  const order = createFairQueue();
  /** Keys that may not be sent before a time. */
  const delayed = new Map<string, Entry & { readonly at: number }>();
  /** Keys in flight, each with the entry that was added since it was taken. */
  const inFlight = new Map<string, { readonly entry: Entry; readonly since: Entry | undefined }>();
  /** When keys were accepted, oldest first. They are forgotten after the deduplication window. */
  const acceptedAt = new Map<string, number>();
  let windowMs = dedupeWindowMs;
  let flushing = false;
  let firstDelayedAt = Number.POSITIVE_INFINITY;

  function makeReady(id: string, entry: Entry): void {
    ready.set(id, entry);
    for (const turn of entry.turns) order.add(turn, id);
  }

  function enqueue(id: string, entry: Entry, at: number, nowMs: number): void {
    if (at <= nowMs) makeReady(id, entry);
    else {
      delayed.set(id, { ...entry, at });
      firstDelayedAt = Math.min(firstDelayedAt, at);
    }
  }

  function forgetAccepted(nowMs: number): void {
    for (const [id, at] of acceptedAt) {
      // If the clock was set back (at > nowMs), the entry is dropped, so that its key does not wait.
      if (at + windowMs > nowMs && at <= nowMs) return;
      acceptedAt.delete(id);
    }
  }

  function releaseDelayed(nowMs: number): void {
    forgetAccepted(nowMs);
    if (firstDelayedAt > nowMs) return;
    firstDelayedAt = Number.POSITIVE_INFINITY;
    for (const [id, { at, ...entry }] of delayed) {
      if (at > nowMs) {
        firstDelayedAt = Math.min(firstDelayedAt, at);
        continue;
      }
      delayed.delete(id);
      makeReady(id, entry);
    }
  }

  return {
    add: (item, nowMs) => {
      forgetAccepted(nowMs);
      const id = formatReconcileKey(item.target);
      const sent = inFlight.get(id);
      if (sent !== undefined) {
        inFlight.set(id, { entry: sent.entry, since: mergeItem(sent.since, item) });
        return sent.since === undefined;
      }
      const readyEntry = ready.get(id);
      if (readyEntry !== undefined) {
        ready.set(id, mergeItem(readyEntry, item));
        order.add(turnOf(item), id);
        return false;
      }
      const delayedEntry = delayed.get(id);
      if (delayedEntry !== undefined) {
        delayed.set(id, { ...mergeItem(delayedEntry, item), at: delayedEntry.at });
        return false;
      }
      enqueue(id, mergeItem(undefined, item), (acceptedAt.get(id) ?? nowMs - windowMs) + windowMs, nowMs);
      return true;
    },
    take: (limit, nowMs) => {
      releaseDelayed(nowMs);
      const taken: QueuedKey[] = [];
      while (taken.length < limit) {
        const id = order.next();
        if (id === undefined) break;
        const entry = ready.get(id);
        if (entry === undefined) continue;
        ready.delete(id);
        inFlight.set(id, { entry, since: undefined });
        taken.push(entry.queued);
      }
      return taken;
    },
    done: (queued, outcome, nowMs) => {
      const id = formatReconcileKey(queued.target);
      const sent = inFlight.get(id);
      if (sent === undefined) return;
      inFlight.delete(id);
      const { entry, since } = sent;
      if (outcome === 'accepted') {
        if (windowMs > 0) acceptedAt.set(id, nowMs);
        for (const [acks, pending] of entry.pending) acks.close(pending);
        if (since !== undefined) enqueue(id, since, nowMs + windowMs, nowMs);
        return;
      }
      enqueue(id, mergeRejected(entry, since), flushing ? nowMs : outcome.retryAt, nowMs);
    },
    nextAt: (nowMs) => {
      releaseDelayed(nowMs);
      if (ready.size > 0) return nowMs;
      return delayed.size > 0 ? firstDelayedAt : undefined;
    },
    ready: () => ready.size,
    flush: () => {
      flushing = true;
      windowMs = 0;
      for (const [id, { at: _, ...entry }] of delayed) makeReady(id, entry);
      delayed.clear();
      acceptedAt.clear();
      firstDelayedAt = Number.POSITIVE_INFINITY;
    },
    size: () => ready.size + delayed.size + inFlight.size,
  };
}

function turnOf({ target, source }: WorkItem): string {
  const [, , namespace = ''] = source?.object ?? [];
  return target.namespace ?? namespace;
}

/** Merges an item into the entry that is queued for the same key. */
function mergeItem(before: Entry | undefined, item: WorkItem): Entry {
  const { target, source, observedAt, run, acks } = item;
  const sources = source === undefined ? [] : [source];
  const pending = new Map(before?.pending);
  if (acks !== undefined && !pending.has(acks)) pending.set(acks, acks.open());
  const queued: QueuedKey = {
    target,
    sources: mergeSources(before?.queued.sources ?? [], sources),
    observedAt: Math.min(before?.queued.observedAt ?? observedAt, observedAt),
    run: run ?? before?.queued.run,
    failures: before?.queued.failures ?? 0,
  };
  return { queued, pending, turns: (before?.turns ?? new Set<string>()).add(turnOf(item)) };
}

/**
 * Merges a rejected key and the entry that was added while it was in flight. Of two pending acknowledgements of one
 * tracker the older one stays, because it is the one that holds back the low watermark.
 */
function mergeRejected({ queued, pending, turns }: Entry, since: Entry | undefined): Entry {
  const all = new Map(pending);
  for (const [acks, newer] of since?.pending ?? []) {
    if (all.has(acks)) acks.close(newer);
    else all.set(acks, newer);
  }
  return {
    queued: {
      ...queued,
      sources: mergeSources(queued.sources, since?.queued.sources ?? []),
      run: since?.queued.run ?? queued.run,
      failures: queued.failures + 1,
    },
    pending: all,
    turns: new Set([...turns, ...(since?.turns ?? [])]),
  };
}

/**
 * The newest source of each object: a message that is sent now covers all earlier versions. Of more than it may have,
 * the newest one stays, and those of strays stay before others: a reconcile has to look for each.
 */
function mergeSources(older: readonly ChangeSource[], newer: readonly ChangeSource[]): readonly ChangeSource[] {
  const byObject = new Map<string, ChangeSource>();
  for (const source of [...older, ...newer]) {
    byObject.delete(source.uid);
    byObject.set(source.uid, source);
  }
  const all = [...byObject.values()];
  if (all.length <= maxSources) return all;
  const others = all.slice(0, -1).filter(({ isStray }) => isStray !== true);
  const dropped = new Set(others.slice(0, all.length - maxSources));
  return all.filter((one) => !dropped.has(one)).slice(-maxSources);
}
