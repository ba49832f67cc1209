// What can go wrong between us and an API server, as values to decide on: the server said no (ApiError), nobody answered
// (ConnectError), the answer took too long (DeadlineError), the answer is of no use (AnswerError). The guards look at
// status, reason and causes, never at text. No message here carries a header, a query, a body or a token.
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

/** The API's own description of a failure (meta/v1 Status), as far as we read it. */
type ApiStatus = z.infer<typeof apiStatus>;

/** Reads a Status from a body; undefined when it is something else (a proxy's page, say). */
export function parseStatus(body: unknown): ApiStatus | undefined {
  return apiStatus.safeParse(body).data;
}

/** The API server answered with something else than 2xx, or sent an ERROR in a watch. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status; in a watch, the code of the ERROR's Status. */
  readonly status: number;
  /** CamelCase reason of the Status, '' when there is none. */
  readonly reason: string;
  readonly body: ApiStatus | undefined;
  /** How long the server asks us to wait: its Retry-After header or details.retryAfterSeconds. */
  readonly retryAfterSeconds: number | undefined;
  /** Method and path without query, for logs: 'GET /api/v1/pods'. */
  readonly request: string;

  constructor(request: string, status: number, body: unknown, retryAfterSeconds?: number) {
    const parsed = parseStatus(body);
    const reason = parsed?.reason ?? '';
    super([`${request} answered ${status}`, reason, parsed?.message ?? ''].filter((part) => part !== '').join(': '));
    this.request = request;
    this.status = status;
    this.reason = reason;
    this.body = parsed;
    this.retryAfterSeconds = retryAfterSeconds ?? parsed?.details?.retryAfterSeconds;
  }
}

/** No answer: no connection, TLS refused, no credentials to be had, or a connection lost before the answer was complete. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
}

/** The time given to a call ran out. The server may still have carried it out. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** An answer that cannot be used: larger than allowed, not the JSON it claims to be, or a WebSocket that broke off or speaks otherwise. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

/** Tells whether an error is the API's answer with this status. */
function hasStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

function hasCause(error: ApiError, reason: string): boolean {
  return error.body?.details?.causes?.some((one) => one.reason === reason) ?? false;
}

/** 404: the object, or its whole collection, is not there. */
export function isNotFound(error: unknown): error is ApiError {
  return hasStatus(error, 404);
}

/** 409 on a stale version or a uid that differs; not AlreadyExists. */
export function isConflict(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason !== 'AlreadyExists';
}

/** 409 AlreadyExists: a create met an object of that name. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason === 'AlreadyExists';
}

/** 410, or reason Expired or Gone: the version or continue token is too old; list again. */
export function isGone(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** Finds what kube-apiserver gives beside a 410 to a continue token: another one, for what is left of the list as it is by then. */
export function continueAfter(error: ApiError): string | undefined {
  return error.body?.metadata?.continue || undefined;
}

/** 401: the credentials were not accepted. */
export function isUnauthorized(error: unknown): error is ApiError {
  return hasStatus(error, 401);
}

/** 403: not allowed (which includes a namespace that is terminating). */
export function isForbidden(error: unknown): error is ApiError {
  return hasStatus(error, 403);
}

/** 429: too many requests, or an eviction that must wait. */
export function isThrottled(error: unknown): error is ApiError {
  return hasStatus(error, 429);
}

/** 5xx, a failing admission webhook included. */
export function isServerError(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status >= 500;
}

/** 422: the object breaks its schema or a rule; also a precondition on an immutable field such as uid. */
export function isInvalid(error: unknown): error is ApiError {
  return hasStatus(error, 422);
}

/** 422 for this field. `metadata.uid`: the object is another one than was meant. */
export function isInvalidAt(error: unknown, field: string): error is ApiError {
  return isInvalid(error) && (error.body?.details?.causes?.some((one) => one.field === field) ?? false);
}

/** 422 for something inside this list: `spec.ports` for `spec.ports[1].name`. */
export function isInvalidInList(error: unknown, list: string): error is ApiError {
  return isInvalid(error) && (error.body?.details?.causes?.some(({ field }) => field?.startsWith(`${list}[`)) ?? false);
}

/** Nobody answered. */
export function isConnectFailure(error: unknown): error is ConnectError {
  return error instanceof ConnectError;
}

/** 403 because the namespace is being deleted: nothing can be created in it any more. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return hasStatus(error, 403) && hasCause(error, 'NamespaceTerminating');
}

/** 504 because the version asked for is newer than any the server has: it was restored from a backup, or lags. */
export function isTooLargeVersion(error: unknown): error is ApiError {
  return hasStatus(error, 504) && hasCause(error, 'ResourceVersionTooLarge');
}
