// Starts a server in a process of its own, which ends with this one: its work then costs a measuring process nothing
// but its share of the machine. Ctrl-C does not reach it, so that it can be stopped in order.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';

const firstMessage = z.tuple([z.object({ url: z.url() })]).rest(z.unknown());

/**
 * Forks a program that sends its server's address as its first message and ends when the channel is closed. Resolves
 * with a server that runs until it is closed; rejects when the program ends first, or when the signal aborts.
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
    const endedEarly = ended.then(() =>
      Promise.reject(new Error(`${program.pathname} ended before its server was ready`)),
    );
    const [{ url }] = firstMessage.parse(await Promise.race([once(child, 'message', { signal }), endedEarly]));
    return { url, close };
  } catch (error) {
    child.kill();
    throw error;
  }
}
