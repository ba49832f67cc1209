// The clusters table for the functions: entries by name. The table is read as a whole, at most once a minute, and only
// when a message needs an entry, so a new cluster needs no deployment and an idle environment reads nothing. Once read,
// a table stays in use while its source fails, without a limit: a storage outage must not stop reconciles. A table that
// does not exist is one that cannot be read: a message is for a cluster, so there should be one.
import { isClusterName, nameRule } from '../../core/cluster-name.ts';
import { toError, UserError } from '../../core/errors.ts';
import { isRecord } from '../../core/json.ts';
import { sleep, type Wait } from '../../core/time.ts';
import { type ClusterEntry, parseEntry } from './entry.ts';

/** The result of a read: the entries, or that the version that the caller has is still current. */
export type TableRead =
  | { readonly type: 'unchanged' }
  | { readonly type: 'table'; readonly entries: ReadonlyMap<string, unknown>; readonly version?: string };

/** The clusters table does not exist, which is not the same as a table without entries. */
export class NoTableError extends UserError {}

/** The storage of the clusters table. Its values are not validated. */
export type ClusterSource = {
  /** The time between two reads. */
  readonly refreshSeconds: number;
  /**
   * Reads the table, unless it still has this version. Throws if it cannot be read, or is not a JSON object, and a
   * NoTableError if there is none. Without a version the caller has no table yet, and a source may try longer.
   */
  read(version?: string): Promise<TableRead>;
};

/** The clusters table. Its methods throw the source's errors, and a UserError for an invalid entry. */
export type ClusterRegistry = {
  /**
   * Returns one entry, or undefined for a name that a read since this call does not have. Throws for an unknown name
   * while the source fails.
   */
  get(name: string): Promise<ClusterEntry | undefined>;
  /** Returns one entry as it was last read, and begins the next read if it is due. Does not wait for it. */
  known(name: string): Promise<ClusterEntry | undefined>;
  /** Returns whether the table, as it was last read, has an entry of that name. */
  has(name: string): boolean;
  /** Lists the names. That there is no table is an error: nothing can be reconciled. */
  list(): Promise<readonly string[]>;
  /** Lists the errors of the entries under a text that is no name. They are ignored: no message could name them. */
  misnamed(): Promise<readonly string[]>;
  /** Returns the ids of the watchers that any entry names, also an entry that is otherwise invalid. */
  watchers(): Promise<ReadonlySet<string>>;
  /** Reads the table early after credentials or a watcher were rejected, because they may have been replaced. */
  forget(name: string): void;
  /** Returns the error of the last read; undefined if it succeeded. The previous table stays in use. */
  failure(): Error | undefined;
};

/** A failed read of the table. The previous table, if there is one, stays in use. */
export type FailedTableRead = {
  readonly error: Error;
  /** The time since the last successful read; if there was none, since the first read. */
  readonly ageMs: number;
};

export type ClusterRegistryOptions = {
  readonly now: () => Date;
  /** A random number from 0 to 1. It spreads the reads of many environments. */
  readonly random?: () => number;
  readonly onFailedRead?: ((failed: FailedTableRead) => void) | undefined;
  readonly wait?: Wait;
};

/** The refresh period varies by this share, so that environments that started together do not stay together. */
const jitter = 0.2;
/** The shortest time between two early reads after rejected credentials, whatever the number of clusters and keys. */
const earlyReadSeconds = 15;
/** The shortest time between two reads for unknown names. The callers wait for the next one. */
const unknownNameSeconds = 1;
const never = new AbortController().signal;
/** The time between two reads while there is no table. */
const retrySeconds = 1;

type CachedEntry = { readonly value: unknown; entry?: ClusterEntry };
type Table = {
  readonly entries: ReadonlyMap<string, CachedEntry>;
  readonly version: string | undefined;
  watchers?: ReadonlySet<string>;
};

/** Creates a clusters table on top of a source. */
export function createClusterRegistry(
  source: ClusterSource,
  { now, random = Math.random, onFailedRead = () => undefined, wait = sleep }: ClusterRegistryOptions,
): ClusterRegistry {
  let table: Table | undefined;
  let failure: Error | undefined;
  let reading: Promise<void> | undefined;
  /** The reads that have begun. */
  let reads = 0;
  /** The time of the last successful read, and before it of the first one. */
  let readAt: number | undefined;
  let triedAt = -Infinity;
  let nextReadAt = -Infinity;
  let earlyReadAt = -Infinity;
  const nowMs = () => now().getTime();

  async function read(): Promise<void> {
    reads += 1;
    triedAt = nowMs();
    readAt ??= triedAt;
    // The clock may have been set back.
    earlyReadAt = Math.min(earlyReadAt, triedAt);
    nextReadAt = triedAt + source.refreshSeconds * 1000 * (1 - jitter + 2 * jitter * random());
    try {
      const result = await source.read(table?.version);
      if (result.type === 'table') table = toTable(result);
      failure = undefined;
      readAt = nowMs();
    } catch (error) {
      failure = toError(error);
      if (table === undefined) nextReadAt = nowMs() + retrySeconds * 1000;
      onFailedRead({ error: failure, ageMs: Math.max(0, nowMs() - readAt) });
    }
  }

  /** Returns the table, after a read if one is due. Concurrent callers share a read. */
  async function currentTable(): Promise<Table> {
    // After the clock was set back, its times say nothing, and a new cluster would be unknown until it has caught up.
    const isDue = nowMs() >= nextReadAt || nowMs() < triedAt;
    if (reading === undefined && isDue)
      reading = read().finally(() => {
        reading = undefined;
      });
    await reading;
    if (table === undefined) throw failure;
    return table;
  }

  async function currentNames(): Promise<readonly string[]> {
    return [...(await currentTable()).entries.keys()].sort();
  }

  return {
    async get(name) {
      if (!isClusterName(name)) return undefined;
      // Counted, because the clock may be set back meanwhile.
      const before = reads;
      let found = (await currentTable()).entries.get(name);
      // The entry may have been added since the last read: the message must not become a dead letter.
      while (found === undefined && reads === before) {
        const seconds = triedAt / 1000 + unknownNameSeconds - nowMs() / 1000;
        await wait(Math.min(unknownNameSeconds, Math.max(0, seconds)), never);
        // Another caller may have read it in the meantime.
        if (reads === before) nextReadAt = -Infinity;
        found = (await currentTable()).entries.get(name);
      }
      if (found !== undefined) return parsed(name, found);
      if (failure !== undefined) throw failure;
      return undefined;
    },
    async known(name) {
      void currentTable().catch(() => undefined);
      const found = table?.entries.get(name);
      return found === undefined ? undefined : parsed(name, found);
    },
    has: (name) => table?.entries.has(name) === true,
    async list() {
      return (await currentNames()).filter(isClusterName);
    },
    async misnamed() {
      const names = (await currentNames()).filter((name) => !isClusterName(name));
      return names.map((name) => `cluster ${JSON.stringify(name)}: ${nameRule}; rename it in the clusters table`);
    },
    async watchers() {
      const current = await currentTable();
      current.watchers ??= watcherIds(current);
      return current.watchers;
    },
    forget() {
      // Not while an early read is due: many keys are rejected at once.
      if (earlyReadAt < nowMs()) earlyReadAt = Math.max(earlyReadAt + earlyReadSeconds * 1000, nowMs());
      nextReadAt = Math.min(nextReadAt, earlyReadAt);
    },
    failure: () => failure,
  };
}

function toTable({ entries, version }: Extract<TableRead, { type: 'table' }>): Table {
  return { entries: new Map([...entries].map(([name, value]) => [name, { value }] as const)), version };
}

function watcherIds({ entries }: Table): ReadonlySet<string> {
  return new Set(
    [...entries.values()].flatMap(({ value }) => {
      const watchers = isRecord(value) && Array.isArray(value.watchers) ? value.watchers : [];
      return watchers.flatMap((one: unknown) => (isRecord(one) && typeof one.id === 'string' ? [one.id] : []));
    }),
  );
}

/** Parses an entry on first use only, because it is needed for every request, and a large table has many. */
function parsed(name: string, cached: CachedEntry): ClusterEntry {
  cached.entry ??= parseEntry(name, cached.value);
  return cached.entry;
}
