// One WebSocket to an API server, for what does not fit into a request and its answer (pods/exec): the same TLS, deadlines
// and errors as transport.ts. `ws` is loaded when the first one is opened: most functions never do.
import type http from 'node:http';
import type { ClientOptions } from 'ws';
import type { Connection } from '../connection.ts';
import { AnswerError } from './errors.ts';
import { connectError, limitConnect, tlsOptions } from './transport.ts';

/** A WebSocket to open, and who hears what comes. */
export interface Listening {
  /** 'GET /path', for messages. */
  readonly label: string;
  /** Path with query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The only sub-protocol that is offered; a server that speaks another is an AnswerError. */
  readonly protocol: string;
  /** Ends the call with its reason, at any time. */
  readonly signal: AbortSignal;
  readonly connectSeconds: number;
  readonly maxMessageBytes: number;
  /** Handed every message, in order. Tells whether it has heard enough; what it throws ends the call. */
  receive(message: Buffer): boolean;
}

/** How long the server may take to answer our close; nobody waits for it. */
const CLOSE_MILLISECONDS = 1_000;

/**
 * Opens a WebSocket on a connection of its own and resolves when `receive` has heard enough, with the answer to the upgrade:
 * status 101. Any other status is an answer too, its body still to be read. Throws a ConnectError when nobody answers, an
 * AnswerError when the server is heard and breaks off or breaks the protocol, and the signal's reason.
 */
export async function listen(connection: Connection, listening: Listening): Promise<http.IncomingMessage> {
  const { label, target, signal } = listening;
  const { WebSocket } = await import('ws');
  signal.throwIfAborted();
  const secure = connection.server.protocol === 'https:';
  const prefix = connection.server.pathname.replace(/\/+$/, '');
  const options: ClientOptions = {
    ...(secure ? tlsOptions(connection) : {}),
    headers: { ...listening.headers },
    perMessageDeflate: false,
    maxPayload: listening.maxMessageBytes,
    finishRequest: (request) => {
      limitConnect(request, secure, listening.connectSeconds, label);
      request.end();
    },
  };
  const url = `${secure ? 'wss' : 'ws'}://${connection.server.host}${prefix}${target}`;
  return await new Promise((resolve, reject) => {
    const socket = new WebSocket(url, [listening.protocol], options);
    let upgrade: http.IncomingMessage | undefined;
    const abort = () => {
      reject(signal.reason);
      socket.terminate();
    };
    const broken = (problem: string, cause?: unknown) =>
      reject(new AnswerError(`${label}: ${problem}`, cause === undefined ? {} : { cause }));
    signal.addEventListener('abort', abort);
    socket.on('upgrade', (response) => {
      upgrade = response;
    });
    socket.on('message', (message) => {
      try {
        // Buffers are what ws hands over unless it is told otherwise.
        if (upgrade === undefined || !Buffer.isBuffer(message) || !listening.receive(message)) return;
        resolve(upgrade);
        socket.close();
        setTimeout(() => socket.terminate(), CLOSE_MILLISECONDS).unref();
      } catch (error) {
        reject(error);
        socket.terminate();
      }
    });
    // A refusal: its body is read by the caller, and is cut off by the signal as well.
    socket.on('unexpected-response', (request, response) => {
      signal.removeEventListener('abort', abort);
      const cut = () => request.destroy();
      signal.addEventListener('abort', cut);
      response.once('close', () => signal.removeEventListener('abort', cut));
      resolve(response);
    });
    socket.on('error', (error) => {
      // After the upgrade somebody was there, so this is no question of reaching the cluster.
      if (upgrade === undefined) reject(connectError(label, error, connection));
      else broken(error.message, error);
    });
    socket.on('close', (code) => {
      signal.removeEventListener('abort', abort);
      broken(`closed before the end (${code})`);
    });
  });
}
