// One open watch of the conformance suite: frames in the order they came, asked for one by one.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import type { Body } from './body.ts';

/** One frame of a watch. */
export interface Frame {
  readonly type: string;
  readonly object: Body;
}

/** An open watch. The test's own timeout ends a wait that is in vain. */
export interface Watch extends AsyncDisposable {
  /** Returns the next frame; rejects when the stream ended instead. */
  next(): Promise<Frame>;
  /** Returns the frames up to and including the first that fits. */
  until(fits: (frame: Frame) => boolean): Promise<Frame[]>;
  /** Resolves with the frames that are left when the server has ended the stream. */
  rest(): Promise<Frame[]>;
}

/** Reads frames from a response whose headers have arrived. */
export function createWatch(response: IncomingMessage): Watch {
  const lines = createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  const read = async (): Promise<Frame | undefined> => {
    const line = await lines.next();
    return line.done ? undefined : parseFrame(line.value);
  };
  const next = async (): Promise<Frame> => {
    const frame = await read();
    if (frame === undefined) throw new Error('the watch ended');
    return frame;
  };
  return {
    next,
    async until(fits) {
      const frames = [await next()];
      for (let last = frames[0]; last !== undefined && !fits(last); ) {
        last = await next();
        frames.push(last);
      }
      return frames;
    },
    async rest() {
      const frames: Frame[] = [];
      for (let frame = await read(); frame !== undefined; frame = await read()) frames.push(frame);
      return frames;
    },
    async [Symbol.asyncDispose]() {
      if (response.closed) return;
      const closed = once(response, 'close');
      response.destroy();
      await closed;
    },
  };
}

/** The edge where bytes become a shape; see Body. */
function parseFrame(line: string): Frame {
  return JSON.parse(line);
}
