// The one door to an API server: deadlines, cancellation, TLS, bounded answers and errors as values for every call made by
// the watcher and the functions. It knows HTTP and the API's Status, and no kind.
import type { IncomingHttpHeaders } from 'node:http';
import type { Connection } from './connection.ts';

/** One call. */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path from path.ts: already encoded. */
  readonly path: string;
  /** Query parameters; those that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
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
  /** Closes the connections. */
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

/** Creates a client with connections of its own. Throws a TypeError for a server that is neither https nor loopback http. */
export function createClient(_connection: Connection, _options: ClientOptions = {}): KubeClient {
  throw new Error('to be filled in');
}
