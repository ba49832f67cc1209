// Decides what an error of a reconcile means for its message: postpone it because the cluster is unreachable, count it
// as a failed attempt, or neither. The decision uses the type and the status of the error, never its text.
import {
  ChildrenRefusedError,
  FieldOwnedError,
  InvalidSpecError,
  PolicyDeniedError,
  TerminalError,
  toError,
} from '../core/errors.ts';
import type { ReconcileKey } from '../core/key.ts';
import { classifyResponse, mayBeWebhookRefusal } from '../kube/client/classify.ts';
import { ApiError } from '../kube/client/errors.ts';
import { isLastTry, type Outcome, waitsForNamespace } from './outcome.ts';
import type { PrimaryObject } from './primary-object.ts';
import type { SessionDeps } from './report.ts';
import type { RetryState } from './status/status.ts';

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
  if (namespace !== undefined) return true;
  const isNamespace = group === '' && resource === 'namespaces';
  return isNamespace && error instanceof ApiError && error.request.includes(`/namespaces/${name}/`);
}

/** The meaning of a failed step for the status and for the message. */
export type ResolvedFailure = {
  readonly error: Error;
  readonly retryState: RetryState;
  readonly outcome: Outcome;
  /** The signal for writing the status. */
  readonly signal: AbortSignal;
};

/**
 * Decides the outcome of a failed step. Throws the error again if no status can be written for it: the signal is
 * aborted, the server is unreachable, the resource version is stale, or the namespace of an object that is not being
 * deleted is terminating.
 */
export function resolveFailure(thrown: unknown, primary: PrimaryObject, deps: SessionDeps): ResolvedFailure {
  const signal = deps.reportSignal();
  signal.throwIfAborted();
  const error = toError(thrown);
  const found = errorClassOf(thrown, 'later', deps.message);
  // The namespace does not end before the finalizer is removed, so only the status can show what it waits for.
  const isFinalizing = primary.current().metadata.deletionTimestamp !== undefined;
  const stalledBefore = deps.statusWriter.isStalled(primary.ownedStatus(), primary.generation());
  const isError =
    (found === 'namespace-terminating' && isFinalizing) ||
    (found === 'child-namespace-terminating' && !waitsForNamespace(deps.message, { stalledBefore }));
  const errorClass = isError ? 'error' : found;
  switch (errorClass) {
    case 'unreachable':
    case 'conflict':
    case 'namespace-terminating':
      throw error;
    // The end of the namespace triggers a reconcile if it is a child, and otherwise the retry finds it.
    case 'child-namespace-terminating':
      return { error, retryState: errorClass, outcome: { type: 'postponed', reason: errorClass, error }, signal };
    case 'terminal':
    case 'invalid-spec':
    case 'policy-denied':
      deps.onFailure(error);
      return { error, retryState: errorClass, outcome: { type: 'terminal', error }, signal };
    case 'error': {
      deps.onFailure(error);
      const retryState = isLastTry(deps.message, { stalledBefore }, deps.retry) ? 'retries-exhausted' : 'retrying';
      return { error, retryState, outcome: { type: 'failed', error, stalledBefore }, signal };
    }
  }
}
