// The errors of calls to an API server, and their classification: the server returned an error (ApiError), there was no
// response (ConnectError), the call timed out (DeadlineError), the response is unusable (ResponseError). The guards
// check status, reason and causes, never text. No message contains a header, a query, a body or a token.
import * as z from 'zod';
import { uncompiled } from '../../core/json.ts';

// Shared: a function makes each schema when it loads.
const text = z.string().optional();
const number = z.number().optional();

const cause = z.object({ reason: text, message: text, field: text });
const details = z.object({
  name: text,
  group: text,
  kind: text,
  uid: text,
  retryAfterSeconds: number,
  causes: z.array(cause).optional(),
});
const apiStatus = z.object({
  kind: z.literal('Status'),
  status: text,
  message: text,
  reason: text,
  code: number,
  details: details.optional(),
  metadata: z.object({ continue: text }).optional(),
});

/** The API's description of a failure (meta/v1 Status): the fields that Outrigger reads. */
type ApiStatus = z.infer<typeof apiStatus>;

/** Parses a Status. Returns undefined for any other body, for example the error page of a proxy. */
export function parseStatus(body: unknown): ApiStatus | undefined {
  return apiStatus.safeParse(body, uncompiled).data;
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
  /** The body is the text that kube-apiserver, but also a load balancer, sends for a path that it does not know. */
  readonly isPageNotFound: boolean;

  constructor(request: string, status: number, body: unknown, retryAfterSeconds?: number) {
    const parsed = parseStatus(body);
    const reason = parsed?.reason ?? '';
    const isPageNotFound = status === 404 && typeof body === 'string' && body.trim() === '404 page not found';
    const text = isPageNotFound ? 'page not found: is the CRD of this kind installed?' : (parsed?.message ?? '');
    super([`${request} returned ${status}`, reason, text].filter((part) => part !== '').join(': '));
    this.request = request;
    this.status = status;
    this.reason = reason;
    this.body = parsed;
    this.isPageNotFound = isPageNotFound;
    this.retryAfterSeconds = retryAfterSeconds ?? parsed?.details?.retryAfterSeconds;
  }
}

/** There was no complete response: no connection, a failed TLS handshake, no credentials, or a lost connection. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
}

/**
 * A watch received no event, not even a bookmark, until the idle timeout, or until a proxy closed it before. Its server
 * may send no bookmarks.
 */
export class IdleError extends ConnectError {}

/** A call exceeded its deadline. The server may still have executed it. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** The response is unusable: it is too large or invalid JSON, or a WebSocket ended early or violated the protocol. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
}

/**
 * The response is over a limit of answer.ts: it would cost more memory than a process has for one. No API server sends
 * such an object, so the cluster counts as unreachable. A page of a list is requested again with fewer objects before.
 */
export class TooLargeError extends ResponseError {}

function hasStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

function hasCause(error: ApiError, reason: string): boolean {
  return error.body?.details?.causes?.some((one) => one.reason === reason) ?? false;
}

/** 404: the object, its subresource or its collection does not exist, or the path is unknown. */
export function isNotFound(error: unknown): error is ApiError {
  return hasStatus(error, 404);
}

/**
 * 404 for a GET of this very object: a Status with the reason NotFound that names the object and its resource. A load
 * balancer's 404, a kind that is not served and a missing namespace are other errors. A write, or a GET of a
 * subresource, can return the same Status for an existing object, so only a GET of the object's path is conclusive.
 */
export function isObjectNotFound(
  error: unknown,
  { group, plural }: { readonly group: string; readonly plural: string },
  name: string,
): error is ApiError {
  if (!isNotFound(error) || error.reason !== 'NotFound') return false;
  const named = error.body?.details;
  return named?.name === name && named.kind === plural && (named.group ?? '') === group;
}

/** 404 that names no object: the API server does not serve the kind, now or at all. */
export function isKindNotServed(error: unknown): error is ApiError {
  if (!isNotFound(error)) return false;
  return error.isPageNotFound || (error.reason === 'NotFound' && error.body?.details?.name === undefined);
}

/** 409 for a stale resourceVersion or a different uid, but neither AlreadyExists nor a field of another manager. */
export function isConflict(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason !== 'AlreadyExists' && !isFieldManagerConflict(error);
}

/** 409 for an apply without force: another field manager owns a field. A fresh read does not help. */
export function isFieldManagerConflict(error: unknown): error is ApiError {
  return hasStatus(error, 409) && hasCause(error, 'FieldManagerConflict');
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

/**
 * 403 by a ValidatingAdmissionPolicy whose reason is Forbidden. Its causes have a message and neither a reason nor a
 * field; a 403 of RBAC has no causes.
 */
export function isPolicyDenied(error: unknown): error is ApiError {
  if (!isForbidden(error)) return false;
  return error.body?.details?.causes?.some((one) => !one.reason && !one.field && one.message !== undefined) ?? false;
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

/** 403 because the namespace is being deleted: no object can be created in it. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return hasStatus(error, 403) && hasCause(error, 'NamespaceTerminating');
}

/** 504: the requested resourceVersion is newer than the server's, which was restored from a backup or lags behind. */
export function isTooLargeVersion(error: unknown): error is ApiError {
  return hasStatus(error, 504) && hasCause(error, 'ResourceVersionTooLarge');
}
