// How far each collection has been forwarded, as far as it outlives the process: read once at the start, written now and then.
//
// Guarantees: a version that is written was accepted by SQS with everything before it. A cursor that cannot be trusted, or that
// nobody may read, costs a full list and never a gap. Writing fails quietly and is tried again: an older version on the
// server only costs messages. Assumption: whoever notices that the cluster was restored drops its versions.
import type { Log } from '../core/context.ts';
import { toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isComparable } from '../kube/resource-version.ts';
import type { Wait } from '../core/time.ts';
import { createCursorStore } from './cursor-store.ts';

/** Remembers, for each collection by the name of its entry, the version up to which SQS has accepted everything. */
export type Cursor = {
  /** Reads where to go on; undefined when that is not known. Rejects when nobody answers. */
  start(name: string, options: { readonly signal: AbortSignal }): Promise<string | undefined>;
  /** Notes a version. Cheap: called for every frame, written when it is time. */
  accepted(name: string, version: string): void;
  /** Notes that SQS has accepted a message: what is known is worth writing sooner. */
  sent(): void;
  /** Forgets a collection's version: the cluster was restored from a backup, and versions begin anew. */
  drop(name: string): void;
  /** Writes when it is time, until the signal aborts. `framesAt`: up to when every served kind had a frame. Never rejects. */
  run(options: { readonly framesAt: () => number | undefined; readonly signal: AbortSignal }): Promise<void>;
  /** Writes what was noted, now. Never rejects. */
  flush(): Promise<void>;
};

/** A cursor that remembers nothing: every start forwards everything. */
export const noCursor: Cursor = {
  start: async () => undefined,
  accepted: () => undefined,
  sent: () => undefined,
  drop: () => undefined,
  run: async () => undefined,
  flush: async () => undefined,
};

/** What a cursor works with. */
export type CursorParts = {
  readonly client: KubeClient;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: Wait;
};

/** The first write does not wait for longer than everything takes to be heard: whoever looks shall not find a silent watcher. */
const firstSeconds = 1;
/** Of the last write, within what a pod is given to end. */
const flushSeconds = 5;

/** Creates the cursor of a cluster. It is written every `writeSeconds` while messages are accepted, else half as often. */
export function createCursor(
  { client, log, now, wait }: CursorParts,
  { writeSeconds = 30 }: { readonly writeSeconds?: number } = {},
): Cursor {
  const store = createCursorStore({ client, log });
  const noted = new Map<string, string>();
  let dropped = new Set<string>();
  let known: ReturnType<typeof store.read> | undefined;
  /** Since the last write. */
  let sent = false;
  let moved = false;
  let framesAt: () => number | undefined = () => undefined;
  let writing = Promise.resolve();
  let problem = '';

  async function write(signal: AbortSignal): Promise<void> {
    const nowMs = now();
    const entries = new Map([...noted].map(([name, version]) => [name, { version, atMs: nowMs }] as const));
    const change = { entries, dropped, framesAtMs: framesAt(), nowMs };
    const before = { sent, moved };
    dropped = new Set();
    sent = false;
    moved = false;
    try {
      if ((await store.write(change, signal)) === 'restored') {
        // Those versions are of a past that never was. The loops find out when they reconnect, and note new ones.
        log.warn('the cluster was restored from a backup, its cursor is begun anew');
        for (const name of entries.keys()) if (noted.get(name) === entries.get(name)?.version) noted.delete(name);
        dropped = new Set([...dropped, ...change.dropped, ...entries.keys()]);
        moved = true;
      }
      problem = '';
    } catch (thrown) {
      dropped = new Set([...dropped, ...change.dropped]);
      sent ||= before.sent;
      moved ||= before.moved;
      const said = redact(toError(thrown).message);
      if (said !== problem && !signal.aborted) log.warn('cursor not written, trying again', { error: said });
      problem = said;
    }
  }

  /** One after the other. */
  async function writeNext(signal: AbortSignal): Promise<void> {
    writing = writing.then(async () => await write(signal));
    await writing;
  }

  return {
    start: async (name, { signal }) => {
      known ??= store.read(signal);
      try {
        return (await known).get(name)?.version;
      } catch (error) {
        known = undefined;
        throw error;
      }
    },
    accepted: (name, version) => {
      if (!isComparable(version) || noted.get(name) === version) return;
      noted.set(name, version);
      moved = true;
    },
    sent: () => {
      sent = true;
    },
    drop: (name) => {
      noted.delete(name);
      dropped.add(name);
      moved = true;
      store.doubt();
    },
    run: async (options) => {
      const { signal } = options;
      framesAt = options.framesAt;
      let elapsed = 0;
      let first = true;
      const isDue = () => {
        if (elapsed >= 2 * writeSeconds) return true;
        return first ? framesAt() !== undefined : sent && moved;
      };
      while (!signal.aborted) {
        // By the clock alone: a write makes a version, which comes back as a bookmark of every kind.
        const seconds = first ? Math.min(firstSeconds, writeSeconds) : writeSeconds;
        await wait(seconds, signal).catch(() => undefined);
        if (signal.aborted) return;
        elapsed += seconds;
        if (!isDue()) continue;
        elapsed = 0;
        first = false;
        await writeNext(signal);
      }
    },
    flush: async () => await writeNext(AbortSignal.timeout(flushSeconds * 1000)),
  };
}
