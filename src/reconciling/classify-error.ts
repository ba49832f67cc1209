// The classes of the errors of a reconcile. What a class means for the status and for the message is in settle.ts. The
// decision uses the type and the status of the error, never its text.
import {
  ChildrenRefusedError,
  FieldOwnedError,
  InvalidSpecError,
  PolicyDeniedError,
  RetryLater,
  TerminalError,
} from '../core/errors.ts';
import type { ReconcileKey } from '../core/key.ts';
import { classifyResponse, mayBeWebhookRefusal } from '../kube/client/classify.ts';
import { ApiError } from '../kube/client/errors.ts';

/**
 * The stage of the reconcile in which the error occurred. A 5xx or a time-out of the first read is an error of the
 * cluster. Later it may be an error of the object (an admission webhook that fails or hangs), which must appear in the
 * status and must not open the breaker.
 */
export type Stage = 'first-read' | 'later';

/** The classes of errors. */
export type ErrorClass =
  | 'unreachable'
  | 'conflict'
  | 'namespace-terminating'
  | 'child-namespace-terminating'
  /** The author's code asks for another time. */
  | 'later'
  | 'invalid-spec'
  | 'policy-denied'
  | 'terminal'
  | 'error';

/** Returns the class of an error. */
export function errorClassOf(error: unknown, stage: Stage, message: ReconcileKey): ErrorClass {
  const response = classifyResponse(error);
  switch (response) {
    case 'unreachable':
      return stage === 'later' && mayBeWebhookRefusal(error) ? 'error' : response;
    // At every stage, so that it opens the breaker: the next response of its cluster may cost as much.
    case 'excessive':
      return 'unreachable';
    case 'namespace-terminating':
      return isOwnNamespace(error, message) ? response : 'child-namespace-terminating';
    case 'stale':
      return 'conflict';
    case 'server-error':
    case 'cache-behind':
    case 'unusable':
      return stage === 'first-read' ? 'unreachable' : 'error';
  }
  // An API server explains a refusal by a Status. A proxy in front of it redirects to a login page or returns its own.
  if (stage === 'first-read' && error instanceof ApiError && error.body === undefined) return 'unreachable';
  if (error instanceof ChildrenRefusedError) {
    const classes = error.errors.map((one) => errorClassOf(one, stage, message));
    if (classes.every((one) => one === 'namespace-terminating')) return 'namespace-terminating';
    return classes.every((one) => one.endsWith('namespace-terminating')) ? 'child-namespace-terminating' : 'error';
  }
  if (error instanceof RetryLater) return 'later';
  if (error instanceof InvalidSpecError) return 'invalid-spec';
  if (error instanceof PolicyDeniedError) return 'policy-denied';
  // The other client gives it up by a change of the object, which is reconciled.
  if (error instanceof TerminalError || error instanceof FieldOwnedError) return 'terminal';
  return 'error';
}

/**
 * Returns whether a refused request was in the namespace of the object, or that is the namespace: the end of its
 * deletion is the object's own. A child elsewhere has to be applied again when its namespace is back.
 */
function isOwnNamespace(error: unknown, { group, resource, namespace, name }: ReconcileKey): boolean {
  const own = namespace ?? (group === '' && resource === 'namespaces' ? name : undefined);
  const request = error instanceof ApiError ? error.request : '';
  const [, requested = namespace] = /\/namespaces\/([^/]+)\//.exec(request) ?? [];
  return own !== undefined && requested === own;
}
