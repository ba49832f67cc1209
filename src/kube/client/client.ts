// The client through which the watcher and the functions make every call to an API server: deadlines, cancellation,
// TLS, bounded responses and typed errors. It handles HTTP and the API's Status, and knows no kinds.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { unlessAborted } from '../../core/async.ts';
import { toError } from '../../core/errors.ts';
import { isRecord } from '../../core/json.ts';
import { rememberSecret } from '../../core/known-secrets.ts';
import { objectLimits, pageLimits } from './answer.ts';
import type { Connection } from './connection.ts';
import { ApiError, ConnectError, ResponseError } from './errors.ts';
import { parseWarnings, readBody, readErrorBody, retryAfter } from './response.ts';
import { connectError, createTransport, deadline, untrustedCodeOf } from './transport.ts';
import { openWebSocket } from './web-socket.ts';
import { wireText } from './wire-text.ts';

/** Query parameters. An undefined value is left out. A list becomes one parameter for each of its values. */
type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** One HTTP request. */
export type KubeRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A path from path.ts, already encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. A number that may not be exact is a TypeError. */
  readonly body?: unknown;
  /** Default application/json. */
  readonly contentType?: string | undefined;
  /** Default application/json. */
  readonly accept?: string | undefined;
  /** Allows a gzip response. The API server compresses responses of 128 KiB and more (KEP-156). Not for streams. */
  readonly gzip?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Deadline of this call, for a stream until its headers. Default: the client's. */
  readonly timeoutSeconds?: number | undefined;
  /** Called when the request begins and ends to wait in a limiter. The deadline begins afterwards. */
  readonly onQueued?: ((isQueued: boolean) => void) | undefined;
};

/** A WebSocket to receive from. */
export type SocketRequest = {
  /** A path from path.ts, already encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** The subprotocol that the server must select. */
  readonly protocol: string;
  readonly maxMessageBytes: number;
  /** Receives every message, in order. Returns true when the call is complete. An error from it fails the call. */
  receive(message: Buffer): boolean;
  readonly signal?: AbortSignal | undefined;
  /** Deadline until the call is complete. Default: the client's. */
  readonly timeoutSeconds?: number | undefined;
};

/** A call, before its credentials are added. */
type UnauthenticatedCall = Pick<KubeRequest, 'method' | 'path'> & {
  readonly label: string;
  readonly signal: AbortSignal;
};

/** A 2xx response. The body is parsed JSON, or text if the response is not JSON. */
export type KubeResponse = {
  readonly status: number;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
};

/** A 2xx response whose body is read in chunks. The iteration throws a ConnectError if the connection is lost. */
export interface KubeStream extends AsyncIterable<Buffer> {
  readonly headers: IncomingHttpHeaders;
  /** Closes the connection. The iteration ends. */
  close(): void;
}

/** Calls one API server. Throws ApiError, ConnectError, DeadlineError, ResponseError, or the signal's reason. */
export type KubeClient = {
  request(request: KubeRequest): Promise<KubeResponse>;
  stream(request: KubeRequest): Promise<KubeStream>;
  /**
   * Opens a WebSocket and resolves when `receive` returns true. If the WebSocket ends earlier, throws a ResponseError.
   */
  webSocket(request: SocketRequest): Promise<void>;
  /** Closes the connections. A WebSocket ends at its own deadline. */
  close(): void;
};

/** The options of a client. */
export type ClientOptions = {
  /** Time for the connection, including TLS. */
  readonly connectSeconds?: number;
  /** Time for a whole read. */
  readonly timeoutSeconds?: number;
  /**
   * Time for a whole write. The default is longer than the ten seconds that the API server waits for an admission
   * webhook by default. It then goes on without the webhook (`failurePolicy: Ignore`), or its error names the webhook.
   * If the client ends the call before, the API server ends it, too, and each retry would end in the same way.
   */
  readonly writeTimeoutSeconds?: number;
  readonly userAgent?: string;
  /** Called after every call with its HTTP status, or 0 if there was no response. The path has no query. */
  readonly onRequest?: (method: string, path: string, status: number, seconds: number) => void;
  /** Called with the text of every Warning header, for example for a deprecated API. */
  readonly onWarning?: (text: string) => void;
};

/**
 * Creates a client with its own connections. A redirect is an ApiError and is never followed, because it would send the
 * token to another host. If the server answers 401, or its certificate is not trusted, the client refreshes the
 * connection and retries once. Throws a TypeError if the server is neither https nor loopback http.
 */
export function createClient(
  connection: Connection,
  {
    connectSeconds = 3,
    timeoutSeconds = 10,
    writeTimeoutSeconds = 15,
    userAgent = 'outrigger',
    onRequest,
    onWarning,
  }: ClientOptions = {},
): KubeClient {
  const transport = createTransport(connection);
  const rememberKey = () => {
    if (connection.clientCertificate !== undefined) rememberSecret(connection.clientCertificate.key);
  };
  rememberKey();

  async function authorization(label: string, signal: AbortSignal): Promise<Record<string, string>> {
    if (connection.token === undefined) return {};
    try {
      // The token may come from another service, which does not know this call's deadline.
      const token = await unlessAborted(connection.token(), signal);
      // A server may echo it.
      rememberSecret(token);
      return { authorization: `Bearer ${token}` };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new ConnectError(`${label}: no credentials: ${toError(error).message}`, { cause: error });
    }
  }

  async function send(request: KubeRequest, label: string, signal: AbortSignal): Promise<IncomingMessage> {
    const body = request.body === undefined ? undefined : wireText(request.body);
    const headers = {
      accept: request.accept ?? 'application/json',
      'user-agent': userAgent,
      ...(request.gzip === true ? { 'accept-encoding': 'gzip' } : {}),
      ...(body === undefined
        ? {}
        : { 'content-type': request.contentType ?? 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const outgoing = { label, method: request.method, target: requestTarget(request), body, signal, connectSeconds };
    const response = await sendAuthenticated({ ...request, label, signal }, (credentials) =>
      transport.send({ ...outgoing, headers: { ...headers, ...credentials } }),
    );
    if (response.statusCode !== undefined && response.statusCode >= 200 && response.statusCode < 300) return response;
    throw await toApiError(response, { label, signal });
  }

  /** Sends a request. If the credentials or a certificate are rejected, it refreshes them and sends it once more. */
  async function sendAuthenticated(
    { method, path, label, signal }: UnauthenticatedCall,
    send: (credentials: Record<string, string>) => Promise<IncomingMessage>,
  ): Promise<IncomingMessage> {
    const attempt = async () => {
      const started = performance.now();
      let status = 0;
      try {
        const response = await send(await authorization(label, signal));
        status = response.statusCode ?? 0;
        return response;
      } finally {
        onRequest?.(method, path, status, (performance.now() - started) / 1000);
      }
    };
    let response = await attempt().catch((thrown: unknown) => {
      if (connection.refresh !== undefined && untrustedCodeOf(thrown) !== undefined) return 'untrusted' as const;
      throw thrown;
    });
    if (response === 'untrusted' || (response.statusCode === 401 && connection.refresh !== undefined)) {
      // Nobody reads it, and it may have no end.
      if (response !== 'untrusted') response.destroy();
      await unlessAborted(Promise.resolve(connection.refresh?.()), signal);
      rememberKey();
      response = await attempt();
    }
    for (const text of parseWarnings(response.headers)) onWarning?.(text);
    return response;
  }

  return {
    async request(request) {
      const label = `${request.method} ${request.path}`;
      const defaultSeconds = request.method === 'GET' ? timeoutSeconds : writeTimeoutSeconds;
      const timeout = deadline(label, request.timeoutSeconds ?? defaultSeconds, request.signal);
      try {
        const response = await send(request, label, timeout.signal);
        const limits = isPage(request) ? pageLimits : objectLimits;
        const body = await readBody(response, { limits, label, signal: timeout.signal });
        // A proxy may answer with a page. A DELETE would count as done. Reads check what they expect.
        if (request.method !== 'GET' && !isRecord(body)) {
          throw new ResponseError(`${label}: the response is not that of an API server`);
        }
        return { status: response.statusCode ?? 0, headers: response.headers, body };
      } finally {
        timeout.clear();
      }
    },
    async stream(request) {
      const label = `${request.method} ${request.path}`;
      const timeout = deadline(label, request.timeoutSeconds ?? timeoutSeconds, request.signal);
      const sending = new AbortController();
      const forward = () => sending.abort(timeout.signal.reason);
      timeout.signal.addEventListener('abort', forward);
      if (timeout.signal.aborted) forward();
      try {
        const response = await send(request, label, sending.signal);
        return toStream(response, label, request.signal);
      } finally {
        timeout.signal.removeEventListener('abort', forward);
        timeout.clear();
      }
    },
    async webSocket(request) {
      const { path, signal, protocol, maxMessageBytes, receive } = request;
      const label = `GET ${path}`;
      const timeout = deadline(label, request.timeoutSeconds ?? timeoutSeconds, signal);
      const socket = { label, target: requestTarget(request), protocol, maxMessageBytes, receive, connectSeconds };
      try {
        const response = await sendAuthenticated(
          { method: 'GET', path, label, signal: timeout.signal },
          (credentials) => {
            const headers = { 'user-agent': userAgent, ...credentials };
            return openWebSocket(connection, { ...socket, headers, signal: timeout.signal });
          },
        );
        if (response.statusCode !== 101) throw await toApiError(response, { label, signal: timeout.signal });
      } finally {
        timeout.clear();
      }
    },
    close: () => transport.close(),
  };
}

async function toApiError(
  response: IncomingMessage,
  call: { readonly label: string; readonly signal: AbortSignal },
): Promise<ApiError> {
  const body = await readErrorBody(response, call);
  return new ApiError(call.label, response.statusCode ?? 0, body, retryAfter(response.headers));
}

/** Returns whether a request is for a page of a list. */
export function isPage({ method, query }: KubeRequest): boolean {
  return method === 'GET' && query?.limit !== undefined;
}

function requestTarget({ path, query = {} }: Pick<KubeRequest, 'path' | 'query'>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

function toStream(response: IncomingMessage, label: string, signal: AbortSignal | undefined): KubeStream {
  let closed = false;
  const close = () => {
    closed = true;
    response.destroy();
  };
  signal?.addEventListener('abort', close, { once: true });
  response.once('close', () => signal?.removeEventListener('abort', close));
  if (signal?.aborted === true) close();
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of response) yield Buffer.from(chunk);
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (!closed) throw connectError(label, error);
    }
    if (signal?.aborted === true) throw signal.reason;
  }
  return { headers: response.headers, close, [Symbol.asyncIterator]: chunks };
}
