// A gate before a server that sees every effect that goes through: it is done, its answer has come, and whoever asked has not heard it
// yet. Who is killed at this moment has done this and nothing after it.
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { listenHere } from '../../../test/support/listen.ts';
import type { Upstream } from '../../../test/chaos/chaos-proxy.ts';

/** Something that was done. */
export type Effect = {
  readonly method: string;
  /** Path with query. */
  readonly url: string;
  /** What SQS calls are called. */
  readonly target: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** Of whoever asked, on this machine. */
  readonly port: number;
};

/** A gate that runs. */
export type Gate = { readonly url: string; close(): Promise<void> };

/** In the last message of a command in a pod: how it ended. */
const commandEnd = /"status":"(Success|Failure)"/;

/** Starts a gate on loopback; `onEffect` is called for every request that may change something, before its answer goes on. */
export async function startGate({ url, ca, certificate }: Upstream, onEffect: (effect: Effect) => void): Promise<Gate> {
  const upstream = new URL(url);
  const secure = upstream.protocol === 'https:';
  const trust = ca === undefined ? {} : { ca };
  const agent = secure ? new https.Agent({ keepAlive: true, ...trust }) : new http.Agent({ keepAlive: true });
  const open = ({ method, url: path, headers }: http.IncomingMessage, more: https.RequestOptions) =>
    (secure ? https : http).request({
      ...{ hostname: upstream.hostname, port: upstream.port, method, path, ...more },
      headers: { ...headers, host: upstream.host },
    });

  const server = certificate === undefined ? http.createServer() : https.createServer(certificate);
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    const onward = open(request, { agent });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.pipe(onward);
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.on('response', (answer) => {
      if (mayChange(request) && (answer.statusCode ?? 500) < 300) {
        onEffect(effectOf(request, Buffer.concat(chunks).toString()));
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
  });
  server.on('upgrade', (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
    const onward = open(request, trust);
    const end = () => {
      socket.destroy();
      onward.destroy();
    };
    socket.on('error', end);
    onward.on('error', end);
    onward.on('response', (answer) => {
      socket.write(headOf(answer));
      answer.pipe(socket);
    });
    onward.on('upgrade', (answer, beyond, first) => {
      let heard = '';
      let isOver = false;
      const listen = (chunk: Buffer) => {
        heard += chunk.toString('latin1');
        if (isOver || !commandEnd.test(heard)) return;
        isOver = true;
        onEffect(effectOf(request, ''));
      };
      socket.write(headOf(answer));
      listen(first);
      socket.write(first);
      beyond.write(head);
      beyond.on('data', (chunk: Buffer) => {
        listen(chunk);
        socket.write(chunk);
      });
      beyond.on('close', () => socket.end());
      beyond.on('error', end);
      socket.pipe(beyond);
    });
    onward.end();
  });

  const port = await listenHere(server);
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

function effectOf({ method = 'GET', url = '/', headers, socket }: http.IncomingMessage, body: string): Effect {
  return { method, url, target: targetOf(headers), headers, body, port: socket.remotePort ?? 0 };
}

/** Reading is no effect, whatever the method: SQS reads by POST. */
function mayChange({ method, headers }: http.IncomingMessage): boolean {
  return method !== 'GET' && !/^(Receive|Get|List)/.test(targetOf(headers));
}

/** `SendMessageBatch` of `AmazonSQS.SendMessageBatch`. */
function targetOf(headers: http.IncomingHttpHeaders): string {
  return String(headers['x-amz-target'] ?? '').replace(/^.*\./, '');
}

function headOf({ statusCode = 502, statusMessage = '', rawHeaders }: http.IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('\r\n')}\r\n\r\n`;
}
