// Waiting for something that comes when it comes: what is late is named, and nobody waits for ever.
import { setTimeout as wait } from 'node:timers/promises';

const lookMilliseconds = 100;

/** Resolves when it is so. Throws, saying what is missing, when it is not so in time. */
export async function until(isSo: () => boolean | Promise<boolean>, seconds: number, missing: string): Promise<void> {
  const giveUpAt = performance.now() + seconds * 1000;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`after ${seconds} s: ${missing}`);
    await wait(lookMilliseconds);
  }
}
