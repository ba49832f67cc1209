// The cursor's ConfigMap, read with suspicion and written with care: another replica writes it too, an operator may have broken
// it, and a cluster that is restored from a backup brings an old one back.
import type { Log } from '../core/context.ts';
import { toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isConflict, isForbidden, isNotFound } from '../kube/client/errors.ts';
import { compareVersions } from '../kube/resource-version.ts';
import { type CursorDocument, formatCursor, mergeCursor, parseCursor } from '../runtime/cursor-document.ts';
import { readClusterUid, readCursorObject, writeCursorObject } from '../runtime/cursor-object.ts';

type Entries = CursorDocument['entries'];

/** What a watcher knows, to be joined to what is stored. */
export type CursorChange = {
  readonly entries: Entries;
  /** Entries whose stored version does not count, however new. */
  readonly dropped: ReadonlySet<string>;
  readonly framesAtMs: number | undefined;
  readonly nowMs: number;
};

/** Where the cursor is stored. */
export type CursorStore = {
  /** Reads the entries: none, with a warning, where there is nothing to be trusted. Rejects when nobody answers. */
  read(signal: AbortSignal): Promise<Entries>;
  /** Joins a change to what is stored. 'restored': nothing was written, because what is stored is older than it ever was. */
  write(change: CursorChange, signal: AbortSignal): Promise<'written' | 'restored'>;
  /** Asks whose cluster this is before the next write: another one may be at the same address. */
  doubt(): void;
};

/** Each takes a read and a write, and whoever else writes needs about as long. */
const mostTries = 6;

/** Creates the store of a cluster's cursor. */
export function createCursorStore({ client, log }: { readonly client: KubeClient; readonly log: Log }): CursorStore {
  let cluster: string | undefined;
  /** The newest version of the ConfigMap that was seen. */
  let newest: string | undefined;

  async function clusterUid(signal: AbortSignal): Promise<string> {
    cluster ??= await readClusterUid(client, { signal });
    if (cluster === undefined) throw new NoCursor('there is no namespace kube-system to tell the cluster by');
    return cluster;
  }

  async function readObject(signal: AbortSignal) {
    const object = await readCursorObject(client, { signal });
    if (object === undefined) throw new NoCursor('its ConfigMap is not there; apply infra/kubernetes/generated');
    return object;
  }

  function nothing(reason: string): Entries {
    log.warn('the cursor is ignored, everything is forwarded', { reason: redact(reason) });
    return new Map();
  }

  async function tryToWrite(change: CursorChange, signal: AbortSignal): Promise<'written' | 'restored'> {
    const { entries, dropped, framesAtMs, nowMs } = change;
    const uid = await clusterUid(signal);
    const { text, resourceVersion } = await readObject(signal);
    const before = newest;
    newest = resourceVersion;
    if (before !== undefined && (compareVersions(resourceVersion, before) ?? 0) < 0) return 'restored';
    const reading = parseCursor(text);
    if (reading.type === 'corrupt') log.warn('a corrupt cursor is written anew', { reason: redact(reading.reason) });
    const stored = reading.type === 'read' ? reading.document : undefined;
    const merged = mergeCursor(stored, { cluster: uid, framesAtMs, entries }, { dropped, nowMs });
    const written = await writeCursorObject(client, { text: formatCursor(merged), resourceVersion }, { signal });
    newest = written.resourceVersion;
    return 'written';
  }

  return {
    read: async (signal) => {
      try {
        const uid = await clusterUid(signal);
        const { text, resourceVersion } = await readObject(signal);
        newest = resourceVersion;
        const reading = parseCursor(text);
        if (reading.type === 'empty') return new Map();
        if (reading.type === 'corrupt') return nothing(reading.reason);
        return reading.document.cluster === uid ? reading.document.entries : nothing('it is of another cluster');
      } catch (error) {
        // Who lacks a right, or the manifests, still wants to watch.
        if (error instanceof NoCursor || isForbidden(error) || isNotFound(error))
          return nothing(toError(error).message);
        throw error;
      }
    },
    write: async (change, signal) => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await tryToWrite(change, signal);
        } catch (error) {
          if (!isConflict(error) || tries === mostTries) throw error;
        }
      }
    },
    doubt: () => {
      cluster = undefined;
    },
  };
}

/** There is no cursor to be had until somebody mends that. */
class NoCursor extends Error {
  override readonly name = 'NoCursor';
}
