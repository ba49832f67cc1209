// Starts the API server of one cluster of a fleet in a process of its own, which ends with ours however that ends.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';

const told = z.tuple([z.object({ url: z.url() })]).rest(z.unknown());

/** Resolves with the address of a server that runs until it is closed. Rejects when it ends instead, or when the signal aborts. */
export async function startApiServerProcess(
  signal: AbortSignal,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const child = fork(new URL('./api-server-program.ts', import.meta.url), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const close = async () => {
    if (child.connected) child.disconnect();
    await ended;
  };
  try {
    const never = ended.then(() => Promise.reject(new Error('the API server ended before it was there')));
    const [{ url }] = told.parse(await Promise.race([once(child, 'message', { signal }), never]));
    return { url, close };
  } catch (error) {
    child.kill();
    throw error;
  }
}
