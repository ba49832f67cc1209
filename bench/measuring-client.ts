// Whoever changes objects and sees what becomes of them: one watch on the kind at the API server, writes by plain HTTPS, and a clock. It knows
// no contestant.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { atATime } from '../src/core/at-a-time.ts';
import type { PlainApi } from '../tools/chaos/plain-api.ts';

/** Changes and sees. Latencies are milliseconds from the API server's answer to an edit until the judge's watch shows the status that observes it. */
export type Judge = {
  /** Edits one object after the other, so many a second, whatever becomes of them. */
  edit(
    names: readonly string[],
    pace: { readonly perSecond: number; readonly count: number },
  ): Promise<readonly number[]>;
  /** Edits each once, as fast as the API server takes it. */
  burst(names: readonly string[]): Promise<readonly number[]>;
  /** Resolves when so many objects have observed a value. */
  until(value: number, objects: number): Promise<void>;
};

/** A kind of the bench: `spec.value` is asked for, `status.observed` is what was done. */
export type Judged = { readonly plural: 'pings' | 'slows'; readonly namespace: string };

const parallel = 32;
const merge = { 'content-type': 'application/merge-patch+json' };
/** Longer than anybody has nothing to show while something is to come: a message whose function failed is back after 180 s. */
const stallSeconds = 240;
const againMilliseconds = 100;
/** As client-go's informers ask for. */
const pageSize = 500;
const objectShape = z.object({
  metadata: z.object({ name: z.string(), resourceVersion: z.string() }),
  status: z.object({ observed: z.number().optional() }).optional(),
});
type Seen = z.infer<typeof objectShape>;
const frame = z.union([
  z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: objectShape }),
  z.object({ type: z.literal('ERROR') }),
]);
const listShape = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().default('') }),
  items: z.array(objectShape),
});
type Waiting = { readonly value: number; readonly seen: (at: number) => void; readonly reject: (why: Error) => void };

/** Where a kind's objects are. */
export function collectionOf({ plural, namespace }: Judged): string {
  return `/apis/bench.example.com/v1/namespaces/${namespace}/${plural}`;
}

/** Starts to watch, until the signal aborts. What it waits for is rejected when nothing is observed any more. */
export async function startJudge(api: PlainApi, judged: Judged, signal: AbortSignal): Promise<Judge> {
  const collection = collectionOf(judged);
  const observed = new Map<string, number>();
  const objectsAt = new Map<number, number>();
  const waiting = new Map<string, readonly Waiting[]>();
  const waitingForMany = new Set<{ look(): void; reject(why: Error): void }>();
  let lastAt = performance.now();
  let value = 1_000;

  void follow(await list());
  const timer = setInterval(() => {
    const stalls = performance.now() - lastAt > stallSeconds * 1000;
    if (stalls) giveUp(new Error(`nothing was observed for ${stallSeconds} s`));
  }, 1_000);
  signal.addEventListener('abort', () => clearInterval(timer));

  /**
   * Sees what is there, and returns the version from which to watch. Page by page: after an answer of 100,000 objects in one piece the API
   * server takes a fifth longer for everything, for half a minute.
   */
  async function list(): Promise<string> {
    let token = '';
    for (;;) {
      const { body } = await api.call('GET', `${collection}?limit=${pageSize}&continue=${encodeURIComponent(token)}`);
      const at = performance.now();
      const { items, metadata } = listShape.parse(body);
      for (const item of items) see(item, at);
      token = metadata.continue;
      if (token === '') return metadata.resourceVersion;
    }
  }

  /**
   * An API server ends a watch whenever it likes: that of a definition that is new, or of a reader that is too slow. What was seen until then is
   * where the next one begins, so nobody's latency has a list in it, unless that version is too old.
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
            const event = frame.parse(JSON.parse(line));
            isRefused = event.type === 'ERROR';
            if (event.type === 'ERROR') return;
            version = event.object.metadata.resourceVersion;
            see(event.object, performance.now());
          },
          signal,
        );
      } catch {
        // Nobody answered; who waits in vain is told by the clock.
      }
      // A version that is too old is said by a status, or by an event.
      if (isRefused) version = undefined;
      await wait(againMilliseconds, undefined, { signal }).catch(() => undefined);
    }
  }

  function see(object: Seen, at: number): void {
    const { name } = object.metadata;
    const now = object.status?.observed;
    const before = observed.get(name);
    if (now === undefined || now === before) return;
    lastAt = at;
    observed.set(name, now);
    if (before !== undefined) objectsAt.set(before, (objectsAt.get(before) ?? 0) - 1);
    objectsAt.set(now, (objectsAt.get(now) ?? 0) + 1);
    // Values only grow: what observes a later edit observes those before it.
    const all = waiting.get(name) ?? [];
    waiting.set(
      name,
      all.filter(({ value: wanted }) => wanted > now),
    );
    for (const { value: wanted, seen } of all) if (wanted <= now) seen(at);
    for (const many of [...waitingForMany]) many.look();
  }

  function giveUp(why: Error): void {
    lastAt = performance.now();
    for (const one of [...[...waiting.values()].flat(), ...waitingForMany]) one.reject(why);
    waiting.clear();
    waitingForMany.clear();
  }

  /** Edits one object; resolves when that is answered, with a promise of what it took to be observed. */
  async function change(name: string): Promise<{ readonly latency: Promise<number> }> {
    value += 1;
    const wanted = value;
    const { promise, resolve: seen, reject } = Promise.withResolvers<number>();
    promise.catch(() => undefined);
    // The status may be seen before the answer to the edit is: so it is waited for before it is asked for.
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
        // Heard of at the end; until then nobody is there to hear.
        latency.catch(() => undefined);
        latencies.push(latency);
      }
      return await Promise.all(latencies);
    },
    burst: async (names) => {
      const latencies: Promise<number>[] = [];
      await atATime(parallel, names, async (name) => {
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
          waitingForMany.delete(many);
          resolve();
        },
      };
      lastAt = performance.now();
      waitingForMany.add(many);
      many.look();
      return promise;
    },
  };
}
