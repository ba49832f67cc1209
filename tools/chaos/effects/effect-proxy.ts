// A proxy that reports every effect that passes it: the server has executed the request and responded, and the client
// has not received the response yet. A client killed at this moment has made exactly this effect.
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { listenOnLoopback } from '../../../test/support/listen.ts';
import type { Upstream } from '../chaos-proxy.ts';

/** A request that was executed. */
export type Effect = {
  readonly method: string;
  /** The path with the query. */
  readonly url: string;
  /** The action of an SQS request. */
  readonly target: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** The client's port on this machine. */
  readonly port: number;
};

/** A running proxy. */
export type EffectProxy = { readonly url: string; close(): Promise<void> };

/** The status in the last message of a command in a pod. */
const commandEnd = /"status":"(Success|Failure)"/;

/**
 * Starts a proxy on the loopback address. `onEffect` is called for every request that may change something, before its
 * response is forwarded.
 */
export async function startEffectProxy(
  { url, ca, certificate }: Upstream,
  onEffect: (effect: Effect) => void,
): Promise<EffectProxy> {
  const upstream = new URL(url);
  const secure = upstream.protocol === 'https:';
  const authority = ca === undefined ? {} : { ca };
  const agent = secure ? new https.Agent({ keepAlive: true, ...authority }) : new http.Agent({ keepAlive: true });
  const open = ({ method, url: path, headers }: http.IncomingMessage, more: https.RequestOptions) =>
    (secure ? https : http).request({
      hostname: upstream.hostname,
      port: upstream.port,
      method,
      path,
      ...more,
      headers: { ...headers, host: upstream.host },
    });

  const server = certificate === undefined ? http.createServer() : https.createServer(certificate);
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    const forwarded = open(request, { agent });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.pipe(forwarded);
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    forwarded.on('response', (serverResponse) => {
      if (mayChange(request) && (serverResponse.statusCode ?? 500) < 300) {
        onEffect(effectOf(request, Buffer.concat(chunks).toString()));
      }
      response.writeHead(serverResponse.statusCode ?? 502, serverResponse.headers);
      response.flushHeaders();
      serverResponse.on('error', () => response.destroy());
      serverResponse.pipe(response);
    });
  });
  server.on('upgrade', (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
    const forwarded = open(request, authority);
    const closeBoth = () => {
      socket.destroy();
      forwarded.destroy();
    };
    socket.on('error', closeBoth);
    forwarded.on('error', closeBoth);
    forwarded.on('response', (serverResponse) => {
      socket.write(headOf(serverResponse));
      serverResponse.pipe(socket);
    });
    forwarded.on('upgrade', (serverResponse, serverSocket, first) => {
      let received = '';
      let isComplete = false;
      const readChunk = (chunk: Buffer) => {
        received += chunk.toString('latin1');
        if (isComplete || !commandEnd.test(received)) return;
        isComplete = true;
        onEffect(effectOf(request, ''));
      };
      socket.write(headOf(serverResponse));
      readChunk(first);
      socket.write(first);
      serverSocket.write(head);
      serverSocket.on('data', (chunk: Buffer) => {
        readChunk(chunk);
        socket.write(chunk);
      });
      serverSocket.on('close', () => socket.end());
      serverSocket.on('error', closeBoth);
      socket.pipe(serverSocket);
    });
    forwarded.end();
  });

  const port = await listenOnLoopback(server);
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

/** A read is not an effect, whatever its method is: SQS reads with POST. */
function mayChange({ method, headers }: http.IncomingMessage): boolean {
  return method !== 'GET' && !/^(Receive|Get|List)/.test(targetOf(headers));
}

/** Returns `SendMessageBatch` of `AmazonSQS.SendMessageBatch`. */
function targetOf(headers: http.IncomingHttpHeaders): string {
  return String(headers['x-amz-target'] ?? '').replace(/^.*\./, '');
}

function headOf({ statusCode = 502, statusMessage = '', rawHeaders }: http.IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('\r\n')}\r\n\r\n`;
}
