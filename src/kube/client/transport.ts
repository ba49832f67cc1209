// One HTTP exchange with an API server over node:http(s): connect deadline, whole deadline, cancellation, and every way the
// network fails turned into one error. It does not look at what was answered; client.ts does.
import http from 'node:http';
import https from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import type { Connection } from '../connection.ts';
import { ConnectError, DeadlineError } from './errors.ts';
import { isLoopback } from '../loopback.ts';

/** What goes over the wire. */
export interface Outgoing {
  /** 'GET /path', for messages. */
  readonly label: string;
  readonly method: string;
  /** Path with query. */
  readonly target: string;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: string | undefined;
  /** Cancels the exchange, before and after the headers of the answer. */
  readonly signal: AbortSignal;
  readonly connectSeconds: number;
}

/** Sends one request and resolves with the answer's headers, its body still to be read. */
export interface Transport {
  send(outgoing: Outgoing): Promise<http.IncomingMessage>;
  close(): void;
}

/** Idle connections older than this are not reused: load balancers forget them silently (AWS NLB after 350 s). */
const IDLE_SOCKET_MILLISECONDS = 60_000;

/** Creates a transport with a keep-alive agent of its own. Throws a TypeError for a server that is neither https nor loopback http. */
export function createTransport(connection: Connection): Transport {
  const { server } = connection;
  const secure = server.protocol === 'https:';
  if (!secure && !(server.protocol === 'http:' && isLoopback(server.hostname))) {
    throw new TypeError(`${server.origin}: an API server is reached over https (http only on this machine's loopback)`);
  }
  const keepAlive = { keepAlive: true, timeout: IDLE_SOCKET_MILLISECONDS };
  const agent = secure ? new https.Agent(keepAlive) : new http.Agent(keepAlive);
  const tlsNow = numberChanges(() => tlsOptions(connection));
  // The agent's own name for a connection is everything of TLS in one text, made several times for each request.
  if (secure) agent.getName = ({ tls }: https.RequestOptions & { tls?: number } = {}) => `${tls}`;
  // Copied by hand: `{ ...url }` is empty, and a path given to URL would be normalised ("..") behind our back.
  const host = server.hostname.replace(/^\[|\]$/g, '');
  const port = server.port === '' ? (secure ? 443 : 80) : Number(server.port);
  const prefix = server.pathname.replace(/\/+$/, '');

  async function send(outgoing: Outgoing): Promise<http.IncomingMessage> {
    const options = {
      host,
      port,
      agent,
      method: outgoing.method,
      path: prefix + outgoing.target,
      headers: outgoing.headers,
      // For each exchange, because they may change. The agent reuses a connection only for the same ones.
      ...(secure ? tlsNow() : {}),
    };
    const attempt = () => exchange(secure ? https.request(options) : http.request(options), outgoing, connection);
    const first = await attempt();
    // A kept-alive connection may have been closed by the server while we were idle (or a function was frozen): the
    // request was then never read. POST is left out, because for it nobody can tell.
    const answer = first === 'stale connection' ? await attempt() : first;
    if (answer === 'stale connection') throw new ConnectError(`${outgoing.label}: connection lost before an answer`);
    return answer;
  }
  return { send, close: () => agent.destroy() };
}

/** Adds a number to options, another one whenever they are not what they were. */
function numberChanges(options: () => TlsOptions): () => TlsOptions & { readonly tls: number } {
  let last: TlsOptions | undefined;
  let tls = 0;
  return () => {
    const now = options();
    if (!isDeepStrictEqual(now, last)) tls += 1;
    last = now;
    return { ...now, tls };
  };
}

function exchange(
  request: http.ClientRequest,
  outgoing: Outgoing,
  connection: Connection,
): Promise<http.IncomingMessage | 'stale connection'> {
  const { label, signal } = outgoing;
  return new Promise((resolve, reject) => {
    const abort = () => request.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    const settle = () => {
      // After the headers the reader of the body has to hear of the signal as well, so the listener stays until the end.
      request.once('close', () => signal.removeEventListener('abort', abort));
    };
    limitConnect(request, connection.server.protocol === 'https:', outgoing.connectSeconds, label);
    request.once('response', (response) => {
      settle();
      resolve(response);
    });
    request.on('error', (error) => {
      settle();
      if (signal.aborted) reject(signal.reason);
      else if (request.reusedSocket && outgoing.method !== 'POST' && codeOf(error) === 'ECONNRESET')
        resolve('stale connection');
      else reject(connectError(label, error, connection));
    });
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    else request.end(outgoing.body);
  });
}

/** Gives a request so long for its connection, TLS included; then it fails with a ConnectError. */
export function limitConnect(request: http.ClientRequest, secure: boolean, seconds: number, label: string): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const connecting = setTimeout(() => {
      request.destroy(new ConnectError(`${label}: no connection within ${seconds} s`));
    }, seconds * 1000);
    const settle = () => clearTimeout(connecting);
    socket.once(secure ? 'secureConnect' : 'connect', settle);
    request.once('close', settle);
  });
}

/** What Node says of a certificate that it does not accept (tls.X509CertificateError), and of one for another name. */
const certificateCode =
  /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|INVALID_CA$|HOSTNAME_MISMATCH$|ERR_TLS_CERT_ALTNAME_)/;

/**
 * Turns an error of a socket into a ConnectError; the error itself is the cause, its code is in the message, and what to do about a
 * certificate that was not accepted.
 */
export function connectError(
  label: string,
  error: unknown,
  { whenUntrusted }: Pick<Connection, 'whenUntrusted'> = {},
): ConnectError {
  if (error instanceof ConnectError) return error;
  // Node's own advice is for whoever starts it: an authority of the system's.
  const [text = ''] = (error instanceof Error ? error.message : String(error)).split('; if the root CA');
  const code = codeOf(error) ?? '';
  const advice = whenUntrusted !== undefined && certificateCode.test(code) ? ` (${code}); ${whenUntrusted}` : '';
  return new ConnectError(`${label}: ${text === '' ? code || 'no connection' : text}${advice}`, { cause: error });
}

/** Combines a caller's signal with a deadline. The reason of the latter is a DeadlineError. Always call `clear`. */
export function deadline(
  label: string,
  seconds: number,
  signal: AbortSignal | undefined,
): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  const timer = setTimeout(
    () => controller.abort(new DeadlineError(`${label}: no answer within ${seconds} s`)),
    seconds * 1000,
  );
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort);
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whom to trust and who we are, as Node takes it. */
export type TlsOptions = {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly servername?: string;
  readonly cert?: string;
  readonly key?: string;
};

/** Makes Node's options of a connection. */
export function tlsOptions(connection: Connection): TlsOptions {
  const { ca, serverName, clientCertificate } = connection;
  return {
    // Said outright, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment cannot turn it off.
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate.cert, key: clientCertificate.key }),
  };
}
