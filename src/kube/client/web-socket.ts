// One WebSocket to an API server, for pods/exec: the same TLS, deadlines and errors as transport.ts. The library `ws`
// is loaded with the first WebSocket, because most functions never open one.
import type http from 'node:http';
import type { ClientOptions } from 'ws';
import type { Connection } from './connection.ts';
import { ResponseError } from './errors.ts';
import { connectError, limitConnect, tlsOptions } from './transport.ts';

/** A WebSocket to open, and the receiver of its messages. */
export type WebSocketRequest = {
  /** Method and path, for error messages, such as 'GET /path'. */
  readonly label: string;
  /** Path with query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The only subprotocol that is offered. If the server selects another one, the call fails with a ResponseError. */
  readonly protocol: string;
  /** Fails the call with its reason, at any time. */
  readonly signal: AbortSignal;
  readonly connectSeconds: number;
  readonly maxMessageBytes: number;
  /** Receives every message, in order. Returns true when the call is complete. An error from it fails the call. */
  receive(message: Buffer): boolean;
};

/** Time for the server to confirm the close. The caller does not wait for it. */
const closeMilliseconds = 1_000;

/**
 * Opens a WebSocket on its own connection. When `receive` returns true, it resolves with the response to the upgrade,
 * which has the status 101. It also resolves with a response of any other status, whose body is still to be read.
 * Throws a ConnectError if there is no response, a ResponseError if the server closes early or violates the protocol,
 * or the signal's reason.
 */
export async function openWebSocket(connection: Connection, request: WebSocketRequest): Promise<http.IncomingMessage> {
  const { label, target, signal } = request;
  const { WebSocket } = await import('ws');
  signal.throwIfAborted();
  const secure = connection.server.protocol === 'https:';
  const prefix = connection.server.pathname.replace(/\/+$/, '');
  const options: ClientOptions = {
    ...(secure ? tlsOptions(connection) : {}),
    headers: { ...request.headers },
    perMessageDeflate: false,
    maxPayload: request.maxMessageBytes,
    finishRequest: (upgradeRequest) => {
      limitConnect(upgradeRequest, secure, request.connectSeconds, label);
      upgradeRequest.end();
    },
  };
  const url = `${secure ? 'wss' : 'ws'}://${connection.server.host}${prefix}${target}`;
  return await new Promise((resolve, reject) => {
    const socket = new WebSocket(url, [request.protocol], options);
    let upgrade: http.IncomingMessage | undefined;
    const abort = () => {
      reject(signal.reason);
      socket.terminate();
    };
    const fail = (problem: string, cause?: unknown) =>
      reject(new ResponseError(`${label}: ${problem}`, cause === undefined ? {} : { cause }));
    signal.addEventListener('abort', abort);
    socket.on('upgrade', (response) => {
      upgrade = response;
    });
    socket.on('message', (message) => {
      try {
        // ws passes Buffers by default.
        if (upgrade === undefined || !Buffer.isBuffer(message) || !request.receive(message)) return;
        resolve(upgrade);
        socket.close();
        setTimeout(() => socket.terminate(), closeMilliseconds).unref();
      } catch (error) {
        reject(error);
        socket.terminate();
      }
    });
    // The upgrade was rejected. The caller reads the body, and the signal ends that as well.
    socket.on('unexpected-response', (upgradeRequest, response) => {
      signal.removeEventListener('abort', abort);
      const destroy = () => upgradeRequest.destroy();
      signal.addEventListener('abort', destroy);
      response.once('close', () => signal.removeEventListener('abort', destroy));
      resolve(response);
    });
    socket.on('error', (error) => {
      // After the upgrade the server was reachable, so this is not a ConnectError.
      if (upgrade === undefined) reject(connectError(label, error, connection));
      else fail(error.message, error);
    });
    socket.on('close', (code) => {
      signal.removeEventListener('abort', abort);
      fail(`the WebSocket was closed early (code ${code})`);
    });
  });
}
