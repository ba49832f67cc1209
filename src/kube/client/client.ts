// The one door to an API server: deadlines, cancellation, TLS, bounded answers and errors as values for every call made by
// the watcher and the functions. It knows HTTP and the API's Status, and no kind.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { toError } from '../../core/errors.ts';
import { unlessAborted } from '../../core/unless-aborted.ts';
import { decode, errorBody, readAll, retryAfter, warnings } from './response.ts';
import type { Connection } from '../connection.ts';
import { ApiError, ConnectError } from './errors.ts';
import { connectError, createTransport, deadline } from './transport.ts';
import { listen } from './web-socket.ts';

/** Query parameters; those that are undefined are left out, a list is one parameter for each of its values. */
type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** One call. */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path from path.ts: already encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default application/json. */
  readonly contentType?: string | undefined;
  /** Default application/json. */
  readonly accept?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Deadline of this call (of a stream: until its headers), when not the client's. */
  readonly timeoutSeconds?: number | undefined;
}

/** A WebSocket to listen on. */
export interface SocketRequest {
  /** Path from path.ts: already encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** The sub-protocol that the server must speak. */
  readonly protocol: string;
  readonly maxMessageBytes: number;
  /** Handed every message, in order. Tells whether it has heard enough; what it throws ends the call. */
  receive(message: Buffer): boolean;
  readonly signal?: AbortSignal | undefined;
  /** Deadline until enough is heard, when not the client's. */
  readonly timeoutSeconds?: number | undefined;
}

/** What is asked, before anybody is there to ask. */
type Question = Pick<KubeRequest, 'method' | 'path'> & { readonly label: string; readonly signal: AbortSignal };

/** A 2xx answer. The body is parsed JSON, or text when it is not JSON. */
export interface KubeResponse {
  readonly status: number;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
}

/** A 2xx answer whose body arrives bit by bit. A lost connection is a ConnectError from the iteration. */
export interface KubeStream extends AsyncIterable<Buffer> {
  readonly headers: IncomingHttpHeaders;
  /** Drops the connection; the iteration ends. */
  close(): void;
}

/** Calls one API server. Errors: ApiError, ConnectError, DeadlineError, AnswerError, or the signal's reason. */
export interface KubeClient {
  request(request: KubeRequest): Promise<KubeResponse>;
  stream(request: KubeRequest): Promise<KubeStream>;
  /** Opens a WebSocket and resolves when enough was heard. One that ends before that is an AnswerError. */
  webSocket(request: SocketRequest): Promise<void>;
  /** Closes the connections. A WebSocket ends by its own deadline. */
  close(): void;
}

/** What can be chosen about a client. */
export interface ClientOptions {
  /** Time to a connection, TLS included. */
  readonly connectSeconds?: number;
  /** Time for a whole call. */
  readonly timeoutSeconds?: number;
  readonly maxResponseBytes?: number;
  readonly userAgent?: string;
  /** Called after every call with its HTTP status, 0 when nobody answered. The path is without query. */
  readonly onRequest?: (method: string, path: string, status: number, seconds: number) => void;
  /** Called with the text of every Warning header, such as the deprecation of an API. */
  readonly onWarning?: (text: string) => void;
}

/** A page of 500 objects stays far below; more than this would endanger a function's memory. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/**
 * Creates a client with connections of its own. Redirects are never followed (they would carry the token elsewhere) but
 * are ApiErrors; a 401 makes it ask for fresh credentials and try once more. Throws a TypeError for a server that is
 * neither https nor loopback http.
 */
export function createClient(
  connection: Connection,
  {
    connectSeconds = 3,
    timeoutSeconds = 10,
    maxResponseBytes = MAX_RESPONSE_BYTES,
    userAgent = 'outrigger',
    onRequest,
    onWarning,
  }: ClientOptions = {},
): KubeClient {
  const transport = createTransport(connection);

  async function authorization(label: string, signal: AbortSignal): Promise<Record<string, string>> {
    if (connection.token === undefined) return {};
    try {
      // It may have to ask a service of its own, which knows nothing of this call's deadline.
      return { authorization: `Bearer ${await unlessAborted(connection.token(), signal)}` };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new ConnectError(`${label}: no credentials: ${toError(error).message}`, { cause: error });
    }
  }

  async function send(request: KubeRequest, label: string, signal: AbortSignal): Promise<IncomingMessage> {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const headers = {
      accept: request.accept ?? 'application/json',
      'user-agent': userAgent,
      ...(body === undefined
        ? {}
        : { 'content-type': request.contentType ?? 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const outgoing = { label, method: request.method, target: target(request), body, signal, connectSeconds };
    const response = await ask({ ...request, label, signal }, (credentials) =>
      transport.send({ ...outgoing, headers: { ...headers, ...credentials } }),
    );
    if (response.statusCode !== undefined && response.statusCode >= 200 && response.statusCode < 300) return response;
    throw await refusal(response, label);
  }

  /** Asks, and once more with fresh credentials when the first ones are not accepted. */
  async function ask(
    { method, path, label, signal }: Question,
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
    let response = await attempt();
    if (response.statusCode === 401 && connection.refresh !== undefined) {
      response.resume();
      connection.refresh();
      response = await attempt();
    }
    for (const text of warnings(response.headers)) onWarning?.(text);
    return response;
  }

  return {
    async request(request) {
      const label = `${request.method} ${request.path}`;
      const limit = deadline(label, request.timeoutSeconds ?? timeoutSeconds, request.signal);
      try {
        const response = await send(request, label, limit.signal);
        const text = await readAll(response, maxResponseBytes, label, limit.signal);
        return {
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: decode(text, response.headers, label),
        };
      } finally {
        limit.clear();
      }
    },
    async stream(request) {
      const label = `${request.method} ${request.path}`;
      const limit = deadline(label, request.timeoutSeconds ?? timeoutSeconds, request.signal);
      const whole = new AbortController();
      const forward = () => whole.abort(limit.signal.reason);
      limit.signal.addEventListener('abort', forward);
      if (limit.signal.aborted) forward();
      try {
        const response = await send(request, label, whole.signal);
        return stream(response, label, request.signal);
      } finally {
        limit.signal.removeEventListener('abort', forward);
        limit.clear();
      }
    },
    async webSocket(request) {
      const { path, signal, protocol, maxMessageBytes, receive } = request;
      const label = `GET ${path}`;
      const limit = deadline(label, request.timeoutSeconds ?? timeoutSeconds, signal);
      const listening = { label, target: target(request), protocol, maxMessageBytes, receive, connectSeconds };
      try {
        const response = await ask({ method: 'GET', path, label, signal: limit.signal }, (credentials) => {
          const headers = { 'user-agent': userAgent, ...credentials };
          return listen(connection, { ...listening, headers, signal: limit.signal });
        });
        if (response.statusCode !== 101) throw await refusal(response, label);
      } finally {
        limit.clear();
      }
    },
    close: () => transport.close(),
  };
}

async function refusal(response: IncomingMessage, label: string): Promise<ApiError> {
  return new ApiError(label, response.statusCode ?? 0, await errorBody(response), retryAfter(response.headers));
}

function target({ path, query = {} }: Pick<KubeRequest, 'path' | 'query'>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

function stream(response: IncomingMessage, label: string, signal: AbortSignal | undefined): KubeStream {
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
