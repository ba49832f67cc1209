// What the cursor says, as text in a ConfigMap: up to which version SQS has accepted everything, for each collection and its
// subscribers; whose cluster that was; and when the watchers last heard of everything. Pure: two replicas write it, and
// anybody may have broken it. The watcher reads and writes it, the resync reads when its watchers last heard anything.
//
// Guarantees: what cannot be trusted as a whole is not trusted in part, because a version too new is a gap while none at all
// only costs a list. Merging never moves an entry back, unless it was dropped.
import * as z from 'zod';
import { formatProblems } from '../core/zod-problems.ts';
import { compareVersions, isComparable } from '../kube/resource-version.ts';

/** How far one collection is forwarded to one set of subscribers. */
export type CursorEntry = {
  readonly version: string;
  /** When a watcher last confirmed it, in milliseconds since 1970. */
  readonly atMs: number;
};

/** What the cursor says. */
export type CursorDocument = {
  /** The uid of the cluster's kube-system namespace: versions of another cluster mean nothing. */
  readonly cluster: string;
  /** Up to when every served kind had a frame, in milliseconds since 1970. */
  readonly framesAtMs?: number | undefined;
  readonly entries: ReadonlyMap<string, CursorEntry>;
};

/** A cursor as it was found; empty as it is shipped. */
export type CursorReading =
  | { readonly type: 'empty' }
  | { readonly type: 'read'; readonly document: CursorDocument }
  | { readonly type: 'corrupt'; readonly reason: string };

const schema = z.object({
  v: z.literal(1),
  cluster: z.string().min(1),
  framesAt: z.iso.datetime().optional(),
  entries: z.record(
    z.string(),
    z.object({
      // etcd counts in 64 bits.
      version: z.string().max(20).refine(isComparable, 'no resource version'),
      at: z.iso.datetime(),
    }),
  ),
});

/**
 * An entry that nobody has confirmed for so long belongs to subscribers that are gone. Its version is compacted long before,
 * so that little is lost with it should they come back.
 */
const keptMs = 7 * 24 * 3_600_000;

/** Reads a cursor. Never throws. */
export function parseCursor(text: string | undefined): CursorReading {
  if (text === undefined || text === '') return { type: 'empty' };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { type: 'corrupt', reason: 'not JSON' };
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) return { type: 'corrupt', reason: formatProblems(parsed.error) };
  const { cluster, framesAt, entries } = parsed.data;
  const read = Object.entries(entries).map(
    ([name, { version, at }]) => [name, { version, atMs: Date.parse(at) }] as const,
  );
  const framesAtMs = framesAt === undefined ? undefined : Date.parse(framesAt);
  return { type: 'read', document: { cluster, framesAtMs, entries: new Map(read) } };
}

/** Writes a cursor, in an order that does not depend on who writes. */
export function formatCursor({ cluster, framesAtMs, entries }: CursorDocument): string {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({
    v: 1,
    cluster,
    framesAt: framesAtMs === undefined ? undefined : isoOf(framesAtMs),
    entries: Object.fromEntries(sorted.map(([name, { version, atMs }]) => [name, { version, at: isoOf(atMs) }])),
  });
}

/**
 * Joins what is known here to what is stored. Entries only move forward, except those that were dropped, whose stored version
 * is of a past that never was. What is stored of another cluster counts for nothing.
 */
export function mergeCursor(
  stored: CursorDocument | undefined,
  ours: CursorDocument,
  { dropped, nowMs }: { readonly dropped: ReadonlySet<string>; readonly nowMs: number },
): CursorDocument {
  const theirs = stored?.cluster === ours.cluster ? stored : undefined;
  const entries = new Map<string, CursorEntry>();
  for (const [name, entry] of theirs?.entries ?? []) {
    if (!dropped.has(name) && nowMs - entry.atMs < keptMs) entries.set(name, entry);
  }
  for (const [name, entry] of ours.entries) entries.set(name, newer(entries.get(name), entry));
  return { cluster: ours.cluster, framesAtMs: latest(theirs?.framesAtMs, ours.framesAtMs, nowMs), entries };
}

function newer(stored: CursorEntry | undefined, ours: CursorEntry): CursorEntry {
  if (stored === undefined) return ours;
  const isAhead = (compareVersions(stored.version, ours.version) ?? 0) > 0;
  return { version: isAhead ? stored.version : ours.version, atMs: Math.max(stored.atMs, ours.atMs) };
}

/** A time to come was written by a wrong clock, and would hide a silence for as long. */
function latest(stored: number | undefined, ours: number | undefined, nowMs: number): number | undefined {
  const times = [stored, ours].filter((time) => time !== undefined).filter((time) => time <= nowMs);
  return times.length === 0 ? undefined : Math.max(...times);
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
