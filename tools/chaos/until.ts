// Waits for a condition with a deadline.
import { setTimeout as wait } from 'node:timers/promises';

const pollMilliseconds = 100;

/** Resolves when the condition holds. Throws with the missing condition after the deadline, as it is then. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  seconds: number,
  missing: string | (() => string),
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > deadline) {
      throw new Error(`after ${seconds} s: ${typeof missing === 'string' ? missing : missing()}`);
    }
    await wait(pollMilliseconds);
  }
}
