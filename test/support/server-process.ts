// Starts a server in a process of its own, which ends with ours however that ends: what it does costs whoever measures nothing but its
// share of the machine. Ctrl-C reaches us alone, so that what is being done can still be ended well.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';

const told = z.tuple([z.object({ url: z.url() })]).rest(z.unknown());

/**
 * Forks a program that tells the address of its server as its first message and ends when nobody is there to tell it to. Resolves with a
 * server that runs until it is closed; rejects when it ends instead, or when the signal aborts.
 */
export async function startServerProcess(
  program: URL,
  signal: AbortSignal,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true });
  const ended = once(child, 'exit');
  const close = async () => {
    if (child.connected) child.disconnect();
    await ended;
  };
  try {
    const never = ended.then(() => Promise.reject(new Error(`${program.pathname} ended before it was there`)));
    const [{ url }] = told.parse(await Promise.race([once(child, 'message', { signal }), never]));
    return { url, close };
  } catch (error) {
    child.kill();
    throw error;
  }
}
