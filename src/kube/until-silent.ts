// A connection can die without a word: a watch that no longer brings even bookmarks is taken for dead.
import type { KubeStream } from './client/client.ts';
import { ConnectError } from './client/errors.ts';
import type { Wait } from '../core/time.ts';

/** Passes a stream on until it is silent for too long: then it is closed, and the silence is a ConnectError. */
export async function* untilSilent(stream: KubeStream, seconds: number, wait: Wait): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]();
  for (;;) {
    const timer = new AbortController();
    const silence = wait(seconds, timer.signal).then(
      () => 'silent' as const,
      () => 'cancelled' as const,
    );
    const next = chunks.next();
    // Also where the stream breaks: a wait that is left behind would keep the process alive. Without a reason, each abort makes
    // an error with its stack.
    const first = await Promise.race([next, silence]).finally(() => timer.abort('heard'));
    if (first === 'silent' || first === 'cancelled') {
      stream.close();
      await next.catch(() => undefined);
      throw new ConnectError(`a watch was silent for ${seconds} s`);
    }
    if (first.done === true) return;
    yield first.value;
  }
}
