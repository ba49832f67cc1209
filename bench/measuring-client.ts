// The measuring client: it changes objects and measures the time to their statuses, with one watch at the API server,
// writes by plain HTTPS, and a clock. It does not know the contestants.
// no contestant.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { forEachConcurrently } from '../src/core/async.ts';
import type { PlainApi } from '../tools/chaos/plain-api.ts';

/**
 * Changes objects and watches them. Latencies are milliseconds from the API server's response to an edit until the
 * client's watch receives the status that observes it.
 */
export type MeasuringClient = {
  /** Edits one object after the other at this rate, whether or not they are observed. */
  edit(
    names: readonly string[],
    pace: { readonly perSecond: number; readonly count: number },
  ): Promise<readonly number[]>;
  /** Edits each once, as fast as the API server accepts it. */
  burst(names: readonly string[]): Promise<readonly number[]>;
  /** Resolves when this number of objects have observed a value. */
  until(value: number, objects: number): Promise<void>;
};

/** A kind of the bench: `spec.value` is the desired, `status.observed` the observed value. */
export type BenchCollection = { readonly plural: 'pings' | 'slows'; readonly namespace: string };

const concurrency = 32;
const merge = { 'content-type': 'application/merge-patch+json' };
/**
 * Longer than any contestant makes no progress while work is pending: a message of a failed function is received again
 * after 180 s.
 */
const stallSeconds = 240;
const retryMilliseconds = 100;
/** The page size of client-go's informers. */
const pageSize = 500;
const objectShape = z.object({
  metadata: z.object({ name: z.string(), resourceVersion: z.string() }),
  status: z.object({ observed: z.number().optional() }).optional(),
});
type BenchObject = z.infer<typeof objectShape>;
const watchEvent = z.union([
  z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: objectShape }),
  z.object({ type: z.literal('ERROR') }),
]);
const listShape = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().default('') }),
  items: z.array(objectShape),
});
type PendingValue = {
  readonly value: number;
  readonly seen: (at: number) => void;
  readonly reject: (reason: Error) => void;
};

/** Returns the path of a kind's objects. */
export function collectionOf({ plural, namespace }: BenchCollection): string {
  return `/apis/bench.example.com/v1/namespaces/${namespace}/${plural}`;
}

/** Starts the watch, which runs until the signal aborts. Pending calls reject when nothing is observed any more. */
export async function startMeasuringClient(
  api: PlainApi,
  benchCollection: BenchCollection,
  signal: AbortSignal,
): Promise<MeasuringClient> {
  const collection = collectionOf(benchCollection);
  const observed = new Map<string, number>();
  const objectsAt = new Map<number, number>();
  const waiting = new Map<string, readonly PendingValue[]>();
  const pendingCounts = new Set<{ look(): void; reject(reason: Error): void }>();
  let lastAt = performance.now();
  let value = 1_000;

  void follow(await list());
  const timer = setInterval(() => {
    const stalls = performance.now() - lastAt > stallSeconds * 1000;
    if (stalls) rejectAll(new Error(`no status was observed for ${stallSeconds} s`));
  }, 1_000);
  signal.addEventListener('abort', () => clearInterval(timer));

  /**
   * Reads all objects, and returns the version from which to watch. It reads page by page: after a response with
   * 100,000 objects the API server is a fifth slower for half a minute.
   */
  async function list(): Promise<string> {
    let token = '';
    for (;;) {
      const { body } = await api.call('GET', `${collection}?limit=${pageSize}&continue=${encodeURIComponent(token)}`);
      const at = performance.now();
      const { items, metadata } = listShape.parse(body);
      for (const item of items) recordStatus(item, at);
      token = metadata.continue;
      if (token === '') return metadata.resourceVersion;
    }
  }

  /**
   * An API server may end a watch at any time: of a new definition, or of a slow client. The next watch resumes at the
   * last version, so no latency includes a list, unless that version is too old.
   */
  async function follow(from: string): Promise<void> {
    let version: string | undefined = from;
    while (!signal.aborted) {
      let isRefused = true;
      try {
        version ??= await list();
        const path = `${collection}?watch=true&resourceVersion=${version}`;
        await api.follow(
          path,
          (line) => {
            const event = watchEvent.parse(JSON.parse(line));
            isRefused = event.type === 'ERROR';
            if (event.type === 'ERROR') return;
            version = event.object.metadata.resourceVersion;
            recordStatus(event.object, performance.now());
          },
          signal,
        );
      } catch {
        // No response; pending calls are rejected by the timer.
      }
      // A version that is too old is reported by a status, or by an event.
      if (isRefused) version = undefined;
      await wait(retryMilliseconds, undefined, { signal }).catch(() => undefined);
    }
  }

  function recordStatus(object: BenchObject, at: number): void {
    const { name } = object.metadata;
    const now = object.status?.observed;
    const before = observed.get(name);
    if (now === undefined || now === before) return;
    lastAt = at;
    observed.set(name, now);
    if (before !== undefined) objectsAt.set(before, (objectsAt.get(before) ?? 0) - 1);
    objectsAt.set(now, (objectsAt.get(now) ?? 0) + 1);
    // Values only grow: a status that observes a later edit observes all before it.
    const all = waiting.get(name) ?? [];
    waiting.set(
      name,
      all.filter(({ value: wanted }) => wanted > now),
    );
    for (const { value: wanted, seen } of all) if (wanted <= now) seen(at);
    for (const many of [...pendingCounts]) many.look();
  }

  function rejectAll(reason: Error): void {
    lastAt = performance.now();
    for (const one of [...[...waiting.values()].flat(), ...pendingCounts]) one.reject(reason);
    waiting.clear();
    pendingCounts.clear();
  }

  /** Edits one object; resolves with the response, and a promise of the latency. */
  async function change(name: string): Promise<{ readonly latency: Promise<number> }> {
    value += 1;
    const wanted = value;
    const { promise, resolve: seen, reject } = Promise.withResolvers<number>();
    promise.catch(() => undefined);
    // The watch may receive the status before the response to the edit, so it is awaited before the edit is sent.
    waiting.set(name, [...(waiting.get(name) ?? []), { value: wanted, seen, reject }]);
    const { status, body } = await api.call('PATCH', `${collection}/${name}`, { spec: { value: wanted } }, merge);
    const answered = performance.now();
    if (status !== 200) throw new Error(`PATCH ${name}: ${status} ${JSON.stringify(body)}`);
    lastAt = answered;
    const latency = promise.then((at) => at - answered);
    latency.catch(() => undefined);
    return { latency };
  }

  return {
    edit: async (names, { perSecond, count }) => {
      const begun = performance.now();
      const latencies: Promise<number>[] = [];
      for (let index = 0; index < count; index += 1) {
        await wait(Math.max(0, begun + (index * 1000) / perSecond - performance.now()));
        const latency = change(names[index % names.length] ?? '').then((changed) => changed.latency);
        // The rejection is handled at the end, when all latencies are awaited.
        latency.catch(() => undefined);
        latencies.push(latency);
      }
      return await Promise.all(latencies);
    },
    burst: async (names) => {
      const latencies: Promise<number>[] = [];
      await forEachConcurrently(concurrency, names, async (name) => {
        latencies.push((await change(name)).latency);
      });
      return await Promise.all(latencies);
    },
    until: (wanted, objects) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const many = {
        reject,
        look: () => {
          if ((objectsAt.get(wanted) ?? 0) < objects) return;
          pendingCounts.delete(many);
          resolve();
        },
      };
      lastAt = performance.now();
      pendingCounts.add(many);
      many.look();
      return promise;
    },
  };
}
