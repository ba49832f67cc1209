// The content of the watch checkpoint, stored as text in a ConfigMap: the identity of the cluster, the last time at
// which the watchers had received events of every kind, and for each collection and its subscribers the version up to
// which SQS accepted everything. The functions are pure. Two replicas write the document, and it may have been edited
// by hand. The watcher reads and writes it; the resync reads the last time.
//
// Guarantees: a document with any invalid part is ignored as a whole, because a version that is too new causes a gap,
// while no version only costs a list. A merge never moves an entry back, unless the entry was dropped.
import * as z from 'zod';
import { formatZodIssues } from '../core/json.ts';
import { labelSelectorOf } from '../core/selector.ts';
import type { WatchedResource } from '../core/watch-list.ts';
import { compareVersions, isComparable } from '../kube/watch/resource-version.ts';
import { hashOf } from '../sqs/message.ts';

/** How far one collection was forwarded to one set of subscribers. */
export type CheckpointEntry = {
  readonly version: string;
  /** When a watcher last confirmed it, in milliseconds since 1970. */
  readonly confirmedAtMs: number;
};

/** The content of the checkpoint. */
export type CheckpointDocument = {
  /** The uid of the cluster's namespace kube-system. Versions are valid in one cluster only. */
  readonly cluster: string;
  /** The time up to which every served kind had an event, in milliseconds since 1970. */
  readonly lastSeenAtMs?: number | undefined;
  /** Since when no watcher is whole: a watch of each fails. In milliseconds since 1970. */
  readonly reconnectingSinceMs?: number | undefined;
  /** The id by which SQS names the watcher that wrote last as a sender, such as `AROA...`, as STS returned it. */
  readonly senderId?: string | undefined;
  readonly entries: ReadonlyMap<string, CheckpointEntry>;
};

/** The result of parsing a checkpoint. It is empty until a watcher has written it. */
export type ParsedCheckpoint =
  | { readonly type: 'empty' }
  | { readonly type: 'read'; readonly document: CheckpointDocument }
  | { readonly type: 'corrupt'; readonly reason: string };

/** Which part of a collection is watched, and to which queues its keys go. */
export type CheckpointScope = {
  /**
   * The name of the cluster in the clusters table, which is a part of every key. Absent: the name of version 0.1, whose
   * entries are those of any name.
   */
  readonly cluster?: string | undefined;
  readonly namespace?: string | undefined;
  /** Identifies the queues of a deployment: another deployment's queues have not received the accepted messages. */
  readonly queues?: string | undefined;
};

const schema = z.object({
  v: z.literal(1),
  clusterUid: z.string().min(1),
  lastSeenAt: z.iso.datetime().optional(),
  // Only shown to operators, as senderId: a wrong one does not cost the versions.
  reconnectingSince: z.iso.datetime().optional().catch(undefined),
  senderId: z
    .string()
    .regex(/^[A-Z0-9]{1,128}$/)
    .optional()
    .catch(undefined),
  collections: z.record(
    z.string(),
    z.object({
      // etcd's revisions have 64 bits, which is up to 20 digits.
      resourceVersion: z.string().max(20).refine(isComparable, 'no resource version'),
      confirmedAt: z.iso.datetime(),
    }),
  ),
});

/**
 * An entry that no watcher has confirmed for this long belongs to subscribers that no longer exist. etcd has compacted
 * its version long before, so little is lost if they come back.
 */
const keptMs = 7 * 24 * 3_600_000;

/** How far the times of two writes may be off: the API server tells its time in whole seconds. */
const clockMs = 2_000;

/** Parses a checkpoint. Never throws. */
export function parseCheckpoint(text: string | undefined): ParsedCheckpoint {
  if (text === undefined || text === '') return { type: 'empty' };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { type: 'corrupt', reason: 'not JSON' };
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) return { type: 'corrupt', reason: formatZodIssues(parsed.error) };
  const { clusterUid: cluster, lastSeenAt, reconnectingSince, senderId, collections } = parsed.data;
  const entries = Object.entries(collections).map(
    ([name, { resourceVersion: version, confirmedAt }]) =>
      [name, { version, confirmedAtMs: Date.parse(confirmedAt) }] as const,
  );
  const timeOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  const times = { lastSeenAtMs: timeOf(lastSeenAt), reconnectingSinceMs: timeOf(reconnectingSince) };
  const sender = senderId === undefined ? {} : { senderId };
  return { type: 'read', document: { cluster, ...times, ...sender, entries: new Map(entries) } };
}

/** Formats a checkpoint. The entries are sorted, so that all replicas write the same text. */
export function formatCheckpoint({ cluster, senderId, entries, ...times }: CheckpointDocument): string {
  const timeOf = (ms: number | undefined) => (ms === undefined ? undefined : formatTime(ms));
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({
    v: 1,
    clusterUid: cluster,
    lastSeenAt: timeOf(times.lastSeenAtMs),
    reconnectingSince: timeOf(times.reconnectingSinceMs),
    senderId,
    collections: Object.fromEntries(
      sorted.map(([name, { version, confirmedAtMs }]) => [
        name,
        { resourceVersion: version, confirmedAt: formatTime(confirmedAtMs) },
      ]),
    ),
  });
}

/**
 * Merges this watcher's checkpoint into the stored one. Entries only move forward. The stored version of a dropped
 * entry is ignored, because the cluster was restored to a state before it. A stored checkpoint of another cluster is
 * ignored.
 *
 * A watch that fails does not count if another watcher has had events of every kind since then. Its bookmarks and its
 * writes show that after up to two minutes; until then, the watcher that writes last decides.
 */
export function mergeCheckpoint(
  stored: CheckpointDocument | undefined,
  ours: CheckpointDocument,
  { dropped, nowMs }: { readonly dropped: ReadonlySet<string>; readonly nowMs: number },
): CheckpointDocument {
  const theirs = stored?.cluster === ours.cluster ? stored : undefined;
  const entries = new Map<string, CheckpointEntry>();
  for (const [name, entry] of theirs?.entries ?? []) {
    if (!dropped.has(name) && nowMs - entry.confirmedAtMs < keptMs) entries.set(name, entry);
  }
  for (const [name, entry] of ours.entries) entries.set(name, newer(entries.get(name), entry));
  const lastSeenAtMs = latest(theirs?.lastSeenAtMs, ours.lastSeenAtMs, nowMs);
  const senderId = ours.senderId ?? theirs?.senderId;
  const { cluster } = ours;
  const reconnectingSinceMs = failedSince(theirs?.reconnectingSinceMs, ours.reconnectingSinceMs, lastSeenAtMs, nowMs);
  return { cluster, lastSeenAtMs, reconnectingSinceMs, senderId, entries };
}

/**
 * Names the entry of a collection. The name depends on the subscribers, the queues and the name of the cluster. A
 * controller that was added, queues that are new and empty, and a cluster under a new name therefore start without a
 * version and receive every key.
 */
export function entryNameOf(
  { group, version, plural, labelSelector = '', fieldSelector, subscribers }: WatchedResource,
  { cluster, namespace = '', queues = '' }: CheckpointScope = {},
): string {
  const receivers = subscribers.map((subscriber) => {
    const { controller, as, predicate, primary, label, annotations = [], namespaces = [] } = subscriber;
    // A change that was not selected before was accepted without a message.
    const labels = labelSelectorOf(subscriber);
    const keys = annotations.map((key) => `annotation ${key}`);
    const selection = [...(labels === undefined ? [] : [labels]), ...keys.toSorted(), ...namespaces.toSorted()];
    return [controller, as, predicate, primary.group, primary.plural, label ?? '', ...selection].join(' ');
  });
  const hash = hashOf(
    queues,
    labelSelector,
    ...(fieldSelector === undefined ? [] : [fieldSelector]),
    ...receivers.sort(),
    ...(cluster === undefined ? [] : [`cluster ${cluster}`]),
  ).slice(0, 12);
  return [group === '' ? 'core' : group, version, plural, namespace, hash].join('_');
}

/** Returns since when no watcher is whole; undefined if this one is, or if one had events of every kind since then. */
function failedSince(
  stored: number | undefined,
  ours: number | undefined,
  seenAt: number | undefined,
  nowMs: number,
): number | undefined {
  if (ours === undefined) return undefined;
  const failedAt = latest(stored, ours, nowMs);
  return failedAt !== undefined && seenAt !== undefined && seenAt > failedAt + clockMs ? undefined : failedAt;
}

function newer(stored: CheckpointEntry | undefined, ours: CheckpointEntry): CheckpointEntry {
  if (stored === undefined) return ours;
  const isAhead = (compareVersions(stored.version, ours.version) ?? 0) > 0;
  return {
    version: isAhead ? stored.version : ours.version,
    confirmedAtMs: Math.max(stored.confirmedAtMs, ours.confirmedAtMs),
  };
}

/**
 * A time in the future was written by a wrong clock. It is ignored, because it would hide that the watchers are down.
 */
function latest(stored: number | undefined, ours: number | undefined, nowMs: number): number | undefined {
  const times = [stored, ours].filter((time) => time !== undefined).filter((time) => time <= nowMs);
  return times.length === 0 ? undefined : Math.max(...times);
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString();
}
