// How long a change takes to its status, as somebody sees it who watches the objects: from the frame with a new generation to the frame
// whose status has observed it.
import { createPlainApi, type PlainServer } from '../../tools/chaos/plain-api.ts';
import { type Portion, parseList, parseWatchLine, portionsPath } from '../../tools/chaos/portions.ts';

/** Lags, as they are seen. */
export type Lags = {
  /** Those since the last call, in milliseconds. */
  taken(): readonly number[];
  /** Changes whose status has not been seen yet. */
  open(): number;
  close(): Promise<void>;
};

/** Watches the portions whose names begin like this. The watch is not renewed: the server is well where lags are measured. */
export async function watchLags(server: PlainServer, prefix: string): Promise<Lags> {
  const api = createPlainApi(server);
  const over = new AbortController();
  /** By object: generations that were seen, and when. */
  const begun = new Map<string, Map<number, number>>();
  const last = new Map<string, number>();
  let lags: number[] = [];

  const note = ({ metadata: { name, uid, generation }, status }: Portion) => {
    if (!name.startsWith(prefix)) return;
    const open = begun.get(uid) ?? new Map<number, number>();
    begun.set(uid, open);
    const now = performance.now();
    if (generation > (last.get(uid) ?? 0)) open.set(generation, now);
    last.set(uid, generation);
    for (const [wanted, since] of open) {
      if (wanted > (status?.observedGeneration ?? 0)) continue;
      open.delete(wanted);
      lags.push(now - since);
    }
  };
  const { metadata } = parseList((await api.call('GET', portionsPath)).body);
  const query = `?watch=true&resourceVersion=${metadata.resourceVersion}`;
  const watching = api
    .follow(
      `${portionsPath}${query}`,
      (line) => {
        const { portion } = parseWatchLine(line);
        if (portion !== undefined) note(portion);
      },
      over.signal,
    )
    .catch(() => undefined);
  return {
    taken: () => {
      const all = lags;
      lags = [];
      return all;
    },
    open: () => [...begun.values()].reduce((sum, { size }) => sum + size, 0),
    close: async () => {
      over.abort();
      await watching;
      api.close();
    },
  };
}

/** The lag that 99 of 100 are not above; of fewer than a hundred, the longest. */
export function p99(lags: readonly number[]): number {
  const sorted = lags.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
}
