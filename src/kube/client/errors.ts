// The errors of calls to an API server, and their classification: the server returned an error (ApiError), there was no
// response (ConnectError), the call timed out (DeadlineError), the response is unusable (ResponseError). The guards
// check status, reason and causes, never text. No message contains a header, a query, a body or a token.
import * as z from 'zod';

const cause = z.object({ reason: z.string(), message: z.string(), field: z.string() }).partial();
const details = z
  .object({
    name: z.string(),
    group: z.string(),
    kind: z.string(),
    uid: z.string(),
    retryAfterSeconds: z.number(),
    causes: z.array(cause),
  })
  .partial();
const apiStatus = z
  .object({
    status: z.string(),
    message: z.string(),
    reason: z.string(),
    code: z.number(),
    details,
    metadata: z.object({ continue: z.string() }).partial(),
  })
  .partial()
  .extend({ kind: z.literal('Status') });

/** The API's description of a failure (meta/v1 Status): the fields that Outrigger reads. */
type ApiStatus = z.infer<typeof apiStatus>;

/** Parses a Status. Returns undefined for any other body, for example the error page of a proxy. */
export function parseStatus(body: unknown): ApiStatus | undefined {
  return apiStatus.safeParse(body).data;
}

/** The API server returned a status other than 2xx, or sent an ERROR event in a watch. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status. In a watch: the code of the ERROR event's Status. */
  readonly status: number;
  /** CamelCase reason of the Status, or '' without one. */
  readonly reason: string;
  readonly body: ApiStatus | undefined;
  /** The delay that the server requests: its Retry-After header or details.retryAfterSeconds. */
  readonly retryAfterSeconds: number | undefined;
  /** Method and path without query, for logs, such as 'GET /api/v1/pods'. */
  readonly request: string;

  constructor(request: string, status: number, body: unknown, retryAfterSeconds?: number) {
    const parsed = parseStatus(body);
    const reason = parsed?.reason ?? '';
    super([`${request} returned ${status}`, reason, parsed?.message ?? ''].filter((part) => part !== '').join(': '));
    this.request = request;
    this.status = status;
    this.reason = reason;
    this.body = parsed;
    this.retryAfterSeconds = retryAfterSeconds ?? parsed?.details?.retryAfterSeconds;
  }
}

/** There was no complete response: no connection, a failed TLS handshake, no credentials, or a lost connection. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
}

/** A call exceeded its deadline. The server may still have executed it. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** The response is unusable: it is too large or invalid JSON, or a WebSocket ended early or violated the protocol. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
}

function hasStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

function hasCause(error: ApiError, reason: string): boolean {
  return error.body?.details?.causes?.some((one) => one.reason === reason) ?? false;
}

/** 404: the object or its collection does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return hasStatus(error, 404);
}

/** 409 for a stale resourceVersion or a different uid, but not AlreadyExists. */
export function isConflict(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason !== 'AlreadyExists';
}

/** 409 AlreadyExists: an object of that name exists. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason === 'AlreadyExists';
}

/** 410, or the reason Expired or Gone: the resourceVersion or continue token is too old, so the list is repeated. */
export function isGone(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** Returns the continue token in kube-apiserver's 410 for an expired one: it lists the rest as of a newer version. */
export function continueTokenOf(error: ApiError): string | undefined {
  return error.body?.metadata?.continue || undefined;
}

/** 401: the credentials were not accepted. */
export function isUnauthorized(error: unknown): error is ApiError {
  return hasStatus(error, 401);
}

/** 403: forbidden, including a create in a terminating namespace. */
export function isForbidden(error: unknown): error is ApiError {
  return hasStatus(error, 403);
}

/** 429: too many requests, or an eviction that a disruption budget blocks. */
export function isThrottled(error: unknown): error is ApiError {
  return hasStatus(error, 429);
}

/** 5xx, including a failed admission webhook. */
export function isServerError(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status >= 500;
}

/** 422: the object violates its schema or a validation rule, or a precondition on an immutable field such as uid. */
export function isInvalid(error: unknown): error is ApiError {
  return hasStatus(error, 422);
}

/** 422 for this field. For `metadata.uid`: the object was replaced by another one of the same name. */
export function isInvalidAt(error: unknown, field: string): error is ApiError {
  return isInvalid(error) && (error.body?.details?.causes?.some((one) => one.field === field) ?? false);
}

/** 422 for a field inside this list, such as `spec.ports` for `spec.ports[1].name`. */
export function isInvalidInList(error: unknown, list: string): error is ApiError {
  return isInvalid(error) && (error.body?.details?.causes?.some(({ field }) => field?.startsWith(`${list}[`)) ?? false);
}

/** There was no complete response. */
export function isConnectFailure(error: unknown): error is ConnectError {
  return error instanceof ConnectError;
}

/** 403 because the namespace is being deleted: no object can be created in it. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return hasStatus(error, 403) && hasCause(error, 'NamespaceTerminating');
}

/** 504: the requested resourceVersion is newer than the server's, which was restored from a backup or lags behind. */
export function isTooLargeVersion(error: unknown): error is ApiError {
  return hasStatus(error, 504) && hasCause(error, 'ResourceVersionTooLarge');
}
