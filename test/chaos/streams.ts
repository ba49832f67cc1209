// The watches that pass through the proxy, line by line, so that a fault can be put exactly between two frames or inside one.
import type http from 'node:http';
import { reset } from './reset.ts';

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
  carry(answer: http.IncomingMessage, response: http.ServerResponse): void;
  /** Does it to each, and tells to how many. */
  strike(fault: StreamFault): number;
};

type Stream = { readonly strike: (fault: StreamFault) => void };

const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Expired', code: 410 };
const goneFrame = `${JSON.stringify({ type: 'ERROR', object: { ...status, message: 'too old resource version' } })}\n`;

/** Keeps watches; `onFired` is told whenever a fault has really taken something from one. */
export function openStreams(onFired: () => void): Streams {
  const open = new Set<Stream>();
  return {
    carry(answer, response) {
      let rest = '';
      let mood: 'well' | 'stalled' | 'cutting' | 'over' = 'well';
      const stop = () => {
        mood = 'over';
        onFired();
      };
      const line = (text: string): void => {
        if (mood === 'stalled') onFired();
        else if (mood === 'cutting') {
          stop();
          response.write(text.slice(0, Math.ceil(text.length / 2)), () => reset(response.socket));
        } else if (mood === 'well') response.write(text);
      };
      const stream: Stream = {
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
  };
}
