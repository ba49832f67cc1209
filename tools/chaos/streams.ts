// The watches that pass through the proxy, line by line, so that a fault can be injected exactly between two events or
// inside one.

import type http from 'node:http';
import type { Socket } from 'node:net';

/** A fault of a watch. */
export type StreamFault =
  /** It stays open and sends nothing. */
  | { readonly type: 'stall' }
  /** It is reset. */
  | { readonly type: 'reset' }
  /** It ends in the middle of its next event. */
  | { readonly type: 'cut' }
  /** It ends with an ERROR event of code 410. */
  | { readonly type: 'gone' };

/** The open watches. */
export type Streams = {
  forward(url: string, upstreamResponse: http.IncomingMessage, response: http.ServerResponse): void;
  /** Injects the fault into each watch, and returns their number. */
  inject(fault: StreamFault): number;
  /** Counts the watches without a fault whose URL contains this text. */
  healthyCount(part: string): number;
};

/** The listeners of the watches. */
export type StreamListener = {
  /** A fault has taken effect on the watch of this URL. */
  onFired(url: string): void;
  /** The server itself has ended a watch with 410. */
  onGone(): void;
};

type Stream = { readonly url: string; inject(fault: StreamFault): void; isHealthy(): boolean };

const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Expired', code: 410 };
const goneFrame = `${JSON.stringify({ type: 'ERROR', object: { ...status, message: 'too old resource version' } })}\n`;

/** A 410 event of the server's own; no object of the tests contains this text. */
const goneText = /^\{"type":"ERROR",.*"code":410\b/;

/** Creates the watches. */
export function openStreams({ onFired, onGone }: StreamListener): Streams {
  const open = new Set<Stream>();
  return {
    forward(url, upstreamResponse, response) {
      let rest = '';
      let state: 'healthy' | 'stalled' | 'cutting' | 'ended' = 'healthy';
      const stop = () => {
        state = 'ended';
        onFired(url);
      };
      const line = (text: string): void => {
        if (goneText.test(text)) onGone();
        if (state === 'stalled') onFired(url);
        else if (state === 'cutting') {
          stop();
          response.write(text.slice(0, Math.ceil(text.length / 2)), () => reset(response.socket));
        } else if (state === 'healthy') response.write(text);
      };
      const stream: Stream = {
        url,
        isHealthy: () => state === 'healthy',
        inject({ type }) {
          if (state === 'ended') return;
          if (type === 'stall') state = 'stalled';
          else if (type === 'cut') state = 'cutting';
          else {
            stop();
            if (type === 'gone') response.end(goneFrame);
            else reset(response.socket);
          }
        },
      };
      open.add(stream);
      upstreamResponse.setEncoding('utf8');
      upstreamResponse.on('data', (text: string) => {
        const lines = `${rest}${text}`.split('\n');
        rest = lines.pop() ?? '';
        for (const one of lines) line(`${one}\n`);
      });
      upstreamResponse.on('end', () => {
        if (state === 'healthy') response.end();
      });
      response.on('close', () => open.delete(stream));
    },
    inject(fault) {
      const now = [...open];
      for (const stream of now) stream.inject(fault);
      return now.length;
    },
    healthyCount: (part) => [...open].filter((stream) => stream.isHealthy() && stream.url.includes(part)).length,
  };
}

/** Resets a connection. One under TLS is cut: no close_notify, but Node gives no way to its RST. */
export function reset(socket: Socket | null): void {
  if (socket === null) return;
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}
