// Waiting as a dependency, so that tests of watches and retries move time themselves.
import { setTimeout } from 'node:timers/promises';

/** Resolves after some seconds; rejects when the signal aborts. */
export type Wait = (seconds: number, signal: AbortSignal) => Promise<void>;

/** Waits in real time. */
export async function waitReally(seconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(seconds * 1000, undefined, { signal });
}
