// The clusters table for the functions: entries by name, with a cache. A warm function reads an entry once per minute,
// and a new cluster needs no deployment. An unknown name is read again after some seconds.
import { type ClusterEntry, isClusterName, parseEntry } from './entry.ts';

/** The storage of the clusters table. Its values are not validated. */
export type ClusterSource = {
  /** Reads one entry. Returns undefined for an unknown name. */
  read(name: string): Promise<unknown>;
  /** Reads all entries by name. */
  readAll(): Promise<ReadonlyMap<string, unknown>>;
};

/** The clusters table. Its methods throw the source's errors, and a UserError for an invalid entry. */
export type ClusterRegistry = {
  /** Returns one entry, or undefined for an unknown name. */
  get(name: string): Promise<ClusterEntry | undefined>;
  /** Lists the names, without the cache. The entries are cached, so the next `get` of each one needs no read. */
  list(): Promise<readonly string[]>;
  /** Discards one cached entry after its credentials were rejected, because they may have been replaced. */
  forget(name: string): void;
};

const entryCacheSeconds = 60;
/** Also applies to a cached entry while the source fails. */
const unknownCacheSeconds = 5;

type CachedEntry = { readonly value: unknown; readonly until: number; entry?: ClusterEntry };

/** Creates a clusters table on top of a source. While the source fails, cached entries stay in use. */
export function createClusterRegistry(source: ClusterSource, { now }: { readonly now: () => Date }): ClusterRegistry {
  const cache = new Map<string, CachedEntry>();
  const inFlight = new Map<string, Promise<CachedEntry>>();

  function store(
    name: string,
    value: unknown,
    seconds = value === undefined ? unknownCacheSeconds : entryCacheSeconds,
  ): CachedEntry {
    const one = { value, until: now().getTime() + seconds * 1000 };
    cache.set(name, one);
    return one;
  }

  async function fetch(name: string): Promise<CachedEntry> {
    const cached = cache.get(name);
    try {
      return store(name, await source.read(name));
    } catch (error) {
      if (cached?.value === undefined) throw error;
      return store(name, cached.value, unknownCacheSeconds);
    }
  }

  return {
    async get(name) {
      if (!isClusterName(name)) return undefined;
      const cached = cache.get(name);
      if (cached !== undefined && now().getTime() < cached.until) return parsed(name, cached);
      const fetching = inFlight.get(name) ?? fetch(name).finally(() => inFlight.delete(name));
      inFlight.set(name, fetching);
      return parsed(name, await fetching);
    },
    async list() {
      const all = await source.readAll();
      for (const [name, value] of all) store(name, value);
      return [...all.keys()].filter(isClusterName).sort();
    },
    forget(name) {
      const cached = cache.get(name);
      if (cached !== undefined) cache.set(name, { ...cached, until: 0 });
    },
  };
}

/** Parses an entry on first use only, because it is needed for every request. */
function parsed(name: string, cached: CachedEntry): ClusterEntry | undefined {
  if (cached.value === undefined) return undefined;
  cached.entry ??= parseEntry(name, cached.value);
  return cached.entry;
}
