// Keys that wait for one queue, as a set and not as a buffer: a key that changes a thousand times while SQS is away is one
// entry, so an outage costs memory for the objects there are and nothing for the time it takes. It decides only; the
// forwarder sends.
//
// Guarantees: a marked key is taken again and again until it was accepted with a source at least as new as its last mark;
// a key is never taken while it is on its way; after it was accepted it is not taken for `quietMs`. Whatever came for it
// meanwhile is one entry.
import { formatTarget, type TargetKey } from '../core/key.ts';
import type { Source } from '../queue/deduplication.ts';
import { createNamespaceTurns } from '../forwarding/fair-queue.ts';
import type { Hold, Ticket } from './progress.ts';

/** One key to be sent, for what happened to it until now. */
export type Waiting = {
  readonly target: TargetKey;
  /** The newest of each object that it is for, the newest last. */
  readonly sources: readonly Source[];
  /** When the oldest was seen, in milliseconds since 1970. */
  readonly seenAt: number;
  /** Which bulk it belongs to. */
  readonly run?: string | undefined;
  /** Failed tries in a row. */
  readonly failures: number;
};

/** A reason to send a key. */
export type Mark = {
  readonly target: TargetKey;
  readonly source?: Source;
  readonly seenAt: number;
  readonly run?: string;
  /** Whose version is held back until the key is accepted. */
  readonly progress?: Hold;
};

/** Keys that wait for one queue. Times are milliseconds of one clock. */
export type DirtySet = {
  /** Adds a key; tells whether it is a new entry, not one that was waiting already. */
  mark(mark: Mark, nowMs: number): boolean;
  /** Takes up to `most` keys that may be sent now, namespaces taking turns. Each must be settled. */
  take(most: number, nowMs: number): readonly Waiting[];
  /** Says what became of a key that was taken; `againAt` when it was refused. */
  settle(waiting: Waiting, outcome: 'accepted' | { readonly againAt: number }, nowMs: number): void;
  /** When a key may be sent next; undefined while none waits. */
  nextAt(nowMs: number): number | undefined;
  /** Keys that may be sent, as of the last time that was said. */
  ready(): number;
  /** Lets nothing wait for its quiet time or its backoff any more. */
  hurry(): void;
  /** Keys that wait or are on their way. */
  size(): number;
};

type Tickets = ReadonlyMap<Hold, Ticket>;
type Entry = { readonly waiting: Waiting; readonly tickets: Tickets };

/** A message's id is made of at most so many sources: with the newest among them it differs from every id before. */
const maxSources = 16;

/** Creates an empty set. */
export function createDirtySet({ quietMs = 0 }: { readonly quietMs?: number } = {}): DirtySet {
  const ready = createNamespaceTurns<Entry>();
  /** Not before their time. */
  const later = new Map<string, Entry & { readonly at: number }>();
  /** On their way, with what was marked since. */
  const flying = new Map<string, { readonly entry: Entry; readonly since: Entry | undefined }>();
  /** When keys were accepted, oldest first; forgotten after the quiet time. */
  const acceptedAt = new Map<string, number>();
  let quiet = quietMs;
  let hurrying = false;
  let laterFrom = Number.POSITIVE_INFINITY;

  function wait(id: string, entry: Entry, at: number, nowMs: number): void {
    if (at <= nowMs) {
      ready.set(namespaceOf(entry), id, entry);
      return;
    }
    later.set(id, { ...entry, at });
    laterFrom = Math.min(laterFrom, at);
  }

  function forget(nowMs: number): void {
    for (const [id, at] of acceptedAt) {
      // A clock that was set back must not keep keys waiting.
      if (at + quiet > nowMs && at <= nowMs) return;
      acceptedAt.delete(id);
    }
  }

  function ripen(nowMs: number): void {
    forget(nowMs);
    if (laterFrom > nowMs) return;
    laterFrom = Number.POSITIVE_INFINITY;
    for (const [id, { at, ...entry }] of later) {
      if (at > nowMs) {
        laterFrom = Math.min(laterFrom, at);
        continue;
      }
      later.delete(id);
      ready.set(namespaceOf(entry), id, entry);
    }
  }

  return {
    mark: (mark, nowMs) => {
      forget(nowMs);
      const id = formatTarget(mark.target);
      const flight = flying.get(id);
      if (flight !== undefined) {
        flying.set(id, { entry: flight.entry, since: add(flight.since, mark) });
        return flight.since === undefined;
      }
      const { namespace = '' } = mark.target;
      const waiting = ready.get(namespace, id);
      if (waiting !== undefined) {
        ready.set(namespace, id, add(waiting, mark));
        return false;
      }
      const delayed = later.get(id);
      if (delayed !== undefined) {
        later.set(id, { ...add(delayed, mark), at: delayed.at });
        return false;
      }
      wait(id, add(undefined, mark), (acceptedAt.get(id) ?? nowMs - quiet) + quiet, nowMs);
      return true;
    },
    take: (most, nowMs) => {
      ripen(nowMs);
      const taken: Waiting[] = [];
      while (taken.length < most) {
        const next = ready.next();
        if (next === undefined) break;
        const [id, entry] = next;
        flying.set(id, { entry, since: undefined });
        taken.push(entry.waiting);
      }
      return taken;
    },
    settle: (waiting, outcome, nowMs) => {
      const id = formatTarget(waiting.target);
      const flight = flying.get(id);
      if (flight === undefined) return;
      flying.delete(id);
      const { entry, since } = flight;
      if (outcome === 'accepted') {
        if (quiet > 0) acceptedAt.set(id, nowMs);
        for (const [progress, ticket] of entry.tickets) progress.close(ticket);
        if (since !== undefined) wait(id, since, nowMs + quiet, nowMs);
        return;
      }
      wait(id, refused(entry, since), hurrying ? nowMs : outcome.againAt, nowMs);
    },
    nextAt: (nowMs) => {
      ripen(nowMs);
      if (ready.size() > 0) return nowMs;
      return later.size > 0 ? laterFrom : undefined;
    },
    ready: ready.size,
    hurry: () => {
      hurrying = true;
      quiet = 0;
      for (const [id, { at: _, ...entry }] of later) ready.set(namespaceOf(entry), id, entry);
      later.clear();
      acceptedAt.clear();
      laterFrom = Number.POSITIVE_INFINITY;
    },
    size: () => ready.size() + later.size + flying.size,
  };
}

function namespaceOf({ waiting }: Entry): string {
  return waiting.target.namespace ?? '';
}

/** Joins a mark to what waits for the same key. */
function add(before: Entry | undefined, { target, source, seenAt, run, progress }: Mark): Entry {
  const sources = source === undefined ? [] : [source];
  const tickets = new Map(before?.tickets);
  if (progress !== undefined && !tickets.has(progress)) tickets.set(progress, progress.open());
  const waiting: Waiting = {
    target,
    sources: merge(before?.waiting.sources ?? [], sources),
    seenAt: Math.min(before?.waiting.seenAt ?? seenAt, seenAt),
    run: run ?? before?.waiting.run,
    failures: before?.waiting.failures ?? 0,
  };
  return { waiting, tickets };
}

/** Joins a key that was refused to what was marked for it meanwhile. The older tickets stay: they hold back the most. */
function refused({ waiting, tickets }: Entry, since: Entry | undefined): Entry {
  const all = new Map(tickets);
  for (const [progress, ticket] of since?.tickets ?? []) {
    if (all.has(progress)) progress.close(ticket);
    else all.set(progress, ticket);
  }
  return {
    waiting: {
      ...waiting,
      sources: merge(waiting.sources, since?.waiting.sources ?? []),
      run: since?.waiting.run ?? waiting.run,
      failures: waiting.failures + 1,
    },
    tickets: all,
  };
}

/** The newest of each object: a message sent now speaks for all versions before. */
function merge(older: readonly Source[], newer: readonly Source[]): readonly Source[] {
  const byObject = new Map<string, Source>();
  for (const source of [...older, ...newer]) {
    byObject.delete(source.uid);
    byObject.set(source.uid, source);
  }
  return [...byObject.values()].slice(-maxSources);
}
