// The meaning of every failed call to an API server. One function decides it, from the type of the error, its status,
// reason and causes, and never from its text. What a class means for a message is decided in reconciling.
import {
  ApiError,
  ConnectError,
  DeadlineError,
  isAlreadyExists,
  isConflict,
  isFieldManagerConflict,
  isForbidden,
  isGone,
  isInvalid,
  isInvalidAt,
  isKindNotServed,
  isNamespaceTerminating,
  isObjectNotFound,
  isPolicyDenied,
  isServerError,
  isThrottled,
  isTooLargeVersion,
  isUnauthorized,
  ResponseError,
  TooLargeError,
} from './errors.ts';

/** The meaning of a failed call. */
export type ResponseClass =
  /** A GET of the object's own path says that this object does not exist. */
  | 'gone'
  /** 404 of a write, a subresource or a namespace: a read of the object's own path decides. */
  | 'not-found'
  /** The API server does not serve the kind or the subresource, here and now. */
  | 'kind-not-served'
  /** It would cost more memory than there is for one response: no API server sends it. */
  | 'excessive'
  /** Not the response of an API server: a page of a load balancer, another object, an invalid body. */
  | 'unusable'
  /** No connection, invalid credentials, or too many requests. */
  | 'unreachable'
  /** 5xx, 408 or no response in time. After the first read it may be a failed admission webhook. */
  | 'server-error'
  /** The requested version is newer than the server's cache. */
  | 'cache-behind'
  | 'namespace-terminating'
  | 'policy-denied'
  | 'forbidden'
  /** An object of that name exists. */
  | 'already-exists'
  /** An apply without force touches a field of another manager. A fresh read does not help. */
  | 'field-conflict'
  /** The version or the uid is stale: a fresh read decides. */
  | 'stale'
  /** An apply with the uid of a replaced object. */
  | 'other-object'
  | 'invalid'
  /** The version or the continue token is too old: the list is repeated. */
  | 'expired'
  /** Any other error. */
  | 'error';

/** The object whose own path was read with GET. */
type ReadTarget = { readonly group: string; readonly plural: string; readonly name: string };

/**
 * Returns the class of a failed call.
 * @param read only for a GET of an object's own path: no other request can show that an object is gone
 */
export function classifyResponse(error: unknown, read?: ReadTarget): ResponseClass {
  if (error instanceof ConnectError) return 'unreachable';
  if (error instanceof TooLargeError) return 'excessive';
  if (error instanceof ResponseError) return 'unusable';
  if (error instanceof DeadlineError) return 'server-error';
  return error instanceof ApiError ? classifyStatus(error, read) : 'error';
}

function classifyStatus(error: ApiError, read: ReadTarget | undefined): ResponseClass {
  const { status, reason } = error;
  if (isUnauthorized(error) || isThrottled(error)) return 'unreachable';
  if (status === notFound) {
    if (isKindNotServed(error)) return 'kind-not-served';
    if (read !== undefined) return isObjectNotFound(error, read, read.name) ? 'gone' : 'unusable';
    return reason === 'NotFound' ? 'not-found' : 'unusable';
  }
  if (isTooLargeVersion(error)) return 'cache-behind';
  if (isServerError(error) || status === requestTimeout) return 'server-error';
  if (isNamespaceTerminating(error)) return 'namespace-terminating';
  if (isPolicyDenied(error)) return 'policy-denied';
  if (isForbidden(error)) return 'forbidden';
  if (isAlreadyExists(error)) return 'already-exists';
  if (isFieldManagerConflict(error)) return 'field-conflict';
  if (isConflict(error)) return 'stale';
  if (isInvalidAt(error, 'metadata.uid')) return 'other-object';
  if (isInvalid(error)) return 'invalid';
  return isGone(error) ? 'expired' : 'error';
}

/**
 * Returns whether a 401 or 429 of a write may be that of an admission webhook: it refuses one object with any status.
 * A 429 of kube-apiserver itself has a Retry-After. A 401 of its own follows a read whose credentials were accepted: if
 * they no longer are, no status can be written either.
 */
export function mayBeWebhookRefusal(error: unknown): boolean {
  return (
    isUnauthorized(error) || (isThrottled(error) && error.body !== undefined && error.retryAfterSeconds === undefined)
  );
}

const notFound = 404;
const requestTimeout = 408;
