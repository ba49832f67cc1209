// Server-sent events over fetch: EventSource cannot send the token in a header.
import type { ConsoleEvents } from '../wire.ts';

/** An event of the stream with its data. */
export type StreamEvent = {
  [E in keyof ConsoleEvents]: { readonly event: E; readonly data: ConsoleEvents[E] };
}[keyof ConsoleEvents];

/** The server refused the token: the page is of a console that has ended. */
export class RefusedError extends Error {}

/** The server writes at least every two seconds. */
const silenceMilliseconds = 8_000;

/** Reads events until the stream ends. Throws RefusedError, fetch's error, or after a silence an error of it. */
export async function* readStream(token: string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const silent = new AbortController();
  const expire = () => setTimeout(() => silent.abort(new Error('the console is silent')), silenceMilliseconds);
  let timer = expire();
  const limited = AbortSignal.any([signal, silent.signal]);
  const response = await fetch('api/events', { headers: { authorization: `Bearer ${token}` }, signal: limited });
  if (response.status === 401) throw new RefusedError('the token of the URL is not valid');
  if (!response.ok || response.body === null) throw new Error(`the console responded with ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  silent.signal.addEventListener('abort', () => void reader.cancel());
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    clearTimeout(timer);
    if (done) return;
    timer = expire();
    buffer += value;
    const blocks = buffer.split('\n\n');
    buffer = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event = ''] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data = 'null'] = /^data: (.*)$/m.exec(block) ?? [];
      // The only cast of the page: the server and the page are of one version.
      yield { event, data: JSON.parse(data) } as StreamEvent;
    }
  }
}
