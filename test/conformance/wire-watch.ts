// One open watch of the conformance suite. A case reads its events one by one.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import type { Body } from './body.ts';

/** One event of a watch. */
export type WatchEvent = { readonly type: string; readonly object: Body };

/** An open watch. The timeout of the test ends a wait for an event that never arrives. */
export interface Watch extends AsyncDisposable {
  /** Returns the next event. Rejects if the stream has ended. */
  next(): Promise<WatchEvent>;
  /** Returns the events up to and including the first that matches. */
  until(matches: (event: WatchEvent) => boolean): Promise<WatchEvent[]>;
  /** Resolves with the remaining events when the server has ended the stream. */
  rest(): Promise<WatchEvent[]>;
}

/** Reads events from the body of a response. */
export function createWatch(response: IncomingMessage): Watch {
  const lines = createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  const read = async (): Promise<WatchEvent | undefined> => {
    const line = await lines.next();
    return line.done ? undefined : parseEvent(line.value);
  };
  const next = async (): Promise<WatchEvent> => {
    const event = await read();
    if (event === undefined) throw new Error('the watch ended');
    return event;
  };
  return {
    next,
    async until(matches) {
      const events = [await next()];
      for (let last = events[0]; last !== undefined && !matches(last); ) {
        last = await next();
        events.push(last);
      }
      return events;
    },
    async rest() {
      const events: WatchEvent[] = [];
      for (let event = await read(); event !== undefined; event = await read()) events.push(event);
      return events;
    },
    async [Symbol.asyncDispose]() {
      if (response.closed) return;
      const closed = once(response, 'close');
      response.destroy();
      await closed;
    },
  };
}

/** Parses one line. The JSON is not validated, see Body. */
function parseEvent(line: string): WatchEvent {
  return JSON.parse(line);
}
