// Whether anybody watches a cluster, asked from outside: a watcher may only send keys, and one that is silent sends none. What it
// last heard is in its cursor, which the resync may read.
import type { Log } from '../core/context.ts';
import { toError } from '../core/errors.ts';
import type { Meter } from '../core/meter.ts';
import { redact } from '../core/redact.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isForbidden } from '../kube/client/errors.ts';
import { parseCursor } from './cursor-document.ts';
import { readCursorObject } from './cursor-object.ts';

/**
 * Frames come every 60 s, and the cursor says so every 60 s: a watcher that works looks two minutes old at times, and one that is
 * started anew has its time.
 */
const silentSeconds = 300;
/** A new cluster gets its roles and its cursor first, then its entry in the clusters table, and its watchers last: nobody is to be woken meanwhile. */
const awaitedSeconds = 1_800;

/** What tells of silent watchers. */
export type SilenceParts = {
  readonly log: Log;
  readonly meter: Meter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/**
 * Counts WatchersSilent for one cluster: 1 when its watchers have heard nothing of late or do not say, 0 when they have or are only
 * about to come. Counts nothing when nobody answers; whatever else is asked of that cluster then says so. Never rejects.
 */
export async function countSilence(
  cluster: string,
  client: KubeClient,
  { log, meter, now }: SilenceParts,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  try {
    const { silent } = await askWatchers(client, now(), { signal });
    if (silent !== undefined) log[silent.level]('the watchers are silent', { why: redact(silent.why) });
    meter.count('WatchersSilent', silent?.level === 'warn' ? 1 : 0, { cluster });
  } catch (thrown) {
    log.warn('nobody can tell whether the watchers are silent', { error: redact(toError(thrown).message) });
  }
}

/** What a cluster's watchers last heard, as far as their cursor says. */
export type Hearing = {
  /** How long ago every kind had a frame; undefined when they never said. */
  readonly heardSeconds?: number;
  /** Why nobody seems to watch, to be told as a warning unless they are only about to come; undefined when somebody does. */
  readonly silent?: { readonly why: string; readonly level: 'info' | 'warn' };
};

/** Asks the cursor when the watchers last heard anything. Throws what the client throws, but for a cursor that may not be read. */
export async function askWatchers(
  client: KubeClient,
  nowMs: number,
  { signal }: { readonly signal: AbortSignal },
): Promise<Hearing> {
  const warn = (why: string): Hearing => ({ silent: { why, level: 'warn' } });
  try {
    const object = await readCursorObject(client, { signal });
    if (object === undefined) return warn('there is no cursor; apply infra/kubernetes/generated');
    const reading = parseCursor(object.text);
    if (reading.type === 'corrupt') return warn(`the cursor cannot be read: ${reading.reason}`);
    if (reading.type === 'empty') {
      // As it is shipped: the watchers are only about to come, or were forgotten.
      const why = 'they have not come yet';
      return nowMs - object.createdAtMs <= awaitedSeconds * 1000 ? { silent: { why, level: 'info' } } : warn(why);
    }
    if (reading.document.framesAtMs === undefined) return warn('they have never heard anything');
    const heardSeconds = Math.max(0, Math.round((nowMs - reading.document.framesAtMs) / 1000));
    return heardSeconds > silentSeconds
      ? { heardSeconds, ...warn(`they have heard nothing for ${heardSeconds} s`) }
      : { heardSeconds };
  } catch (error) {
    if (isForbidden(error)) return warn(`the cursor may not be read: ${error.message}`);
    throw error;
  }
}
