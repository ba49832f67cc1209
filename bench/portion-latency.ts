// The time from a change of a portion in one cluster to its status, measured by a watch at the API server itself.
import { setTimeout as wait } from 'node:timers/promises';
import type { PlainApi } from '../tools/chaos/plain-api.ts';
import { isConverged, parseList, parseWatchLine, portionsPath } from '../tools/chaos/portions.ts';

/** A cluster whose portions are changed and watched. */
export type PortionLatency = {
  /**
   * Makes this number of changes, one after the other without waiting for their statuses; resolves with the
   * milliseconds of each.
   */
  measure(changes: number, options: { readonly perSecond: number }): Promise<readonly number[]>;
  /** Makes changes as fast as possible until the signal aborts; resolves with their number. */
  flood(options: { readonly perSecond: number; readonly signal: AbortSignal }): Promise<number>;
  /** Resolves when every portion has converged. */
  settled(): Promise<void>;
};

const merge = { 'content-type': 'application/merge-patch+json' };
const concurrency = 8;
const pollMilliseconds = 200;

/** Creates this number of portions, and watches them until the signal aborts. Resolves when all are measured. */
export async function followPortions(
  api: PlainApi,
  { portions, signal }: { readonly portions: number; readonly signal: AbortSignal },
): Promise<PortionLatency> {
  const observedGenerations = new Map<string, number>();
  const waiting = new Set<() => void>();
  const { metadata } = parseList((await api.call('GET', portionsPath)).body);
  const watchEnded = api.follow(
    `${portionsPath}?watch=true&resourceVersion=${metadata.resourceVersion}`,
    (line) => {
      const { portion } = parseWatchLine(line);
      if (portion === undefined || !isConverged(portion)) return;
      observedGenerations.set(portion.metadata.name, portion.metadata.generation);
      for (const check of [...waiting]) check();
    },
    signal,
  );
  watchEnded.catch(() => undefined);
  const until = (name: string, generation: number) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if ((observedGenerations.get(name) ?? 0) < generation) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const nameOf = (number: number) => `portion-${number % portions}`;
  let turn = 0;
  /** Changes the next portion and returns its generation. */
  async function change(): Promise<{ readonly name: string; readonly generation: number }> {
    turn += 1;
    const name = nameOf(turn);
    const { body } = await api.call(
      'PATCH',
      `${portionsPath}/${name}`,
      { spec: { amount: 1 + (turn % 9_000) / 1_000 } },
      merge,
    );
    return { name, generation: Number(Object(Object(body).metadata).generation) };
  }

  for (let made = 0; made < portions; made += concurrency) {
    const some = Array.from({ length: Math.min(concurrency, portions - made) }, (_, index) => nameOf(made + index));
    await Promise.all(some.map((name) => api.call('POST', portionsPath, portionOf(name))));
  }
  await Promise.all(Array.from({ length: portions }, (_, number) => until(nameOf(number), 1)));

  return {
    measure: async (changes, { perSecond }) => {
      const lags: Promise<number>[] = [];
      const begun = performance.now();
      for (let count = 0; count < changes; count += 1) {
        await wait(Math.max(0, begun + (count * 1000) / perSecond - performance.now()));
        const from = performance.now();
        const { name, generation } = await change();
        lags.push(until(name, generation).then(() => performance.now() - from));
      }
      return await Promise.all(lags);
    },
    flood: async ({ perSecond, signal: until }) => {
      const begun = performance.now();
      let made = 0;
      const user = async () => {
        while (!until.aborted) {
          made += 1;
          await wait(Math.max(0, begun + (made * 1000) / perSecond - performance.now()));
          await change();
        }
      };
      await Promise.all(Array.from({ length: concurrency }, user));
      return made;
    },
    settled: async () => {
      for (;;) {
        const { items } = parseList((await api.call('GET', portionsPath)).body);
        if (items.every(isConverged)) return;
        await wait(pollMilliseconds);
      }
    },
  };
}

const portionOf = (name: string) => ({
  apiVersion: 'kitchen.example.com/v1',
  kind: 'Ingredient',
  metadata: { name },
  spec: { item: `item-${name}`, amount: 1, unit: 'g' },
});
