// Which errors of one child of a set leave the other children to be applied: a refusal of that object, and a few that
// may be those of its admission webhook.
import { formatKey } from '../../core/key.ts';
import { classifyResponse, mayBeWebhookRefusal, type ResponseClass } from '../client/classify.ts';
import { ApiError, isServerError } from '../client/errors.ts';
import type { KubeObject } from '../client/object.ts';
import type { ChildKind } from './child-object.ts';

/** Failures that a webhook or the API server may have. A failing server is not sent the writes of a large set. */
export const maxWebhookFailures = 3;
/**
 * The most time for them. A webhook that hangs takes its `timeoutSeconds` for each child, 10 by default, and the
 * reconcile of a function with the default time limit has less than 30.
 */
export const maxWebhookSeconds = 9;

/**
 * A child was deleted because the server refused to change it and would create it as it is desired (`recreate`). The
 * next reconcile creates it. `child` is as it was.
 */
export class ChildDeletedError extends Error {
  override readonly name = 'ChildDeletedError';
  readonly child: KubeObject;

  constructor(child: KubeObject, refusal: ApiError) {
    const name = [child.kind ?? '', formatKey(child.metadata)].join(' ').trim();
    super(`${name} was deleted and is created again, because ${refusal.message}`, { cause: refusal });
    this.child = child;
  }
}

/** Returns whether a webhook may have caused the error. A proxy's 5xx has no Status, and a delay is the server's. */
export function mayBeOfWebhook(error: Error): boolean {
  if (mayBeWebhookRefusal(error)) return true;
  return isServerError(error) && error.body !== undefined && error.retryAfterSeconds === undefined;
}

/**
 * Returns the error with which the server refuses one object: by validation, a policy, a webhook or a quota, or because
 * its namespace is being deleted or missing, which is not that of its owner. So is a ChildDeletedError. Throws any
 * other one.
 */
export function asRefusal(error: unknown, { owner, inAnyNamespace }: ChildKind): ApiError | ChildDeletedError {
  const classes: readonly ResponseClass[] = ['invalid', 'policy-denied', 'forbidden', 'error'];
  const isElsewhere = inAnyNamespace === true || owner.metadata.namespace === undefined;
  const elsewhere: readonly ResponseClass[] = isElsewhere ? ['namespace-terminating', 'not-found'] : [];
  if (error instanceof ChildDeletedError) return error;
  if (!(error instanceof ApiError)) throw error;
  if (mayBeOfWebhook(error) || [...classes, ...elsewhere].includes(classifyResponse(error))) return error;
  throw error;
}

/** The texts of kube-apiserver 1.36.3 for a field that no update can change. Only the advice depends on them. */
const immutableTexts = /field is immutable|may not change once set|cannot change roleRef|updates to .* are forbidden/;

/** Adds to the refusal of a change what the author can do, if no update can change the field. */
export function withAdvice(error: ApiError): ApiError {
  const { request, status, body, retryAfterSeconds } = error;
  if (body?.message === undefined || !immutableTexts.test(body.message)) return error;
  const advice = 'an update cannot change this field; give the child another name, or apply it with `recreate: true`';
  return new ApiError(request, status, { ...body, message: `${body.message}; ${advice}` }, retryAfterSeconds);
}
