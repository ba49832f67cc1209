// Starts a server in a process of its own, which ends with this one: its work then costs a measuring process nothing
// but its share of the machine. Ctrl-C does not reach it, so that it can be stopped in order.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';

const addresses = z.object({ url: z.url(), urls: z.array(z.url()).optional() });
const firstMessage = z.tuple([addresses]).rest(z.unknown());

/**
 * Forks a program that sends the address of its server, or of all its servers, as its first message and ends when the
 * channel is closed. Resolves with servers that run until they are closed; rejects when the program ends first, or when
 * the signal aborts.
 */
export async function startServerProcess(
  program: URL,
  signal: AbortSignal,
  programArguments: readonly string[] = [],
): Promise<{ readonly url: string; readonly urls: readonly string[]; close(): Promise<void> }> {
  const child = fork(program, programArguments, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true });
  const ended = once(child, 'exit');
  const close = async () => {
    if (child.connected) child.disconnect();
    await ended;
  };
  try {
    const endedEarly = ended.then(() =>
      Promise.reject(new Error(`${program.pathname} ended before its server was ready`)),
    );
    const [{ url, urls = [url] }] = firstMessage.parse(
      await Promise.race([once(child, 'message', { signal }), endedEarly]),
    );
    return { url, urls, close };
  } catch (error) {
    child.kill();
    throw error;
  }
}
