// One at a time across processes: building and packaging write to shared folders, and several local systems (a demo, and
// tests beside each other) may start at once.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { lock } from 'proper-lockfile';
import * as z from 'zod';
import { waitReally } from '../core/time.ts';

const lookAgainSeconds = 0.1;
const held = z.object({ code: z.literal('ELOCKED') });

/**
 * Runs `work` while no other process does under the same name. What holds the lock is a folder, `${name}.lock`, which its process touches
 * every five seconds; one that was not touched for ten counts for nothing, its process was killed. Rejects where the folder cannot be made,
 * and with the signal's reason when that comes first.
 */
export async function withLock<T>(name: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await mkdir(path.dirname(name), { recursive: true });
  const release = await take(name, signal);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function take(name: string, signal: AbortSignal): Promise<() => Promise<void>> {
  // Whose machine slept has lost the lock, and is nearly done: to end the process would help nobody.
  let isLost = false;
  const onCompromised = () => {
    isLost = true;
  };
  for (;;) {
    try {
      const release = await lock(name, { realpath: false, onCompromised });
      return async () => (isLost ? undefined : await release());
    } catch (error) {
      if (!held.safeParse(error).success) throw error;
    }
    await waitReally(lookAgainSeconds, signal);
  }
}
