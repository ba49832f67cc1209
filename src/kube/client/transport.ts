// One HTTP exchange with an API server over node:http(s): connect deadline, overall deadline, cancellation, and one
// error type for every network failure. It does not interpret the response; client.ts does.
import dns from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { isCertificateCode } from '../../core/errors.ts';
import type { Connection } from './connection.ts';
import { isLoopback } from './connection.ts';
import { ConnectError, DeadlineError } from './errors.ts';

/** A request, ready to be sent. */
export type OutgoingRequest = {
  /** Method and path, for error messages, such as 'GET /path'. */
  readonly label: string;
  readonly method: string;
  /** Path with query. */
  readonly target: string;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: string | undefined;
  /** Cancels the exchange, before and after the headers of the response. */
  readonly signal: AbortSignal;
  readonly connectSeconds: number;
};

/** Sends a request and resolves at the headers of the response. Its body is still to be read. */
export type Transport = {
  send(outgoing: OutgoingRequest): Promise<http.IncomingMessage>;
  close(): void;
};

/** Connections that are idle for longer are not reused: load balancers drop them silently (AWS NLB after 350 s). */
const idleSocketMilliseconds = 60_000;

/**
 * Creates a transport with its own keep-alive agent. Throws a TypeError unless the server is https or loopback http.
 * @param lookup resolves names
 */
export function createTransport(
  connection: Connection,
  { lookup = dns.lookup }: { readonly lookup?: LookupFunction } = {},
): Transport {
  const { server } = connection;
  const secure = server.protocol === 'https:';
  if (!secure && !(server.protocol === 'http:' && isLoopback(server.hostname))) {
    throw new TypeError(`${server.origin}: only https is allowed (http only on a loopback address)`);
  }
  const keepAlive = { keepAlive: true, timeout: idleSocketMilliseconds };
  const agent = secure ? new https.Agent(keepAlive) : new http.Agent(keepAlive);
  const currentTls = numberChanges(() => tlsOptions(connection));
  // The agent's default name of a connection is a text with all TLS options, built several times for each request.
  if (secure) agent.getName = ({ tls }: https.RequestOptions & { tls?: number } = {}) => `${tls}`;
  // Copied field by field: `{ ...url }` is empty, and URL would normalize a path ("..").
  const host = server.hostname.replace(/^\[|\]$/g, '');
  const port = server.port === '' ? (secure ? 443 : 80) : Number(server.port);
  const prefix = server.pathname.replace(/\/+$/, '');
  const lookUp = shareLookups(lookup);

  async function send(outgoing: OutgoingRequest): Promise<http.IncomingMessage> {
    const options = {
      host,
      port,
      agent,
      method: outgoing.method,
      path: prefix + outgoing.target,
      headers: outgoing.headers,
      lookup: lookUp,
      // Computed for each exchange, because they may change. The agent reuses a connection only for equal options.
      ...(secure ? currentTls() : {}),
    };
    const attempt = () => exchange(secure ? https.request(options) : http.request(options), outgoing, connection);
    const first = await attempt();
    // The server may have closed a kept-alive connection while this process was idle or the function was frozen. The
    // server then never read the request. A POST is not retried, because it may have been executed.
    const response = first === 'stale connection' ? await attempt() : first;
    if (response === 'stale connection') throw new ConnectError(`${outgoing.label}: connection lost before a response`);
    return response;
  }
  return { send, close: () => agent.destroy() };
}

/**
 * Joins lookups of one name. Node runs few lookups at a time in all (libuv: two by default), and cannot end one. A DNS
 * server that does not respond holds each for ten seconds: the lookups of all requests to one cluster would keep those
 * to the others from a connection.
 */
function shareLookups(lookup: LookupFunction): LookupFunction {
  const waiting = new Map<string, Parameters<LookupFunction>[2][]>();
  return (hostname, options, callback) => {
    const key = JSON.stringify([hostname, options]);
    const known = waiting.get(key);
    if (known !== undefined) {
      known.push(callback);
      return;
    }
    const callbacks = [callback];
    waiting.set(key, callbacks);
    lookup(hostname, options, (...result) => {
      waiting.delete(key);
      for (const one of callbacks) one(...result);
    });
  };
}

/** Adds a number to the options, and increments it whenever they change. */
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

/** Node's codes for a connection that the server closed. EPIPE: a reset followed before the first write. */
const closedCodes: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

function exchange(
  request: http.ClientRequest,
  outgoing: OutgoingRequest,
  connection: Connection,
): Promise<http.IncomingMessage | 'stale connection'> {
  const { label, signal } = outgoing;
  return new Promise((resolve, reject) => {
    const abort = () => request.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    const removeListenerOnClose = () => {
      // The signal also cancels the reading of the body, so the listener stays until the request is closed.
      request.once('close', () => signal.removeEventListener('abort', abort));
    };
    limitConnect(request, connection.server.protocol === 'https:', outgoing.connectSeconds, label);
    request.once('response', (response) => {
      removeListenerOnClose();
      resolve(response);
    });
    // An unrequested 101 closes the request without a response and without an error.
    request.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(new ConnectError(`${label}: the server switched to another protocol (101)`));
    });
    request.on('error', (error) => {
      removeListenerOnClose();
      if (signal.aborted) reject(signal.reason);
      else if (request.reusedSocket && outgoing.method !== 'POST' && closedCodes.has(codeOf(error)))
        resolve('stale connection');
      else reject(connectError(label, error, connection));
    });
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    else request.end(outgoing.body);
  });
}

/** Fails a request with a ConnectError if it has no connection, including TLS, within the given time. */
export function limitConnect(request: http.ClientRequest, secure: boolean, seconds: number, label: string): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => {
      request.destroy(new ConnectError(`${label}: no connection within ${seconds} s`));
    }, seconds * 1000);
    const clear = () => clearTimeout(timer);
    socket.once(secure ? 'secureConnect' : 'connect', clear);
    request.once('close', clear);
  });
}

/** What to do about a certificate that another authority would not make valid. */
const validityAdvice: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'renew the certificate of the server or of its authority, or correct the clock here',
  CERT_NOT_YET_VALID: 'correct the clock of the server, or the clock here',
  ERR_TLS_CERT_ALTNAME_INVALID: 'give the server by a name of its certificate',
};

/** Returns the code of an error if the server's certificate was not accepted, so that no request was sent. */
export function untrustedCodeOf(error: unknown): string | undefined {
  const code = error instanceof ConnectError ? codeOf(error.cause) : undefined;
  return isCertificateCode(code) ? code : undefined;
}

/**
 * Turns an error of a socket into a ConnectError with the error as its cause. For an untrusted certificate, the message
 * contains the code and the advice: the connection's, unless the authority is not the problem.
 */
export function connectError(
  label: string,
  error: unknown,
  { untrustedAdvice }: Pick<Connection, 'untrustedAdvice'> = {},
): ConnectError {
  if (error instanceof ConnectError) return error;
  // Node's own advice is cut off: it is to add the authority to the system's.
  const [text = ''] = (error instanceof Error ? error.message : String(error)).split('; if the root CA');
  const code = codeOf(error) ?? '';
  const fix = isCertificateCode(code) ? (validityAdvice[code] ?? untrustedAdvice) : undefined;
  const advice = fix === undefined ? '' : ` (${code}); ${fix}`;
  return new ConnectError(`${label}: ${text === '' ? code || 'no connection' : text}${advice}`, { cause: error });
}

/** Combines a signal with a deadline, whose reason is a DeadlineError. The caller must call `clear`. */
export function deadline(
  label: string,
  seconds: number,
  signal: AbortSignal | undefined,
): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const timer = setTimeout(
    () => controller.abort(new DeadlineError(`${label}: no response within ${seconds} s`)),
    seconds * 1000,
  );
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The TLS options of Node: the trusted authorities and the client certificate. */
export type TlsOptions = {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string | undefined;
  readonly servername?: string | undefined;
  readonly cert?: string;
  readonly key?: string;
};

/** Returns Node's TLS options for a connection. */
export function tlsOptions(connection: Connection): TlsOptions {
  const { ca, serverName, clientCertificate } = connection;
  return {
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment cannot turn verification off.
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
    ca,
    servername: serverName,
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate.cert, key: clientCertificate.key }),
  };
}
