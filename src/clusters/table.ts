// The clusters table as the functions see it: an entry by name, remembered for a minute, so that a warm function asks for it
// once a minute and a new cluster needs no deployment. A name that is not there is asked for again soon.
import { type ClusterEntry, isClusterName, parseEntry } from './registry/entry.ts';

/** Where the table is kept. Values are unparsed JSON. */
export interface ClusterSource {
  /** Reads one entry; undefined when there is none. */
  read(name: string): Promise<unknown>;
  /** Reads all entries by name. */
  readAll(): Promise<ReadonlyMap<string, unknown>>;
}

/** The clusters table. Reading throws what the source throws, and a ConnectionProblem for an entry that cannot be used. */
export interface ClusterTable {
  /** Finds one entry; undefined when there is none. */
  get(name: string): Promise<ClusterEntry | undefined>;
  /** Lists the names, fresh. The entries are remembered, so that asking for each of them next costs nothing. */
  list(): Promise<readonly string[]>;
  /** Forgets one entry: its credentials were refused, so they may have been replaced. */
  forget(name: string): void;
}

const HIT_SECONDS = 60;
const MISS_SECONDS = 5;

type Remembered = { readonly value: unknown; readonly until: number; entry?: ClusterEntry };

/** Creates a table over a source. While the source fails, an entry that was known stays in use. */
export function createClusterTable(source: ClusterSource, { now }: { readonly now: () => Date }): ClusterTable {
  const remembered = new Map<string, Remembered>();
  const running = new Map<string, Promise<Remembered>>();

  function remember(
    name: string,
    value: unknown,
    seconds = value === undefined ? MISS_SECONDS : HIT_SECONDS,
  ): Remembered {
    const one = { value, until: now().getTime() + seconds * 1000 };
    remembered.set(name, one);
    return one;
  }

  async function fetch(name: string): Promise<Remembered> {
    const known = remembered.get(name);
    try {
      return remember(name, await source.read(name));
    } catch (error) {
      if (known?.value === undefined) throw error;
      return remember(name, known.value, MISS_SECONDS);
    }
  }

  return {
    async get(name) {
      if (!isClusterName(name)) return undefined;
      const known = remembered.get(name);
      if (known !== undefined && now().getTime() < known.until) return parsed(name, known);
      const fetching = running.get(name) ?? fetch(name).finally(() => running.delete(name));
      running.set(name, fetching);
      return parsed(name, await fetching);
    },
    async list() {
      const all = await source.readAll();
      for (const [name, value] of all) remember(name, value);
      return [...all.keys()].filter(isClusterName).sort();
    },
    forget(name) {
      const known = remembered.get(name);
      if (known !== undefined) remembered.set(name, { ...known, until: 0 });
    },
  };
}

/** Parsed once, not for every key: it is asked for with every request. */
function parsed(name: string, one: Remembered): ClusterEntry | undefined {
  if (one.value === undefined) return undefined;
  one.entry ??= parseEntry(name, one.value);
  return one.entry;
}
