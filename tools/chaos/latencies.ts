// The time from a change to its status as a client that watches the objects measures it: from the event with a new
// generation to the event whose status has observed it.
import { createPlainApi, type PlainServer } from './plain-api.ts';
import { type Portion, parseList, parseWatchLine, portionsPath } from './portions.ts';

/** Latencies while they are measured. */
export type Latencies = {
  /** Returns the latencies since the last call, in milliseconds. */
  take(): readonly number[];
  /** Returns the number of changes without a status so far. */
  pendingCount(): number;
  close(): Promise<void>;
};

/**
 * Watches the portions whose names have this prefix. The watch is not renewed: rows that measure latencies have no
 * faults of the API server.
 */
export async function watchLatencies(server: PlainServer, prefix: string): Promise<Latencies> {
  const api = createPlainApi(server);
  const closing = new AbortController();
  /** The generations without a status of each object, and when they were received. */
  const pending = new Map<string, Map<number, number>>();
  const lastGenerations = new Map<string, number>();
  let latencies: number[] = [];

  const record = ({ metadata: { name, uid, generation }, status }: Portion) => {
    if (!name.startsWith(prefix)) return;
    const open = pending.get(uid) ?? new Map<number, number>();
    pending.set(uid, open);
    const now = performance.now();
    if (generation > (lastGenerations.get(uid) ?? 0)) open.set(generation, now);
    lastGenerations.set(uid, generation);
    for (const [awaited, since] of open) {
      if (awaited > (status?.observedGeneration ?? 0)) continue;
      open.delete(awaited);
      latencies.push(now - since);
    }
  };
  const { metadata } = parseList((await api.call('GET', portionsPath)).body);
  const query = `?watch=true&resourceVersion=${metadata.resourceVersion}`;
  const watchEnded = api
    .follow(
      `${portionsPath}${query}`,
      (line) => {
        const { portion } = parseWatchLine(line);
        if (portion !== undefined) record(portion);
      },
      closing.signal,
    )
    .catch(() => undefined);
  return {
    take: () => {
      const all = latencies;
      latencies = [];
      return all;
    },
    pendingCount: () => [...pending.values()].reduce((sum, { size }) => sum + size, 0),
    close: async () => {
      closing.abort();
      await watchEnded;
      api.close();
    },
  };
}

/** The 99th percentile; of fewer than a hundred latencies, the maximum. */
export function p99(latencies: readonly number[]): number {
  const sorted = latencies.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
}
