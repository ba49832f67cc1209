// The watches that pass through the proxy, line by line, so that a fault can be put exactly between two frames or inside one.
import type http from 'node:http';
import { reset } from '../../test/chaos/reset.ts';

/** What happens to a watch. */
export type StreamFault =
  /** It stays open and says nothing any more. */
  | { readonly type: 'stall' }
  /** It ends without a goodbye. */
  | { readonly type: 'reset' }
  /** It ends in the middle of its next frame. */
  | { readonly type: 'cut' }
  /** It says that its version is too old. */
  | { readonly type: 'gone' };

/** The watches that are open. */
export type Streams = {
  carry(url: string, answer: http.IncomingMessage, response: http.ServerResponse): void;
  /** Does it to each, and tells to how many. */
  strike(fault: StreamFault): number;
  /** Counts those that nothing has happened to and whose URL contains that text. */
  well(part: string): number;
};

/** What is told of the watches. */
export type StreamListener = {
  /** A fault has really taken something from the watch of that URL. */
  onFired(url: string): void;
  /** The server itself has ended it with 410. */
  onGone(): void;
};

type Stream = { readonly url: string; strike(fault: StreamFault): void; isWell(): boolean };

const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Expired', code: 410 };
const goneFrame = `${JSON.stringify({ type: 'ERROR', object: { ...status, message: 'too old resource version' } })}\n`;

/** A frame of the server's own that says so; no object of ours contains it. */
const goneText = /^\{"type":"ERROR",.*"code":410\b/;

/** Keeps watches. */
export function openStreams({ onFired, onGone }: StreamListener): Streams {
  const open = new Set<Stream>();
  return {
    carry(url, answer, response) {
      let rest = '';
      let mood: 'well' | 'stalled' | 'cutting' | 'over' = 'well';
      const stop = () => {
        mood = 'over';
        onFired(url);
      };
      const line = (text: string): void => {
        if (goneText.test(text)) onGone();
        if (mood === 'stalled') onFired(url);
        else if (mood === 'cutting') {
          stop();
          response.write(text.slice(0, Math.ceil(text.length / 2)), () => reset(response.socket));
        } else if (mood === 'well') response.write(text);
      };
      const stream: Stream = {
        url,
        isWell: () => mood === 'well',
        strike({ type }) {
          if (mood === 'over') return;
          if (type === 'stall') mood = 'stalled';
          else if (type === 'cut') mood = 'cutting';
          else {
            stop();
            if (type === 'gone') response.end(goneFrame);
            else reset(response.socket);
          }
        },
      };
      open.add(stream);
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => {
        const lines = `${rest}${text}`.split('\n');
        rest = lines.pop() ?? '';
        for (const one of lines) line(`${one}\n`);
      });
      answer.on('end', () => {
        if (mood === 'well') response.end();
      });
      response.on('close', () => open.delete(stream));
    },
    strike(fault) {
      const now = [...open];
      for (const stream of now) stream.strike(fault);
      return now.length;
    },
    well: (part) => [...open].filter((stream) => stream.isWell() && stream.url.includes(part)).length,
  };
}
